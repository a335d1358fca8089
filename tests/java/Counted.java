import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that do nothing until they are told to work, and nothing afterwards: one computes, one goes to sleep again and again,
 * one touches new memory.
 *
 * Counted MILLIS: "work" answers {thread: what the kernel has counted for it meanwhile, by its own reading}.
 */
public final class Counted {
    private static final Map<String, String> truth = new ConcurrentHashMap<>();
    private static final int SLEEPS = 1500;
    private static final int PAGES = 20_000;
    private static long millis;
    private static volatile long sink;
    private static volatile CountDownLatch done;

    public static void main(String[] args) throws Exception {
        millis = Long.parseLong(args[0]);
        Semaphore[] starts = {worker("computes", Counted::computes), worker("sleeps", Counted::sleeps),
                              worker("touches", Counted::touches)};
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("work", () -> {
            done = new CountDownLatch(starts.length);
            for (Semaphore start : starts) start.release();
            done.await();
            return OwnAccount.json(new TreeMap<>(truth));
        });
        words.get("work").call(); // what this loads and compiles is not loaded again
        Commands.serve(words);
    }

    private static Semaphore worker(String name, Runnable work) {
        Semaphore start = new Semaphore(0);
        Commands.daemon(name, () -> {
            while (true) {
                start.acquireUninterruptibly();
                Map<String, Long> before = OwnAccount.all();
                work.run();
                Map<String, Long> after = OwnAccount.all();
                after.replaceAll((key, value) -> value - before.get(key));
                truth.put(name, OwnAccount.json(after));
                done.countDown();
            }
        });
        return start;
    }

    private static void computes() {
        long began = System.nanoTime();
        long x = 1;
        while (System.nanoTime() - began < millis * 1_000_000) {
            for (int i = 0; i < 10_000; i++) x = x * 6364136223846793005L + i;
        }
        sink = x;
    }

    private static void sleeps() {
        for (int i = 0; i < SLEEPS; i++) LockSupport.parkNanos(100_000);
    }

    private static void touches() {
        ByteBuffer memory = ByteBuffer.allocateDirect(PAGES * 4096);
        for (int i = 0; i < PAGES; i++) memory.put(i * 4096, (byte) i);
        sink += memory.get(0);
    }
}
