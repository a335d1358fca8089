import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A small shop with three problems for a profiler to find: a hot method (Pricing.discount), a lock that everybody queues
 * for (Stock.reserve) and a site that allocates for nothing (Receipt.render). At the end it tells what each has cost.
 *
 * Usage: Demo [SECONDS]
 */
public final class Demo {
    static volatile boolean open = true;

    public static void main(String[] args) throws InterruptedException {
        int seconds = args.length > 0 ? Integer.parseInt(args[0]) : 15;
        List<Thread> threads = new ArrayList<>();
        threads.add(start("pricing", () -> Pricing.discount(997)));
        threads.add(start("receipts", () -> {
            Receipt.render(900);
            pause(1);
        }));
        for (int i = 1; i <= 4; i++) {
            threads.add(start("clerk-" + i, Stock::sell));
        }
        System.out.println("READY");
        Thread.sleep(seconds * 1000L);
        open = false;
        for (Thread thread : threads) {
            thread.join();
        }
        Truth.print();
    }

    private static Thread start(String name, Runnable step) {
        Thread thread = new Thread(() -> {
            while (open) {
                step.run();
            }
            Truth.addCpu(name.replaceAll("-\\d+$", "s"));
        }, name);
        thread.start();
        return thread;
    }

    static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

/** The CPU hot spot: tries every divisor where the square root would do. */
final class Pricing {
    static volatile int sink;

    static void discount(int upTo) {
        int primes = 0;
        for (int n = 2; n <= upTo; n++) {
            if (isPrime(n)) {
                primes++;
            }
        }
        sink = primes;
    }

    private static boolean isPrime(int n) {
        int divisors = 0;
        for (int d = 1; d <= n; d++) {
            if (n % d == 0) {
                divisors++;
            }
        }
        return divisors == 2;
    }
}

/** The convoy: four clerks, one lock, held while a slow backend answers. */
final class Stock {
    private static final Object LOCK = new Object();
    private static int left = Integer.MAX_VALUE;

    static void sell() {
        long asked = System.nanoTime();
        synchronized (LOCK) {
            Truth.waited.addAndGet(System.nanoTime() - asked);
            reserve();
        }
    }

    private static void reserve() {
        left--;
        Demo.pause(3);
    }
}

/** The allocation site: builds a text by adding strings in a loop. */
final class Receipt {
    static volatile String sink;

    static void render(int lines) {
        String text = "";
        for (int i = 0; i < lines; i++) {
            text += "item " + i + " .......... 9.99\n";
        }
        sink = text;
        Truth.receipts.incrementAndGet();
    }
}

/** What the program knows about itself. */
final class Truth {
    static final AtomicLong waited = new AtomicLong();
    static final AtomicLong receipts = new AtomicLong();
    private static final Map<String, Long> cpu = new LinkedHashMap<>();

    static void addCpu(String group) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        synchronized (cpu) {
            cpu.merge(group, threads.getCurrentThreadCpuTime(), Long::sum);
        }
    }

    static void print() {
        cpu.forEach((group, nanos) -> System.out.printf("the program's own account: %-9s %6.2f s CPU%n", group, nanos / 1e9));
        System.out.printf("the program's own account: clerks waited %.1f s for the lock; %d receipts%n",
                waited.get() / 1e9, receipts.get());
    }
}
