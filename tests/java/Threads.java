import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that come and go, change their names, or are virtual (21 and later, by reflection so that this compiles for 8).
 *
 * Words: count (threads ended so far), stop.
 */
public final class Threads {
    private static final AtomicLong ended = new AtomicLong();
    private static volatile boolean stopped;
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        Commands.daemon("spawner", Threads::spawn);
        Commands.daemon("first-name", Threads::rename);
        boolean virtual = startVirtual();
        Thread.sleep(500);
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("count", () -> "{\"ended\": " + ended + ", \"virtual\": " + virtual + "}");
        words.put("stop", () -> {
            stopped = true;
            return "stopped";
        });
        Commands.serve(words);
    }

    /** Short lives: each thread burns about 3 ms and ends. */
    private static void spawn() {
        for (int i = 0; !stopped; i++) {
            Thread thread = new Thread(Threads::shortLife, "short-" + i);
            thread.start();
            try {
                thread.join();
            } catch (InterruptedException e) {
                return;
            }
            ended.incrementAndGet();
        }
    }

    private static void shortLife() {
        burn(3_000_000);
    }

    /** A thread that is named anew once it runs: the profile must know it by its last name. */
    private static void rename() {
        burn(50_000_000);
        Thread.currentThread().setName("second-name");
        while (!stopped) {
            renamedWork();
        }
    }

    private static void renamedWork() {
        burn(1_000_000);
    }

    private static boolean startVirtual() throws Exception {
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            start.invoke(null, (Runnable) Threads::virtualLife);
        } catch (ReflectiveOperationException e) {
            return false; // before 21, or a preview that is not enabled
        }
        for (int i = 0; i < 50; i++) {
            start.invoke(null, (Runnable) Threads::virtualLife);
        }
        return true;
    }

    private static void virtualLife() {
        try {
            while (!stopped) {
                virtualWork();
                Thread.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void virtualWork() {
        burn(200_000);
    }

    private static void burn(long nanos) {
        long end = System.nanoTime() + nanos;
        long x = sink | 1;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 200; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
        }
        sink = x;
    }
}
