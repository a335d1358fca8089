import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait because of one that is slow, by way of others or at a barrier, and that time what they lose.
 *
 *   java LockCauses MODE sleep|burn ROUNDS
 *
 * Prints "lost NAME NANOSECONDS" for each who waits, and "ran slow NANOSECONDS", its CPU time. The slow one is the thread "slow",
 * in the method work(). MODE: chain and mixed-chain, where "front" waits for "middle", who waits for "slow" (two monitors; a
 * monitor and a ReentrantLock); hold, where "front" waits for "slow" directly; barrier, latch, phaser, future, completable,
 * fork-join, join.
 */
public final class LockCauses {
    private static final long WORK_NS = 40_000_000;
    private static final Object OUTER = new Object();
    private static final Object INNER = new Object();
    private static final ReentrantLock INNER_LOCK = new ReentrantLock();

    private static final ThreadMXBean JVM = ManagementFactory.getThreadMXBean();
    private static final AtomicLong RAN = new AtomicLong();

    private static boolean burning;
    private static int rounds;
    private static volatile int innerTaken;
    private static volatile int outerTaken;
    private static volatile int entered;

    private interface Step {
        void run(int round) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        burning = args[1].equals("burn");
        rounds = Integer.parseInt(args[2]);
        switch (args[0]) {
            case "hold": hold(); break;
            case "chain": chain(false); break;
            case "mixed-chain": chain(true); break;
            case "barrier": barrier(); break;
            case "latch": latch(); break;
            case "phaser": phaser(); break;
            case "future": future(); break;
            case "completable": completable(); break;
            case "fork-join": forkJoin(); break;
            case "join": join(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        System.out.println("ran slow " + RAN.get());
    }

    /** What the slow one does. */
    static void work() {
        long before = JVM.getCurrentThreadCpuTime();
        if (burning) {
            burn(System.nanoTime() + WORK_NS);
        } else {
            sleep(WORK_NS / 1_000_000);
        }
        RAN.addAndGet(JVM.getCurrentThreadCpuTime() - before);
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void burn(long end) {
        while (System.nanoTime() < end) {
            // nothing: that is the work
        }
    }

    /**
     * They stay until the JVM ends. A JVM before 24 writes an owner as the address of its thread, which is another one's once it has
     * ended.
     */
    private static void start(CountDownLatch done, String name, Step step) {
        Thread thread = new Thread(() -> {
            try {
                for (int round = 1; round <= rounds; round++) step.run(round);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            done.countDown();
            sleep(3_600_000);
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Of one who waits: how long a step took. */
    private static final class Lost {
        private long nanos;

        void by(Step step, int round) throws Exception {
            long begin = System.nanoTime();
            step.run(round);
            nanos += System.nanoTime() - begin;
        }

        void tell(String name) {
            System.out.println("lost " + name + ' ' + nanos);
        }
    }

    private static void awaitInner(int round) {
        while (innerTaken < round) sleep(1);
    }

    private static void awaitOuter(int round) {
        while (outerTaken < round) sleep(1);
    }

    static void slowHoldsInner(int round) {
        synchronized (INNER) {
            innerTaken = round;
            work();
        }
    }

    static void slowHoldsInnerLock(int round) {
        INNER_LOCK.lock();
        try {
            innerTaken = round;
            work();
        } finally {
            INNER_LOCK.unlock();
        }
    }

    static void wantsInner(int round) {
        synchronized (INNER) {
            entered = round;
        }
    }

    static void wantsInnerLock(int round) {
        INNER_LOCK.lock();
        entered = round;
        INNER_LOCK.unlock();
    }

    static void middleHoldsOuter(int round, Lost lost, boolean mixed) throws Exception {
        synchronized (OUTER) {
            outerTaken = round;
            lost.by(mixed ? LockCauses::wantsInnerLock : LockCauses::wantsInner, round);
        }
    }

    static void frontWantsOuter(int round) {
        synchronized (OUTER) {
            entered = round;
        }
    }

    private static void hold() throws Exception {
        Lost lost = new Lost();
        Phaser together = new Phaser(2);
        CountDownLatch done = new CountDownLatch(2);
        start(done, "slow", round -> {
            slowHoldsInner(round);
            together.arriveAndAwaitAdvance();
        });
        start(done, "front", round -> {
            awaitInner(round);
            lost.by(LockCauses::wantsInner, round);
            together.arriveAndAwaitAdvance();
        });
        done.await();
        lost.tell("front");
    }

    private static void chain(boolean mixed) throws Exception {
        Lost lostByMiddle = new Lost();
        Lost lostByFront = new Lost();
        Phaser together = new Phaser(3);
        CountDownLatch done = new CountDownLatch(3);
        start(done, "slow", round -> {
            if (mixed) {
                slowHoldsInnerLock(round);
            } else {
                slowHoldsInner(round);
            }
            together.arriveAndAwaitAdvance();
        });
        start(done, "middle", round -> {
            awaitInner(round);
            middleHoldsOuter(round, lostByMiddle, mixed);
            together.arriveAndAwaitAdvance();
        });
        start(done, "front", round -> {
            awaitOuter(round);
            lostByFront.by(LockCauses::frontWantsOuter, round);
            together.arriveAndAwaitAdvance();
        });
        done.await();
        lostByMiddle.tell("middle");
        lostByFront.tell("front");
    }

    private static void meet(Step arrive) throws Exception {
        Lost[] lost = new Lost[3];
        CountDownLatch done = new CountDownLatch(4);
        for (int i = 0; i < 3; i++) {
            Lost mine = lost[i] = new Lost();
            start(done, "early-" + i, round -> mine.by(arrive, round));
        }
        start(done, "slow", round -> {
            work();
            arrive.run(round);
        });
        done.await();
        for (int i = 0; i < 3; i++) lost[i].tell("early-" + i);
    }

    private static void barrier() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(4);
        meet(round -> barrier.await());
    }

    private static void phaser() throws Exception {
        Phaser phaser = new Phaser(4);
        meet(round -> phaser.arriveAndAwaitAdvance());
    }

    private static void latch() throws Exception {
        Lost lost = new Lost();
        for (int round = 0; round < rounds; round++) {
            CountDownLatch latch = new CountDownLatch(1);
            Thread slow = new Thread(() -> countDown(latch), "slow");
            slow.start();
            lost.by(unused -> latch.await(), round);
            slow.join();
        }
        lost.tell("main");
    }

    private static void countDown(CountDownLatch latch) {
        work();
        latch.countDown();
    }

    private static void future() throws Exception {
        Lost lost = new Lost();
        for (int round = 0; round < rounds; round++) {
            FutureTask<String> task = new FutureTask<>(LockCauses::work, "done");
            Thread slow = new Thread(task, "slow");
            slow.start();
            lost.by(unused -> task.get(), round);
            slow.join();
        }
        lost.tell("main");
    }

    private static void completable() throws Exception {
        Lost lost = new Lost();
        for (int round = 0; round < rounds; round++) {
            CompletableFuture<String> future = new CompletableFuture<>();
            Thread slow = new Thread(() -> {
                work();
                future.complete("done");
            }, "slow");
            slow.start();
            lost.by(unused -> future.get(), round);
            slow.join();
        }
        lost.tell("main");
    }

    private static void forkJoin() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(1, of -> {
            ForkJoinWorkerThread worker = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(of);
            worker.setName("slow");
            return worker;
        }, null, false);
        Lost lost = new Lost();
        for (int round = 0; round < rounds; round++) {
            ForkJoinTask<?> task = pool.submit(LockCauses::work);
            lost.by(unused -> task.get(), round);
        }
        lost.tell("main");
    }

    private static void join() throws Exception {
        Lost lost = new Lost();
        for (int round = 0; round < rounds; round++) {
            Thread slow = new Thread(LockCauses::work, "slow");
            slow.start();
            lost.by(unused -> slow.join(), round);
        }
        lost.tell("main");
    }
}
