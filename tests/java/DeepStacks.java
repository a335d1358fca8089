import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/** Threads that run out of stack all the time, the smallest stacks that the JVM gives included. Word: overflows. */
public final class DeepStacks {
    private static final AtomicLong overflows = new AtomicLong(), small = new AtomicLong();
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        Commands.daemon("deep", DeepStacks::overflow);
        Commands.daemon("spawner", DeepStacks::spawn);
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("overflows", () -> "[" + overflows + ", " + small + "]");
        words.put("exit", () -> {
            System.exit(7);
            return "";
        });
        Commands.serve(words);
    }

    private static void overflow() {
        while (true) {
            try {
                sink += recurse(1);
            } catch (StackOverflowError e) {
                overflows.incrementAndGet();
            }
        }
    }

    private static long recurse(long x) {
        return recurse(x * 31 + 7) + Long.bitCount(x);
    }

    /** Each of them overflows once and burns a little, right at the end of its stack. */
    private static void spawn() {
        try {
            while (true) {
                Thread thread = new Thread(null, DeepStacks::shortLife, "small", 1);
                thread.start();
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void shortLife() {
        try {
            sink += burnAtTheEnd(1);
        } catch (StackOverflowError e) {
            small.incrementAndGet();
        }
    }

    private static long burnAtTheEnd(long x) {
        for (int i = 0; i < 2_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return burnAtTheEnd(x) + 1;
    }
}
