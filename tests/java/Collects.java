import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** Collects when it is told to, and tells what the JVM itself has counted meanwhile. */
public class Collects {
  static Object[] kept = new Object[20_000];

  static long[] counted() {
    long[] all = new long[2];
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      all[0] += bean.getCollectionCount();
      all[1] += bean.getCollectionTime();
    }
    return all;
  }

  public static void main(String[] arguments) throws Exception {
    int collections = Integer.parseInt(arguments[0]);
    // Something to look after, so that a collection takes a while.
    for (int i = 0; i < kept.length; ++i) kept[i] = new Object[] {new byte[100], kept[i / 2]};
    counted();  // its classes are loaded now
    System.out.println("READY");
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String command; (command = commands.readLine()) != null; ) {
      if (command.equals("END")) return;
      if (command.equals("SETTLE")) {
        // The JVM lets the threads go on before it logs a safepoint, but logs it before the next one: this one.
        Thread.getAllStackTraces();
        System.out.println("SETTLE done");
        continue;
      }
      long[] before = counted();
      for (int i = 0; i < collections; ++i) System.gc();
      long[] after = counted();
      System.out.println(command + " {\"asked\": " + collections + ", \"count\": " + (after[0] - before[0])
          + ", \"ms\": " + (after[1] - before[1]) + "}");
    }
  }
}
