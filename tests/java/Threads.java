import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that come and go, change their names, or are virtual (21 and later, by reflection so that this compiles for 8).
 *
 * Words: count (threads ended so far), rename (the renamed thread gets its third name), stop.
 */
public final class Threads {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final AtomicLong ended = new AtomicLong();
    private static volatile boolean stopped;
    private static volatile Thread renamed;
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        Commands.daemon("spawner", Threads::spawn);
        Commands.daemon("first-name", Threads::rename);
        boolean virtual = startVirtual();
        while (renamed == null) {
            Thread.sleep(10);
        }
        Thread.sleep(500);
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("count", () -> "{\"ended\": " + ended + ", \"virtual\": " + virtual + "}");
        words.put("rename", () -> {
            renamed.setName("third-name");
            return "done";
        });
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
        renamed = Thread.currentThread();
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

    /** CPU time, not time on the wall: a loaded machine must not shorten lives. Virtual threads have no CPU clock. */
    private static void burn(long nanos) {
        long end = now() + nanos;
        long x = sink | 1;
        while (now() < end) {
            for (int i = 0; i < 200; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
        }
        sink = x;
    }

    private static long now() {
        long cpu = THREADS.getCurrentThreadCpuTime();
        return cpu >= 0 ? cpu : System.nanoTime();
    }
}
