import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * Pauses BUSY DEPTH SECONDS SPIN: so many threads that work at the bottom of a recursion so deep, and, if SPIN is 1, one
 * that does nothing but look at the time and notes every gap, without what it had to wait for a CPU in it: that is other
 * processes' doing. The first quarter of the time is for warming up.
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
        try (RandomAccessFile account = new RandomAccessFile("/proc/thread-self/schedstat", "r")) {
            look(nanos / 4, gaps, account);
            long start = System.nanoTime(), queued = queued(account);
            int count = look(nanos * 3 / 4, gaps, account);
            print(gaps, count, System.nanoTime() - start - (queued(account) - queued));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void print(long[] gaps, int count, long elapsed) {
        Arrays.sort(gaps, 0, count);
        long paused = Arrays.stream(gaps, 0, count).sum();
        System.out.println("result {\"elapsed\": " + elapsed + ", \"pauses\": " + count + ", \"paused\": " + paused
                + ", \"p50\": " + at(gaps, count, 0.5) + ", \"p99\": " + at(gaps, count, 0.99)
                + ", \"longest\": " + at(gaps, count, 1) + "}");
    }

    /** The number of gaps, which are noted. */
    private static int look(long nanos, long[] gaps, RandomAccessFile account) throws IOException {
        int count = 0;
        long queued = queued(account), last = System.nanoTime(), end = last + nanos;
        while (last < end) {
            long now = System.nanoTime();
            if (now - last < SHORTEST) {
                last = now;
                continue;
            }
            long before = queued;
            queued = queued(account);
            long pause = now - last - (queued - before);
            if (pause >= SHORTEST && count < gaps.length) {
                gaps[count++] = pause;
            }
            last = System.nanoTime();
        }
        return count;
    }

    /** How long the calling thread has waited for a CPU so far, by the kernel's account. */
    private static long queued(RandomAccessFile account) throws IOException {
        byte[] text = new byte[80];
        account.seek(0);
        return Long.parseLong(new String(text, 0, account.read(text)).split(" ")[1]);
    }

    private static long at(long[] sorted, int count, double share) {
        return count == 0 ? 0 : sorted[(int) Math.min(count - 1, count * share)];
    }
}
