/** Burns CPU time in two threads, one with a hostile name; some of it at the end of deep and of mutual recursion. */
public class ReportTarget {
  static volatile long sink;

  static long spin(int n, long seed) {
    long x = seed | 1;
    for (int i = 0; i < n; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  static void heavy() {
    sink += spin(100_000, sink);
  }

  static void light() {
    sink += spin(30_000, sink);
  }

  static void deep(int depth) {
    if (depth == 0) light();
    else deep(depth - 1);
  }

  static void even(int depth) {
    if (depth == 0) light();
    else odd(depth - 1);
  }

  static void odd(int depth) {
    even(depth - 1);
  }

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
    Thread worker =
        new Thread(
            () -> {
              while (System.nanoTime() < end) {
                deep(40);
                even(20);
              }
            },
            "evil\u001b[31m\u202e;name\n");
    worker.start();
    while (System.nanoTime() < end) heavy();
    worker.join();
  }
}
