import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongBinaryOperator;

/**
 * One thread that spends about 70, 20 and 10 % of its CPU time in three methods of Work and measures exactly how much;
 * one that only sleeps.
 *
 * Words: truth (the CPU time of each method so far, as JSON), fresh (goes on with newly loaded code), stop.
 * With an argument it burns that many seconds of CPU time, prints "elapsed {..}" (the same on the wall)
 * and "truth {..}" and ends by itself.
 */
public final class KnownAnswer {
    private static final double[] SHARES = {0.70, 0.20, 0.10};
    private static final String[] NAMES = {"seventy", "twenty", "ten"};
    private static final long[] SIZES = {400_000, 400, 300_000}; // each about a third of a millisecond
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long[] spent = new long[SHARES.length];
    private static final long[] elapsed = new long[SHARES.length]; // the same on the wall
    private static volatile LongBinaryOperator work = new Work();
    private static volatile boolean stopped;

    public static void main(String[] args) throws Exception {
        THREADS.getCurrentThreadCpuTime(); // what this loads is no part of what is measured
        Commands.daemon("sleeper", () -> {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        if (args.length > 0) {
            long budget = Long.parseLong(args[0]) * 1_000_000_000L;
            burn(budget);
            System.out.println("elapsed " + json(elapsed));
            System.out.println("truth " + truth());
            return;
        }
        warmUp(work);
        Thread burner = new Thread(() -> burn(Long.MAX_VALUE), "burner");
        burner.start();
        Commands.untilCompiled();
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("truth", KnownAnswer::truth);
        words.put("fresh", KnownAnswer::fresh);
        words.put("stop", () -> {
            stopped = true;
            burner.join();
            return truth();
        });
        Commands.serve(words);
        stopped = true;
    }

    /**
     * Runs a method chosen by chance for a random time between a third and three milliseconds, again and again.
     *
     * No rhythm of ours must meet the rhythm of a clock that ticks with the kernel. On a loaded machine we lose the CPU
     * where we ask for the time, and get it back at a tick: the next one always comes as long after the beginning of a
     * burst (the method with 20 % was seen with 14). So what runs then must not depend on what ran before, and bursts must
     * take as long in every method.
     */
    private static void burn(long budget) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        double[] block = {0.33e6, 0.33e6, 0.33e6}; // nanoseconds for one, as last seen
        long before = THREADS.getCurrentThreadCpuTime();
        long wallBefore = System.nanoTime();
        long total = 0;
        while (!stopped && total < budget) {
            double chance = random.nextDouble();
            int next = chance < SHARES[0] ? 0 : chance < SHARES[0] + SHARES[1] ? 1 : 2;
            long blocks = Math.max(1, Math.round(random.nextDouble(0.33e6, 3e6) / block[next]));
            for (long i = 0; i < blocks; i++) {
                work.applyAsLong(next, SIZES[next]);
            }
            long now = THREADS.getCurrentThreadCpuTime();
            block[next] = Math.max(1e4, (block[next] + (now - before) / (double) blocks) / 2);
            long wallNow = System.nanoTime();
            synchronized (spent) {
                spent[next] += now - before;
                elapsed[next] += wallNow - wallBefore;
            }
            total += now - before;
            before = now;
            wallBefore = wallNow;
        }
    }

    /** Many small blocks: every method is called so often that C2 has its last word before the large ones come. */
    private static void warmUp(LongBinaryOperator work) {
        for (int i = 0; i < 60_000; i++) {
            work.applyAsLong(i % SIZES.length, SIZES[i % SIZES.length] / 400);
        }
    }

    private static String truth() {
        return json(spent);
    }

    private static String json(long[] times) {
        StringBuilder json = new StringBuilder("{");
        synchronized (spent) {
            for (int i = 0; i < NAMES.length; i++) {
                json.append(i == 0 ? "" : ", ").append('"').append(NAMES[i]).append("\": ").append(times[i]);
            }
        }
        return json.append('}').toString();
    }

    private static String fresh() throws Exception {
        URL here = KnownAnswer.class.getProtectionDomain().getCodeSource().getLocation();
        URLClassLoader loader = new URLClassLoader(new URL[] {here}, null);
        LongBinaryOperator fresh =
                (LongBinaryOperator) loader.loadClass("Work").getDeclaredConstructor().newInstance();
        warmUp(fresh);
        work = fresh;
        return "loaded";
    }
}
