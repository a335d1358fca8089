import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Four threads that contend for a lock, and log who truly held it when: worker-0 .. worker-3.
 *
 *   java LockTruth MODE HOLD sleep|burn SECONDS FILE [virtual]
 *
 * HOLD, in us, is what the shortest sections take; others take up to ten times as long, by method and by thread. Afterwards
 * the logs are in FILE (LockLog.write). SECONDS 0: prints READY and goes on until the word "stop" comes.
 */
public final class LockTruth {
    private static final int THREADS = 4;
    private static final int WAITERS = 2;
    private static final ThreadMXBean JVM = ManagementFactory.getThreadMXBean();

    private static LockSections sections;
    private static LockLog[] logs;
    private static boolean virtual;
    private static boolean barging;
    private static volatile boolean stopped;
    /** Those who notify them must go on until they have ended. */
    private static final AtomicInteger waiters = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        sections = sections(args[0]);
        barging = args[0].startsWith("barging");
        long hold = Long.parseLong(args[1]) * 1000;
        long seconds = Long.parseLong(args[3]);
        virtual = args.length > 5;
        warmUp();
        LockSections.unit = hold;
        LockSections.sleeping = args[2].equals("sleep");
        Thread[] threads = start();
        if (seconds == 0) {
            Map<String, Callable<String>> words = new HashMap<>();
            words.put("stop", () -> finish(threads, args[4]));
            Commands.serve(words);
        } else {
            Thread.sleep(seconds * 1000);
            finish(threads, args[4]);
        }
    }

    private static LockSections sections(String mode) {
        switch (mode) {
            case "sync":
            case "barging": return new LockSections.Blocks();
            case "method": return new LockSections.Methods();
            case "static": return new LockSections.OfClass();
            case "throwing": return new LockSections.Throwing();
            case "nested": return new LockSections.Nested();
            case "wait": return new LockSections.Waits();
            case "reentrant":
            case "barging-reentrant": return new LockSections.Reentrant(false);
            case "fair": return new LockSections.Reentrant(true);
            case "condition": return new LockSections.Awaits();
            case "rw": return new SharedSections.ReadWrite(false);
            case "fair-rw": return new SharedSections.ReadWrite(true);
            case "semaphore": return new SharedSections.Permits(false);
            case "fair-semaphore": return new SharedSections.Permits(true);
            case "stamped": return new SharedSections.Stamped();
            default: throw new IllegalArgumentException(mode);
        }
    }

    /** Until C2 has compiled it all, and has seen every way to work: what it has never seen it would leave out. */
    private static void warmUp() {
        LockLog log = new LockLog("main", 1);
        for (int i = 0; i < 60_000; i++) {
            LockSections.sleeping = i % 64 == 0;
            LockSections.unit = i % 2048 == 0 ? 1_000_000 : i % 8 == 0 ? 2_000 : 1;
            step(log, i % 6);
            if (i % 1000 == 0) log.forget();
        }
        // Who waits for another thread to initialise a class is blocked as well, by the JVM's count: nobody shall.
        ThreadLocalRandom.current().nextLong(1 + JVM.getThreadInfo(Thread.currentThread().getId()).getBlockedCount());
    }

    private static Thread[] start() throws Exception {
        Thread[] threads = new Thread[THREADS];
        logs = new LockLog[THREADS];
        for (int i = 0; i < THREADS; i++) logs[i] = new LockLog("worker-" + i, 1 + i / 3.0);
        if (sections instanceof LockSections.Waiting) {
            ((LockSections.Waiting) sections).waiters(Arrays.copyOf(logs, WAITERS));
            waiters.set(WAITERS);
        }
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            Runnable body = () -> live(number);
            if (virtual) {
                threads[i] = VirtualDeep.startVirtual(logs[i].thread, body);
            } else {
                threads[i] = new Thread(body, logs[i].thread);
                threads[i].start();
            }
        }
        return threads;
    }

    private static void live(int number) {
        LockLog log = logs[number];
        ThreadLocalRandom random = ThreadLocalRandom.current();
        boolean isWaiter = number < waiters.get();
        // All the locks together are asked for more than there is time.
        long thinking = (long) (LockSections.unit * 2 * 2.7 * 1.5);
        while (!stopped || !isWaiter && waiters.get() > 0) {
            if (!barging || number > 0) LockSupport.parkNanos(random.nextLong(2 * thinking));
            // Each prefers another method.
            int which = random.nextInt(3) == 0 ? random.nextInt(3) : (number + 2) % 3;
            step(log, which + 3 * random.nextInt(2));
        }
        if (isWaiter) waiters.decrementAndGet();
        if (!virtual) log.blocked(JVM.getThreadInfo(Thread.currentThread().getId()).getBlockedCount(), System.nanoTime());
        log.countTimeWithoutCpu();
    }

    private static void step(LockLog log, int kind) {
        log.byB = kind >= 3;
        if (kind < 3) {
            viaA(log, kind);
        } else {
            viaB(log, kind - 3);
        }
    }

    private static void viaA(LockLog log, int which) {
        if (which == LockSections.SHORT) {
            sections.holdShort(log, System.nanoTime());
        } else if (which == LockSections.LONG) {
            sections.holdLong(log, System.nanoTime());
        } else {
            sections.holdVeryLong(log, System.nanoTime());
        }
    }

    private static void viaB(LockLog log, int which) {
        viaA(log, which);
    }

    private static String finish(Thread[] threads, String file) throws Exception {
        stopped = true;
        for (Thread thread : threads) thread.join();
        StringBuilder text = new StringBuilder();
        for (LockLog log : logs) log.write(text, sections.locks(), sections.methods());
        Files.write(Paths.get(file), text.toString().getBytes(StandardCharsets.UTF_8));
        return "done";
    }
}
