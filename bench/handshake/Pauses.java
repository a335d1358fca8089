import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * Pauses BUSY DEPTH SECONDS SPIN: so many threads that work at the bottom of a recursion so deep, and, if SPIN is 1, one
 * that does nothing but look at the time and notes every gap. The first quarter of the time is for warming up.
 *
 * Prints "READY" when all threads run, and at the end "result {..}", in nanoseconds.
 */
public final class Pauses {
    private static final long SHORTEST = 10_000; // a gap below is none: an interrupt takes as long
    private static volatile boolean stopped;
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        int busy = Integer.parseInt(args[0]), depth = Integer.parseInt(args[1]);
        long nanos = (long) (Double.parseDouble(args[2]) * 1e9);
        CountDownLatch started = new CountDownLatch(busy);
        for (int i = 0; i < busy; i++) {
            Thread thread = new Thread(null, () -> sink += descend(depth, started), "busy-" + i, 64 << 20);
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
        if (args[3].equals("1")) {
            Thread spinner = new Thread(() -> spin(nanos), "spinner");
            spinner.start();
            System.out.println("READY");
            spinner.join();
        } else {
            System.out.println("READY");
            Thread.sleep(nanos / 1_000_000);
        }
        stopped = true;
    }

    private static long descend(int depth, CountDownLatch started) {
        if (depth > 0) {
            return descend(depth - 1, started) * 31 + depth;
        }
        started.countDown();
        long x = 1;
        while (!stopped) {
            x += work(x | 1);
        }
        return x;
    }

    /** A loop with polls. */
    private static long work(long x) {
        for (long i = 0; i < 10_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static void spin(long nanos) {
        long[] gaps = new long[1 << 20];
        look(nanos / 4, gaps);
        Arrays.fill(gaps, 0);
        long start = System.nanoTime();
        int count = look(nanos * 3 / 4, gaps);
        long elapsed = System.nanoTime() - start;
        Arrays.sort(gaps, 0, count);
        long paused = Arrays.stream(gaps, 0, count).sum();
        System.out.println("result {\"elapsed\": " + elapsed + ", \"pauses\": " + count + ", \"paused\": " + paused
                + ", \"p50\": " + at(gaps, count, 0.5) + ", \"p99\": " + at(gaps, count, 0.99)
                + ", \"longest\": " + at(gaps, count, 1) + "}");
    }

    /** The number of gaps, which are noted. */
    private static int look(long nanos, long[] gaps) {
        int count = 0;
        long last = System.nanoTime(), end = last + nanos;
        while (last < end) {
            long now = System.nanoTime();
            if (now - last >= SHORTEST && count < gaps.length) {
                gaps[count++] = now - last;
            }
            last = now;
        }
        return count;
    }

    private static long at(long[] sorted, int count, double share) {
        return count == 0 ? 0 : sorted[(int) Math.min(count - 1, count * share)];
    }
}
