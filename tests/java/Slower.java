import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A job that does the same amount of work in every run, measured in CPU time, whatever else the machine does: each of
 * four methods has a budget and runs, in turns that chance chooses, until it is used up. -Dslower=N gives the third N
 * times its budget. Prints what each has used in the end, and ends by itself.
 */
public final class Slower {
    private static final String[] NAMES = {"first", "second", "third", "fourth"};
    private static final long[] MILLIS = {900, 700, 500, 300};
    private static final int[] DATA = new int[4096];
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static long sink;

    public static void main(String[] args) {
        long[] budget = new long[MILLIS.length];
        for (int i = 0; i < budget.length; i++) {
            budget[i] = MILLIS[i] * 1_000_000L * (i == 2 ? Integer.getInteger("slower", 1) : 1);
        }
        long[] spent = new long[budget.length];
        double[] block = new double[budget.length]; // nanoseconds for one, as last seen
        java.util.Arrays.fill(block, 0.1e6);
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long before = THREADS.getCurrentThreadCpuTime();
        for (int next; (next = choose(budget, spent, random)) >= 0; ) {
            // Turns of random length, as long in every method: no rhythm of ours may meet that of a clock.
            long blocks = Math.max(1, Math.round(random.nextDouble(0.33e6, 3e6) / block[next]));
            for (long i = 0; i < blocks; i++) {
                work(next);
            }
            long now = THREADS.getCurrentThreadCpuTime();
            block[next] = Math.max(1e3, (block[next] + (now - before) / (double) blocks) / 2);
            spent[next] += now - before;
            before = now;
        }
        StringBuilder json = new StringBuilder("truth {");
        for (int i = 0; i < spent.length; i++) {
            json.append(i == 0 ? "" : ", ").append('"').append(NAMES[i]).append("\": ").append(spent[i]);
        }
        System.out.println(json.append('}'));
    }

    /** One that has some of its budget left, each as often as there is; -1: none has. */
    private static int choose(long[] budget, long[] spent, ThreadLocalRandom random) {
        long left = 0;
        for (int i = 0; i < budget.length; i++) {
            left += Math.max(0, budget[i] - spent[i]);
        }
        if (left == 0) {
            return -1;
        }
        long at = random.nextLong(left);
        int next = -1;
        for (long sum = 0; sum <= at; ) {
            next++;
            sum += Math.max(0, budget[next] - spent[next]);
        }
        return next;
    }

    private static void work(int which) {
        if (which == 0) {
            sink += first(20_000);
        } else if (which == 1) {
            sink += second(20_000);
        } else if (which == 2) {
            sink += third(20_000);
        } else {
            sink += (long) fourth(20_000);
        }
    }

    static long first(int n) {
        long x = sink | 1;
        for (int i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static int second(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum = sum * 31 + (DATA[i & 4095] ^ i);
        }
        return sum;
    }

    static long third(int n) {
        long x = sink;
        for (int i = 0; i < n; i++) {
            x = (x ^ x >>> 31) * 0x7fb5d329728ea185L;
        }
        return x;
    }

    static double fourth(int n) {
        double x = sink;
        for (int i = 0; i < n; i++) {
            x = x * 0.999 + i;
        }
        return x;
    }
}
