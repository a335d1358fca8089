/**
 * Waves of threads that live for a fraction of a millisecond: much of their CPU time goes by before the JVM tells anybody
 * that they have started, and after it has said that they have ended.
 *
 *   java ShortThreads SECONDS
 */
public final class ShortThreads {
    static volatile long sink;

    private static void work() {
        long x = 1;
        for (int i = 0; i < 20_000; i++) x = x * 6364136223846793005L + i;
        sink = x;
    }

    public static void main(String[] arguments) throws InterruptedException {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        while (System.nanoTime() < end) {
            Thread[] wave = new Thread[8];
            for (int i = 0; i < wave.length; i++) (wave[i] = new Thread(ShortThreads::work, "short")).start();
            for (Thread thread : wave) thread.join();
        }
    }
}
