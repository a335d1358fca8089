package java.util.concurrent.locks;

/**
 * What the agent's option lockdetail makes the classes of java.util.concurrent call when a lock was acquired and is about to be
 * released. It lives where these can see it, in the boot loader. As long as nobody has ever had to wait for a lock, a call ends
 * here, in code that the JVM compiles into the caller.
 *
 * The parameters are what src/classfile/insert_calls.h passes: booleans as ints.
 */
public final class TarsierHolds {
    private static final int READ = 0, WRITE = 1;
    /** Of the stamps of a StampedLock. */
    private static final long READ_BITS = 127, WRITE_BIT = 128;

    private TarsierHolds() {}

    public static void acquired(int done, int times, int contended, int mode, Object lock) {
        if (contended != 0 && done != 0) acquire(System.identityHashCode(lock), mode, times);
    }

    public static void acquired(int done, long times, int contended, int mode, Object lock) {
        if (contended != 0 && done != 0) acquire(System.identityHashCode(lock), mode, (int) times);
    }

    /** What is negative was not acquired. */
    public static void acquiredShared(int left, int times, int contended, int mode, Object lock) {
        if (contended != 0 && left >= 0) acquire(System.identityHashCode(lock), mode, times);
    }

    public static void acquiredShared(long left, long times, int contended, int mode, Object lock) {
        if (contended != 0 && left >= 0) acquire(System.identityHashCode(lock), mode, (int) times);
    }

    public static void drained(int times, int contended, int mode, Object lock) {
        if (contended != 0 && times > 0) acquire(System.identityHashCode(lock), mode, times);
    }

    public static void releasing(int times, int contended, int mode, Object lock) {
        if (contended != 0) release(System.identityHashCode(lock), mode, times);
    }

    public static void releasing(long times, int contended, int mode, Object lock) {
        if (contended != 0) release(System.identityHashCode(lock), mode, (int) times);
    }

    /** A latch, by the last that was missing. */
    public static void opened(int done, int contended, int mode, Object lock) {
        if (contended != 0 && done != 0) release(System.identityHashCode(lock), mode, 1);
    }

    /** `queue`: null if nobody has ever waited. */
    public static void stamped(long stamp, Object queue, Object lock) {
        if (queue != null) acquire(stamp, lock);
    }

    public static void unstamping(long stamp, Object queue, Object lock) {
        if (queue != null) release(stamp, lock);
    }

    public static void converted(long stamp, long before, Object queue, Object lock) {
        if (queue == null || stamp == 0 || stamp == before) return;
        release(before, lock);
        acquire(stamp, lock);
    }

    public static void unlocked(int done, int mode, Object queue, Object lock) {
        if (queue != null && done != 0) release(System.identityHashCode(lock), mode, 1);
    }

    private static void acquire(long stamp, Object lock) {
        if ((stamp & WRITE_BIT) != 0) {
            acquire(System.identityHashCode(lock), WRITE, 1);
        } else if ((stamp & READ_BITS) != 0) {
            acquire(System.identityHashCode(lock), READ, 1);
        }
    }

    private static void release(long stamp, Object lock) {
        if ((stamp & WRITE_BIT) != 0) {
            release(System.identityHashCode(lock), WRITE, 1);
        } else if ((stamp & READ_BITS) != 0) {
            release(System.identityHashCode(lock), READ, 1);
        }
    }

    private static native void acquire(int identity, int mode, int times);

    private static native void release(int identity, int mode, int times);
}
