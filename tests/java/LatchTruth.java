import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;

/**
 * Two threads that wait for a latch, and two that count it down, again and again; each logs what it did.
 *
 *   java LatchTruth HOLD ROUNDS FILE
 *
 * HOLD, in us, is how long the shorter one of both works before it counts down. Afterwards the logs are in FILE
 * (LockLog.write); a latch is called CLASS#ROUND.
 */
public final class LatchTruth {
    private static final int COUNT_EARLY = 0, COUNT_LATE = 1, AWAIT = 2, METHODS = 3;

    private final int round;
    private final CountDownLatch latch = new CountDownLatch(2);
    private final long begin = System.nanoTime();

    private LatchTruth(int round) {
        this.round = round;
    }

    public static void main(String[] args) throws Exception {
        LockSections.unit = Long.parseLong(args[0]) * 1000;
        LockSections.sleeping = true;
        int rounds = Integer.parseInt(args[1]);
        LockLog[] logs = {new LockLog("party-0", 1), new LockLog("party-1", 1), new LockLog("waiter-0", 1), new LockLog("waiter-1", 1)};
        for (int i = 0; i < rounds; i++) new LatchTruth(i).run(logs);

        String own = LatchTruth.class.getName();
        String[] locks = new String[rounds * METHODS];
        String[] methods = new String[rounds * METHODS];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = "java.util.concurrent.CountDownLatch$Sync#" + i / METHODS;
            methods[i] = own + (i % METHODS == COUNT_EARLY ? ".countEarly" : i % METHODS == COUNT_LATE ? ".countLate" : ".await");
        }
        StringBuilder text = new StringBuilder();
        for (LockLog log : logs) log.write(text, locks, methods);
        Files.write(Paths.get(args[2]), text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private void run(LockLog[] logs) throws InterruptedException {
        int early = round % 2;
        Thread[] threads = {
            new Thread(() -> countEarly(logs[early]), logs[early].thread),
            new Thread(() -> countLate(logs[1 - early]), logs[1 - early].thread),
            new Thread(() -> await(logs[2]), logs[2].thread),
            new Thread(() -> await(logs[3]), logs[3].thread)};
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }

    private void countEarly(LockLog log) {
        LockSections.work(log, 1);
        log.held(round * METHODS + COUNT_EARLY, begin, begin);
        latch.countDown();
    }

    private void countLate(LockLog log) {
        LockSections.work(log, 3);
        log.held(round * METHODS + COUNT_LATE, begin, begin);
        latch.countDown();
    }

    private void await(LockLog log) {
        long asked = System.nanoTime();
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        log.held(round * METHODS + AWAIT, asked, System.nanoTime());
    }
}
