import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that park deep in their stacks and then work there: with a lazy thaw all but the innermost frames still
 * lie in the heap. Every sample with burn() in it must have DEPTH + 1 frames of deep(), task() and run() below it.
 *
 *   java VirtualDeep SECONDS THREADS [gc]
 */
public class VirtualDeep {
    static final int DEPTH = 30;
    static final AtomicLong sink = new AtomicLong();
    static volatile boolean stop;
    static volatile Object[] garbage = new Object[256];

    static long burn(long x) {
        for (int i = 0; i < 20_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            x ^= x >>> 17;
        }
        return x;
    }

    // Many live values, so that frames are not small.
    static long deep(int left, long a, long b, long c) {
        long d = a * 3 + b, e = b * 5 + c, f = c * 7 + a;
        long result;
        if (left == 0) {
            LockSupport.parkNanos(200_000);
            result = burn(a) + burn(b);
        } else {
            result = deep(left - 1, d, e, f);
            if (left % 10 == 1) result += burn(result);
        }
        return result + d * 3 + e * 5 + f * 7 + left;
    }

    static void task() {
        while (!stop) sink.addAndGet(deep(DEPTH, 1, 2, sink.get()));
    }

    // By reflection: this is compiled for every JVM from 8 on.
    static Thread startVirtual(String name, Runnable task) throws Exception {
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        Object named = builder.getMethod("name", String.class).invoke(Thread.class.getMethod("ofVirtual").invoke(null), name);
        return (Thread) builder.getMethod("start", Runnable.class).invoke(named, task);
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        boolean collect = arguments.length > 2;
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) threads.add(startVirtual("worker-" + i, VirtualDeep::task));
        System.out.println("ready");
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (int i = 0; System.nanoTime() < end; i++) {
            if (collect) {
                garbage[i & 255] = new byte[20_000];
                if ((i & 1023) == 0) System.gc();
                if ((i & 15) == 0) LockSupport.parkNanos(200_000);
            } else {
                Thread.sleep(10);
            }
        }
        stop = true;
        for (Thread thread : threads) thread.join();
    }
}
