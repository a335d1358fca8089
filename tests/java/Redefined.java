/** Replaced by the same class again and again while it runs: see Redefiner. */
public final class Redefined {
    static volatile long sink;

    static void outer(long x) {
        middle(x);
    }

    static void middle(long x) {
        for (int i = 0; i < 20; i++) {
            sink += inner(x + i);
        }
    }

    static long inner(long x) {
        for (int i = 0; i < 20_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }
}
