import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Threads of which everybody knows what they do: a-busiest burns whatever CPU it gets, b-sometimes a fifth of one,
 * c-allocates 100 MB a second, e-blocked wants what d-holder holds nearly all the time, f-... has a name to be afraid of.
 *
 * Words: busiest (its CPU time so far, ns), end (the program).
 */
public final class TopThreads {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Object LOCK = new Object();
    static volatile long sink;
    static volatile byte[] garbage;

    public static void main(String[] args) throws Exception {
        Thread busiest = new Thread(() -> hottest(Long.MAX_VALUE), "a-busiest");
        busiest.setDaemon(true);
        busiest.start();
        Commands.daemon("b-sometimes", () -> {
            while (true) {
                hottest(50_000_000);
                sleep(200);
            }
        });
        Commands.daemon("c-allocates", () -> {
            while (true) {
                garbage = new byte[1 << 20];
                sleep(10);
            }
        });
        Commands.daemon("d-holder", () -> {
            while (true) {
                synchronized (LOCK) {
                    sleep(100);
                }
                sleep(10);
            }
        });
        Commands.daemon("e-blocked", () -> {
            while (true) {
                synchronized (LOCK) {
                    sink++;
                }
                sleep(1); // else the holder would hardly ever get it
            }
        });
        Commands.daemon("f-\u65e5\u672c\u8a9e\u001b[2J\u202eevil\n", () -> {
            while (true) {
                hottest(5_000_000);
                sleep(100);
            }
        });
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("busiest", () -> "" + THREADS.getThreadCpuTime(busiest.getId()));
        words.put("end", () -> {
            System.out.println("end now");
            System.exit(0);
            return "";
        });
        Commands.serve(words);
    }

    /** Until this thread has used that much CPU time from now on. */
    private static void hottest(long budget) {
        long start = THREADS.getCurrentThreadCpuTime();
        while (THREADS.getCurrentThreadCpuTime() - start < budget) {
            spin();
        }
    }

    private static void spin() {
        long x = sink;
        for (int i = 0; i < 2_000_000; i++) {
            x = x * 31 + i;
        }
        sink = x;
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
