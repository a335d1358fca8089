import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that can't leave their carriers while they sleep, since a native method has called them, deep in a stack
 * of which most lies in the heap: they have just been parked there. To be run with jdk.reflect.useNativeAccessorOnly.
 *
 * Pinned THREADS TIMES LENGTH: prints "truth {count, slept_ns, took_ns}", of all of them together: how often and for how long
 * they wanted to sleep, and how long it took.
 */
public final class Pinned {
    static final int DEPTH = 30;
    static final AtomicLong took = new AtomicLong();
    static int length;
    static Method method;

    public static void sleeps() throws Exception {
        long began = System.nanoTime();
        Thread.sleep(length);
        took.addAndGet(System.nanoTime() - began);
    }

    static long deep(int left, long a) throws Exception {
        if (left > 0) return deep(left - 1, a * 3) + left;
        LockSupport.parkNanos(100_000);
        method.invoke(null);
        return a;
    }

    static void task(int times) {
        try {
            for (int i = 0; i < times; i++) deep(DEPTH, i);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        int times = Integer.parseInt(args[1]);
        length = Integer.parseInt(args[2]);
        method = Pinned.class.getMethod("sleeps");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) threads.add(VirtualDeep.startVirtual("pinned-" + i, () -> task(times)));
        for (Thread thread : threads) thread.join();
        System.out.println("truth {\"count\": " + count * times + ", \"slept_ns\": " + count * times * length * 1_000_000L
            + ", \"took_ns\": " + took + "}");
    }
}
