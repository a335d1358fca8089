import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Spends seconds of CPU time in what compiled code calls without leaving Java: C++ functions of the JVM, and stubs. */
public final class RuntimeCalls {
    static volatile double sink;

    public static void main(String[] args) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        while (threads.getCurrentThreadCpuTime() < end) {
            sink += work(20_000);
        }
    }

    private static double work(int n) {
        double sum = 0;
        for (int i = 1; i < n; i++) {
            sum += Math.pow(i, 1.37) + Math.sin(i * 0.37) + Math.tan(i * 0.11) + (i * 1e9) % 3.7;
        }
        return sum;
    }
}
