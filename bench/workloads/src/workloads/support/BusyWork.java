package workloads.support;

import java.util.concurrent.locks.LockSupport;

/**
 * CPU work of a known length, as a count of steps: calibrated once (or given with -Dsteps.per.ms, which makes runs on a
 * loaded machine comparable), so time stolen by other processes lengthens the work and never shrinks it.
 */
public final class BusyWork {
    private static volatile long sink;
    private final double stepsPerMilli;

    public BusyWork() {
        long given = Long.getLong("steps.per.ms", 0);
        stepsPerMilli = given > 0 ? given : calibrate();
        System.out.println("steps.per.ms " + Math.round(stepsPerMilli));
    }

    /** Best of several trials, since a disturbed trial can only be slower. */
    private static double calibrate() {
        long steps = 20_000_000;
        double best = 0;
        for (int trial = 0; trial < 12; trial++) {
            long start = System.nanoTime();
            sink = steps(steps, steps);
            best = Math.max(best, steps * 1e6 / (System.nanoTime() - start));
        }
        return best;
    }

    /** Works; the result depends on the state before and on every step. */
    public long run(int millis, long state) {
        return steps(Math.round(stepsPerMilli * millis), state);
    }

    private static long steps(long steps, long seed) {
        long state = seed;
        for (long i = 0; i < steps; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
        }
        return state;
    }

    /** Waits that long at least, whoever unparks the thread. */
    public static void pause(int millis) {
        long end = System.nanoTime() + millis * 1_000_000L;
        for (long left = millis * 1_000_000L; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
