import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/** A thread that is hardly ever seen with the same stack twice. Words: progress, exit. */
public final class ManyStacks {
    private static final int DEPTH = 24;
    static volatile long rounds;

    public static void main(String[] args) throws Exception {
        Commands.daemon("wanderer", () -> {
            for (long x = 1;; rounds++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
                left(x, DEPTH);
            }
        });
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("progress", () -> "" + rounds);
        words.put("exit", () -> {
            System.exit(7);
            return "";
        });
        Commands.serve(words);
    }

    private static long left(long x, int depth) {
        return depth == 0 ? burn(x) : (x >>> depth & 1) == 0 ? left(x, depth - 1) : right(x, depth - 1);
    }

    private static long right(long x, int depth) {
        return depth == 0 ? burn(x) : (x >>> depth & 1) == 0 ? left(x, depth - 1) : right(x, depth - 1);
    }

    private static long burn(long x) {
        for (int i = 0; i < 500; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }
}
