import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that use different things: one computes, one is in the kernel, one goes to sleep again and again, one touches
 * new memory. Each tells what it has used by its own account when it ends; then short threads come and go.
 *
 *   java Resources CPU_MILLIS SHORT_THREADS
 */
public final class Resources {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Map<String, String> TRUTH = new ConcurrentHashMap<>();
    static final int SLEEPS = 400;
    static final int PAGES = 20_000;
    static volatile long sink;

    private interface Work {
        void run(long cpuNanos) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        long cpuNanos = Long.parseLong(arguments[0]) * 1_000_000;
        Thread[] threads = {thread("computes", Resources::compute, cpuNanos), thread("reads", Resources::read, cpuNanos),
                            thread("sleeps", Resources::sleep, cpuNanos), thread("touches", Resources::touch, cpuNanos)};
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        int shortThreads = Integer.parseInt(arguments[1]);
        for (int i = 0; i < shortThreads; i += 8) {
            Thread[] wave = new Thread[Math.min(8, shortThreads - i)];
            for (int j = 0; j < wave.length; j++) (wave[j] = new Thread(() -> sink++, "short-" + (i + j))).start();
            for (Thread thread : wave) thread.join();
        }
        System.out.println("truth " + TRUTH.toString().replace('=', ':'));
    }

    private static Thread thread(String name, Work work, long cpuNanos) {
        return new Thread(() -> {
            try {
                work.run(cpuNanos);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            long cpu = THREADS.getCurrentThreadCpuTime();
            TRUTH.put('"' + name + '"', "{\"cpu\": " + cpu + ", \"user\": " + THREADS.getCurrentThreadUserTime() + "}");
        }, name);
    }

    private static void compute(long cpuNanos) {
        long x = 1;
        while (THREADS.getCurrentThreadCpuTime() < cpuNanos) {
            for (int i = 0; i < 100_000; i++) x = x * 6364136223846793005L + i;
        }
        sink = x;
    }

    private static void read(long cpuNanos) throws IOException {
        byte[] buffer = new byte[4 << 20];
        try (FileInputStream zero = new FileInputStream("/dev/zero")) {
            while (THREADS.getCurrentThreadCpuTime() < cpuNanos) zero.read(buffer);
        }
    }

    private static void sleep(long cpuNanos) {
        for (int i = 0; i < SLEEPS; i++) LockSupport.parkNanos(1_000_000);
    }

    private static void touch(long cpuNanos) {
        ByteBuffer memory = ByteBuffer.allocateDirect(PAGES * 4096);
        for (int i = 0; i < PAGES; i++) memory.put(i * 4096, (byte) i);
    }
}
