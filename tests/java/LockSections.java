import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Critical sections in every way that Java has for them. Each kind has three methods that hold a lock for a shorter or longer
 * time; one thread at a time is in them, and logs that. `asked`: when the thread asked for the lock, by the caller's clock,
 * since a synchronized method is only entered with it.
 */
abstract class LockSections {
    static final int SHORT = 0;
    static final int LONG = 1;
    static final int VERY_LONG = 2;
    /** The second lock of nested sections. */
    static final int INNER = 3;

    /** How long holdShort holds its lock, in ns. */
    static volatile long unit;
    /** Sleep while holding, or use the CPU? */
    static volatile boolean sleeping;
    private static volatile long sink;

    abstract void holdShort(LockLog log, long asked);

    abstract void holdLong(LockLog log, long asked);

    abstract void holdVeryLong(LockLog log, long asked);

    /** Of the lock of section i: CLASS@IDENTITY as the recording calls it; only its class if the lock is no object of ours. */
    String[] locks() {
        String own = named(this);
        return new String[] {own, own, own};
    }

    String[] methods() {
        String own = getClass().getName();
        return new String[] {own + ".holdShort", own + ".holdLong", own + ".holdVeryLong"};
    }

    static String named(Object lock) {
        return lock.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(lock));
    }

    static void work(LockLog log, double units) {
        long ns = (long) (unit * units * log.scale);
        if (sleeping) {
            sleep(ns);
        } else {
            burn(ns);
        }
    }

    private static void burn(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() < end) sink++;
    }

    private static void sleep(long ns) {
        if (ns < 1_000_000) { // Thread.sleep of 17 knows no less
            LockSupport.parkNanos(ns);
            return;
        }
        try {
            Thread.sleep(ns / 1_000_000);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class Blocks extends LockSections {
        @Override void holdShort(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 1);
                log.held(SHORT, asked, acquired);
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 2);
                log.held(LONG, asked, acquired);
            }
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 5);
                log.held(VERY_LONG, asked, acquired);
            }
        }
    }

    static final class Methods extends LockSections {
        @Override synchronized void holdShort(LockLog log, long asked) {
            long acquired = System.nanoTime();
            work(log, 1);
            log.held(SHORT, asked, acquired);
        }

        @Override synchronized void holdLong(LockLog log, long asked) {
            long acquired = System.nanoTime();
            work(log, 2);
            log.held(LONG, asked, acquired);
        }

        @Override synchronized void holdVeryLong(LockLog log, long asked) {
            long acquired = System.nanoTime();
            work(log, 5);
            log.held(VERY_LONG, asked, acquired);
        }
    }

    /** The lock is a class: by static methods, and by a block that names it. */
    static final class OfClass extends LockSections {
        @Override void holdShort(LockLog log, long asked) {
            staticShort(log, asked);
        }

        @Override void holdLong(LockLog log, long asked) {
            staticLong(log, asked);
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            synchronized (OfClass.class) {
                long acquired = System.nanoTime();
                work(log, 5);
                log.held(VERY_LONG, asked, acquired);
            }
        }

        private static synchronized void staticShort(LockLog log, long asked) {
            long acquired = System.nanoTime();
            work(log, 1);
            log.held(SHORT, asked, acquired);
        }

        private static synchronized void staticLong(LockLog log, long asked) {
            long acquired = System.nanoTime();
            work(log, 2);
            log.held(LONG, asked, acquired);
        }

        @Override String[] locks() {
            String own = named(OfClass.class);
            return new String[] {own, own, own};
        }

        @Override String[] methods() {
            String own = getClass().getName();
            return new String[] {own + ".staticShort", own + ".staticLong", own + ".holdVeryLong"};
        }
    }

    /** Every section is left by an exception: the lock is released by the handlers that javac and the JVM make for it. */
    static final class Throwing extends LockSections {
        private static final class Left extends RuntimeException {
            Left() {
                super(null, null, false, false); // no stack: to make one takes long
            }
        }

        private void throwingShort(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 1);
                log.held(SHORT, asked, acquired);
                throw new Left();
            }
        }

        private synchronized void throwingLong(LockLog log, long asked) {
            long acquired = System.nanoTime();
            work(log, 2);
            log.held(LONG, asked, acquired);
            throw new Left();
        }

        /** The exception comes from a method that it calls. */
        private void throwingVeryLong(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 5);
                log.held(VERY_LONG, asked, acquired);
                leave();
            }
        }

        private static void leave() {
            throw new Left();
        }

        @Override void holdShort(LockLog log, long asked) {
            try {
                throwingShort(log, asked);
            } catch (Left expected) {
                // the lock is free again
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            try {
                throwingLong(log, asked);
            } catch (Left expected) {
                // the lock is free again
            }
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            try {
                throwingVeryLong(log, asked);
            } catch (Left expected) {
                // the lock is free again
            }
        }

        @Override String[] methods() {
            String own = getClass().getName();
            return new String[] {own + ".throwingShort", own + ".throwingLong", own + ".throwingVeryLong"};
        }
    }

    /** One lock inside another; both are taken alone, too. */
    static final class Nested extends LockSections {
        private final Object inner = new Object();

        @Override void holdShort(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 1);
                log.held(SHORT, asked, acquired);
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            holdInner(log, asked);
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 1);
                holdInner(log, System.nanoTime());
                work(log, 1);
                log.held(VERY_LONG, asked, acquired);
            }
        }

        private void holdInner(LockLog log, long asked) {
            synchronized (inner) {
                long acquired = System.nanoTime();
                work(log, 2);
                log.held(INNER, asked, acquired);
            }
        }

        @Override String[] locks() {
            String outer = named(this);
            return new String[] {outer, outer, outer, named(inner)};
        }

        @Override String[] methods() {
            String own = getClass().getName();
            return new String[] {own + ".holdShort", own + ".holdLong", own + ".holdVeryLong", own + ".holdInner"};
        }
    }

    static final class Reentrant extends LockSections {
        private final ReentrantLock lock;

        Reentrant(boolean fair) {
            lock = new ReentrantLock(fair);
        }

        @Override void holdShort(LockLog log, long asked) {
            lock.lock();
            try {
                long acquired = System.nanoTime();
                work(log, 1);
                log.held(SHORT, asked, acquired);
            } finally {
                lock.unlock();
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            lock.lock();
            try {
                long acquired = System.nanoTime();
                work(log, 2);
                log.held(LONG, asked, acquired);
            } finally {
                lock.unlock();
            }
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            lock.lock();
            try {
                long acquired = System.nanoTime();
                work(log, 5);
                log.held(VERY_LONG, asked, acquired);
            } finally {
                lock.unlock();
            }
        }

        @Override String[] locks() {
            return namedBySync(lock);
        }
    }

    /** Threads park on an object that only the lock itself can reach. */
    private static String[] namedBySync(ReentrantLock lock) {
        String sync = "java.util.concurrent.locks.ReentrantLock$" + (lock.isFair() ? "FairSync" : "NonfairSync");
        return new String[] {sync, sync, sync};
    }

    /**
     * Those that hold it very long wait in the middle, until one that holds it long notifies them; both work before and
     * afterwards.
     */
    abstract static class Waiting extends LockSections {
        private LockLog[] waiters = {};

        void waiters(LockLog[] logs) {
            waiters = logs;
        }

        /** Under the lock. How many were waiting: they are no more. */
        int notified() {
            int found = 0;
            long now = System.nanoTime();
            for (LockLog log : waiters) {
                if (!log.waiting) continue;
                log.waiting = false;
                log.notified = now;
                found++;
            }
            return found;
        }

        boolean isWaiter(LockLog log) {
            for (LockLog waiter : waiters) {
                if (waiter == log) return true;
            }
            return false;
        }
    }

    static final class Waits extends Waiting {
        @Override void holdShort(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 1);
                log.held(SHORT, asked, acquired);
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 1);
                int found = notified();
                if (found == 1) {
                    notify();
                } else if (found > 1) {
                    notifyAll();
                }
                work(log, 1);
                log.held(LONG, asked, acquired);
            }
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            synchronized (this) {
                long acquired = System.nanoTime();
                work(log, 2);
                log.waiting = isWaiter(log);
                if (log.waiting) {
                    log.held(VERY_LONG, asked, acquired);
                    try {
                        while (log.waiting) wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    long again = System.nanoTime();
                    work(log, 2);
                    log.heldAfterWait(VERY_LONG, again);
                } else {
                    log.held(VERY_LONG, asked, acquired);
                }
            }
        }
    }

    static final class Awaits extends Waiting {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition called = lock.newCondition();

        @Override void holdShort(LockLog log, long asked) {
            lock.lock();
            try {
                long acquired = System.nanoTime();
                work(log, 1);
                log.held(SHORT, asked, acquired);
            } finally {
                lock.unlock();
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            lock.lock();
            try {
                long acquired = System.nanoTime();
                work(log, 1);
                int found = notified();
                if (found == 1) {
                    called.signal();
                } else if (found > 1) {
                    called.signalAll();
                }
                work(log, 1);
                log.held(LONG, asked, acquired);
            } finally {
                lock.unlock();
            }
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            lock.lock();
            try {
                long acquired = System.nanoTime();
                work(log, 2);
                log.waiting = isWaiter(log);
                if (log.waiting) {
                    log.held(VERY_LONG, asked, acquired);
                    while (log.waiting) called.awaitUninterruptibly();
                    long again = System.nanoTime();
                    work(log, 2);
                    log.heldAfterWait(VERY_LONG, again);
                } else {
                    log.held(VERY_LONG, asked, acquired);
                }
            } finally {
                lock.unlock();
            }
        }

        @Override String[] locks() {
            return namedBySync(lock);
        }
    }
}
