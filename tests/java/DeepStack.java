import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Burns CPU time at the bottom of a recursion as deep as its first argument says, as many seconds as the second says. */
public final class DeepStack {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        int depth = Integer.parseInt(args[0]);
        long nanos = Long.parseLong(args[1]) * 1_000_000_000L;
        Thread thread = new Thread(null, () -> descend(depth, nanos), "deep", 256 << 20);
        thread.start();
        thread.join();
    }

    private static long descend(int depth, long nanos) {
        return depth == 0 ? burn(nanos) : descend(depth - 1, nanos) + 1;
    }

    private static long burn(long nanos) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + nanos;
        long x = 1;
        while (threads.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 1_000_000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        return sink = x;
    }
}
