import java.io.FileInputStream;
import java.util.concurrent.locks.LockSupport;

/**
 * What the finding of waits could slow down: system calls that wait for nothing, and threads that hand over to one another.
 *
 * Switches calls|handover|idle SECONDS: prints "result {"ops", "wall_ns", "cpu_ns"}" of what it did in that time, after a
 * warm-up half as long. `idle` just sleeps, to be recorded while another process is measured.
 */
public final class Switches {
    private static volatile int turn;
    private static volatile boolean over;

    interface Work {
        void once() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        double seconds = Double.parseDouble(args[1]);
        if (args[0].equals("idle")) {
            System.out.println("ready");
            Thread.sleep((long) (seconds * 1000));
            return;
        }
        Work work = args[0].equals("calls") ? calls() : handover();
        run(work, seconds / 2);
        run(work, seconds);
        System.out.println(result);
        over = true;
        System.exit(0);
    }

    private static String result;

    private static void run(Work work, double seconds) throws Exception {
        com.sun.management.OperatingSystemMXBean process =
            (com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean();
        long cpu = process.getProcessCpuTime();
        long began = System.nanoTime();
        long end = began + (long) (seconds * 1e9);
        long count = 0;
        long now;
        do {
            for (int i = 0; i < 100; i++) work.once();
            count += 100;
            now = System.nanoTime();
        } while (now < end);
        result = "result {\"ops\": " + count + ", \"wall_ns\": " + (now - began) + ", \"cpu_ns\": "
            + (process.getProcessCpuTime() - cpu) + "}";
    }

    private static Work calls() throws Exception {
        FileInputStream zero = new FileInputStream("/dev/zero");
        return () -> zero.read();
    }

    /** There and back: four changes of what a CPU does, if both share one; two waits. */
    private static Work handover() {
        Thread main = Thread.currentThread();
        Thread other = new Thread(() -> {
            while (!over) {
                while (turn != 1) LockSupport.park();
                turn = 0;
                LockSupport.unpark(main);
            }
        }, "other");
        other.setDaemon(true);
        other.start();
        return () -> {
            turn = 1;
            LockSupport.unpark(other);
            while (turn != 0) LockSupport.park();
        };
    }
}
