import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicLong;

/**
 * So many threads, all of which are idle (each looks up twice a second) or all of which work without end. After a warm-up
 * it tells how much was done in a second, and what CPU time the process and our threads in it used.
 *
 *   java ManyThreads idle|load THREADS SECONDS
 */
public final class ManyThreads {
    private static final AtomicLong DONE = new AtomicLong();
    private static volatile long sink;

    public static void main(String[] arguments) throws Exception {
        boolean idle = arguments[0].equals("idle");
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            Thread thread = new Thread(idle ? ManyThreads::rest : ManyThreads::work, "thread-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(1000);
        long done = DONE.get(), cpu = processCpu(), ours = cpuOfThreads("tarsier"), begin = System.nanoTime();
        Thread.sleep(Long.parseLong(arguments[2]) * 1000);
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.println("result {\"work\": " + (DONE.get() - done) / seconds
                           + ", \"cpu\": " + (processCpu() - cpu) / 1e9 / seconds
                           + ", \"ours\": " + (cpuOfThreads("tarsier") - ours) / 1e9 / seconds + "}");
    }

    private static long processCpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Of all threads whose names begin like that, by the scheduler's account, in ns. */
    private static long cpuOfThreads(String name) throws IOException {
        long sum = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            if (!text(task, "comm").startsWith(name)) continue;
            sum += Long.parseLong(text(task, "schedstat").split(" ")[0]);
        }
        return sum;
    }

    private static String text(File task, String name) throws IOException {
        return new String(Files.readAllBytes(new File(task, name).toPath()));
    }

    private static void rest() {
        try {
            while (true) Thread.sleep(500);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void work() {
        long x = 1;
        while (true) {
            for (int i = 0; i < 20_000; i++) x = x * 6364136223846793005L + i;
            sink = x;
            DONE.incrementAndGet();
        }
    }
}
