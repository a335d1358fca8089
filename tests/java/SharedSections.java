import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Sections of locks that several threads may hold at once. Those who share it hold it longest, so that mostly several do when
 * somebody waits.
 */
final class SharedSections {
    private SharedSections() {}

    static final class ReadWrite extends LockSections {
        private final ReentrantReadWriteLock lock;

        ReadWrite(boolean fair) {
            lock = new ReentrantReadWriteLock(fair);
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            lock.readLock().lock();
            try {
                long acquired = System.nanoTime();
                work(log, 6);
                log.held(VERY_LONG, asked, acquired);
            } finally {
                lock.readLock().unlock();
            }
        }

        /** Twice, by the same thread: it is held until the last is given back. */
        @Override void holdLong(LockLog log, long asked) {
            lock.readLock().lock();
            try {
                long acquired = System.nanoTime();
                lock.readLock().lock();
                lock.readLock().unlock();
                work(log, 4);
                log.held(LONG, asked, acquired);
            } finally {
                lock.readLock().unlock();
            }
        }

        @Override void holdShort(LockLog log, long asked) {
            lock.writeLock().lock();
            try {
                long acquired = System.nanoTime();
                work(log, 2);
                log.held(SHORT, asked, acquired);
            } finally {
                lock.writeLock().unlock();
            }
        }

        @Override String[] locks() {
            return ofClass("java.util.concurrent.locks.ReentrantReadWriteLock$" + (lock.isFair() ? "FairSync" : "NonfairSync"));
        }
    }

    /** Two permits. */
    static final class Permits extends LockSections {
        private final Semaphore permits;

        Permits(boolean fair) {
            permits = new Semaphore(2, fair);
        }

        @Override void holdVeryLong(LockLog log, long asked) {
            permits.acquireUninterruptibly();
            try {
                long acquired = System.nanoTime();
                work(log, 6);
                log.held(VERY_LONG, asked, acquired);
            } finally {
                permits.release();
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            permits.acquireUninterruptibly();
            try {
                long acquired = System.nanoTime();
                work(log, 4);
                log.held(LONG, asked, acquired);
            } finally {
                permits.release();
            }
        }

        @Override void holdShort(LockLog log, long asked) {
            permits.acquireUninterruptibly(2);
            try {
                long acquired = System.nanoTime();
                work(log, 2);
                log.held(SHORT, asked, acquired);
            } finally {
                permits.release(2);
            }
        }

        @Override String[] locks() {
            return ofClass("java.util.concurrent.Semaphore$" + (permits.isFair() ? "FairSync" : "NonfairSync"));
        }
    }

    static final class Stamped extends LockSections {
        private final StampedLock lock = new StampedLock();

        @Override void holdVeryLong(LockLog log, long asked) {
            long stamp = lock.readLock();
            try {
                long acquired = System.nanoTime();
                work(log, 6);
                log.held(VERY_LONG, asked, acquired);
            } finally {
                lock.unlockRead(stamp);
            }
        }

        @Override void holdLong(LockLog log, long asked) {
            long stamp = lock.readLock();
            try {
                long acquired = System.nanoTime();
                work(log, 4);
                log.held(LONG, asked, acquired);
            } finally {
                lock.unlock(stamp);
            }
        }

        /** It goes on as a reader. */
        @Override void holdShort(LockLog log, long asked) {
            long stamp = lock.writeLock();
            try {
                long acquired = System.nanoTime();
                work(log, 1);
                stamp = lock.tryConvertToReadLock(stamp);
                work(log, 1);
                log.held(SHORT, asked, acquired);
            } finally {
                lock.unlock(stamp);
            }
        }

        @Override String[] locks() {
            return new String[] {named(lock), named(lock), named(lock)};
        }
    }

    private static String[] ofClass(String name) {
        return new String[] {name, name, name};
    }
}
