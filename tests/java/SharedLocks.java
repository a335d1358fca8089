import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Threads that use every lock that several may hold, all the time, and notice if one is held by whom it must not be.
 *
 *   java SharedLocks LIBRARY        LIBRARY: of class_code.c
 *
 * "code" tells a number for the code of the classes that --lock-detail changes, "done" how often all was used, "stop" ends the
 * threads and tells what is still held: nothing.
 */
public final class SharedLocks {
    private static final String[] CHANGED = {
        "java.util.concurrent.locks.ReentrantReadWriteLock$Sync", "java.util.concurrent.Semaphore$Sync",
        "java.util.concurrent.Semaphore$FairSync", "java.util.concurrent.locks.StampedLock", "java.util.concurrent.CountDownLatch$Sync"};
    private static final int THREADS = 4;

    private static final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    private static final Semaphore permits = new Semaphore(2), fair = new Semaphore(2, true);
    private static final StampedLock stamped = new StampedLock();
    private static long byWriter, byStampedWriter;
    private static volatile boolean stopped;
    private static volatile String wrong = "nothing";

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        long[] done = new long[THREADS];
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> live(done, number), "user-" + i);
            threads[i].start();
        }
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("code", SharedLocks::code);
        words.put("done", () -> "" + (done[0] + done[1] + done[2] + done[3]));
        words.put("stop", () -> {
            stopped = true;
            for (Thread thread : threads) thread.join();
            boolean free = readWrite.getReadLockCount() == 0 && !readWrite.isWriteLocked() && !stamped.isReadLocked()
                && !stamped.isWriteLocked() && permits.availablePermits() == 2 && fair.availablePermits() == 2;
            return free ? wrong : "a lock is held";
        });
        Commands.serve(words);
    }

    private static void live(long[] done, int number) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        try {
            while (!stopped) {
                use(random.nextInt(8), random);
                done[number]++;
            }
        } catch (Throwable e) {
            wrong = e.toString();
        }
    }

    private static void use(int what, ThreadLocalRandom random) throws Exception {
        switch (what) {
            case 0: {
                readWrite.writeLock().lock();
                long before = ++byWriter;
                pause(random);
                if (byWriter != before) wrong = "two writers";
                readWrite.readLock().lock();
                readWrite.writeLock().unlock();
                if (byWriter != before) wrong = "a writer beside a reader";
                readWrite.readLock().unlock();
                break;
            }
            case 1:
                readWrite.readLock().lock();
                pause(random);
                readWrite.readLock().unlock();
                break;
            case 2:
                permits.acquire();
                pause(random);
                permits.release();
                break;
            case 3:
                fair.acquire(2);
                pause(random);
                fair.release(2);
                break;
            case 4: {
                long stamp = stamped.writeLock();
                long before = ++byStampedWriter;
                pause(random);
                if (byStampedWriter != before) wrong = "two writers with stamps";
                stamped.unlockWrite(stamp);
                break;
            }
            case 5: {
                long stamp = stamped.readLock();
                long written = stamped.tryConvertToWriteLock(stamp);
                if (written != 0) byStampedWriter++;
                pause(random);
                stamped.unlock(written != 0 ? written : stamp);
                break;
            }
            case 6:
                if (fair.tryAcquire()) fair.release();
                if (readWrite.writeLock().tryLock()) readWrite.writeLock().unlock();
                break;
            default: {
                CountDownLatch latch = new CountDownLatch(1);
                Thread helper = new Thread(latch::countDown);
                helper.start();
                latch.await();
                helper.join();
            }
        }
    }

    private static void pause(ThreadLocalRandom random) throws InterruptedException {
        if (random.nextInt(4) == 0) Thread.sleep(1);
    }

    private static String code() throws ClassNotFoundException {
        StringBuilder text = new StringBuilder();
        for (String name : CHANGED) text.append(Long.toHexString(codeOf(Class.forName(name)))).append(' ');
        return text.toString().trim();
    }

    private static native long codeOf(Class<?> klass);
}
