package workloads.synthetic;

import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import workloads.Workload;
import workloads.support.BusyWork;
import workloads.support.Check;
import workloads.support.Parallel;
import workloads.support.Settings;

/**
 * The benchmark of the steal-time study: T1 to T4 alternate CPU work and waiting, in short bursts and in long ones, T5
 * never waits, T6 does both for random times up to 100 ms, and 30 more threads are idle all the time but must be
 * considered by whoever accounts for threads. Each thread uses the same CPU time in every iteration (T6's random times
 * are drawn from the same seed); together they use it irregularly. -Dpattern.report=true prints what each should have
 * used and has used, by its own CPU clock.
 */
public final class StealPattern implements Workload {
    private record Pattern(String name, int cpuMillis, int waitMillis, int cycles) {
        int cpuTotal() {
            return cpuMillis * Settings.scaled(cycles);
        }
    }

    /** Each lasts about 2 s if it gets a CPU whenever it wants one. */
    private static final Pattern[] PATTERNS = {
        new Pattern("T1", 5, 15, 100),
        new Pattern("T2", 10, 40, 40),
        new Pattern("T3", 80, 120, 10),
        new Pattern("T4", 150, 250, 5),
        new Pattern("T5", 100, 0, 20),
    };
    private static final int RANDOM = PATTERNS.length;
    private static final int RANDOM_CYCLES = Settings.scaled(20);
    private static final int LONGEST_RANDOM_MILLIS = 100;
    private static final int IDLE = 30;

    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread[] idle = new Thread[IDLE];
    private final Check check = new Check();
    private BusyWork work;

    @Override
    public void setup() {
        work = new BusyWork();
        for (int i = 0; i < IDLE; i++) {
            idle[i] = new Thread(this::awaitEnd, "T" + (RANDOM + 2 + i));
            idle[i].start();
        }
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void iterate() throws Exception {
        long[] states = new long[RANDOM + 1];
        long[] expectedMillis = new long[RANDOM + 1];
        long[] usedNanos = new long[RANDOM + 1];
        Parallel.run(RANDOM + 1, "T", index -> {
            Thread.currentThread().setName("T" + (index + 1));
            if (index == RANDOM) {
                states[index] = alternateRandomly(expectedMillis);
            } else {
                states[index] = alternate(PATTERNS[index]);
                expectedMillis[index] = PATTERNS[index].cpuTotal();
            }
            usedNanos[index] = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        });
        long sum = 0;
        for (long state : states) {
            Check.that(state != 0, "a thread has not worked");
            sum = sum * 31 + state;
        }
        check.sameAsFirst(sum);
        for (Thread thread : idle) {
            Check.that(thread.getState() == Thread.State.WAITING, thread.getName() + " is not idle");
        }
        if (Boolean.getBoolean("pattern.report")) {
            report(expectedMillis, usedNanos);
        }
    }

    private long alternate(Pattern pattern) {
        long state = 1;
        for (int cycle = 0; cycle < Settings.scaled(pattern.cycles()); cycle++) {
            state = work.run(pattern.cpuMillis(), state);
            BusyWork.pause(pattern.waitMillis());
        }
        return state;
    }

    private long alternateRandomly(long[] expectedMillis) {
        SplittableRandom random = new SplittableRandom(6);
        long state = 1;
        for (int cycle = 0; cycle < RANDOM_CYCLES; cycle++) {
            BusyWork.pause(1 + random.nextInt(LONGEST_RANDOM_MILLIS));
            int millis = 1 + random.nextInt(LONGEST_RANDOM_MILLIS);
            state = work.run(millis, state);
            expectedMillis[RANDOM] += millis;
        }
        return state;
    }

    private static void report(long[] expectedMillis, long[] usedNanos) {
        for (int i = 0; i < usedNanos.length; i++) {
            System.out.println(String.format(Locale.ROOT, "pattern T%d expected_ms %d cpu_ms %.1f", i + 1,
                expectedMillis[i], usedNanos[i] / 1e6));
        }
    }

    @Override
    public void close() throws InterruptedException {
        end.countDown();
        for (Thread thread : idle) {
            thread.join();
        }
    }
}
