package workloads.support;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;
import workloads.Workload;

/**
 * Adds CPU work of a known share to a workload, for asking a profiler how much of it it sees: after each iteration, warm-up
 * included, {@link #burn} runs until it has made up -Dextra.share (0.05: 5 %) of all CPU time of the thread so far. Prints
 * at the end what it was, by the thread's CPU clock. Only meaningful for workloads that work in the thread that iterates.
 */
public final class ExtraWork implements Workload {
    private static final int STEPS = 200_000; // some tenths of a millisecond, so that asking for the time costs nothing
    private static volatile long sink;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Workload workload;
    private final double share;
    private long burnt;

    private ExtraWork(Workload workload, double share) {
        this.workload = workload;
        this.share = share;
    }

    /** The workload itself if no extra work is asked for. */
    public static Workload around(Workload workload) {
        String share = System.getProperty("extra.share");
        return share == null ? workload : new ExtraWork(workload, Double.parseDouble(share));
    }

    @Override
    public void setup() throws Exception {
        workload.setup();
    }

    @Override
    public void iterate() throws Exception {
        workload.iterate();
        long now = threads.getCurrentThreadCpuTime();
        while (burnt < share * now) {
            burn(STEPS);
            long later = threads.getCurrentThreadCpuTime();
            burnt += later - now;
            now = later;
        }
    }

    private static void burn(int steps) {
        long state = steps;
        for (int i = 0; i < steps; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
        }
        sink = state;
    }

    @Override
    public void close() throws Exception {
        long all = threads.getCurrentThreadCpuTime();
        System.out.println(String.format(Locale.ROOT, "extra burnt_ms=%.3f thread_ms=%.3f share=%.5f", burnt / 1e6, all / 1e6,
            (double) burnt / all));
        workload.close();
    }
}
