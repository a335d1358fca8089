import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.zip.Deflater;

/** Spends seconds of CPU time in what Java leaves Java code for: native methods, and services of the JVM. */
public final class JvmCalls {
    static volatile Object sink;

    public static void main(String[] args) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        byte[] bytes = new byte[20_000];
        for (int round = 0; threads.getCurrentThreadCpuTime() < end; round++) {
            intern(round);
            pack(bytes, round);
            for (int i = 0; i < 100; i++) {
                sink = new Throwable();
                sink = new byte[20_000];
                sink = Class.forName("java.util.ArrayList");
                sink = Thread.currentThread().getStackTrace();
            }
            fail(round);
        }
    }

    private static void intern(int round) {
        for (int i = 0; i < 200; i++) {
            sink = (round + "-" + i).intern();
        }
    }

    private static void pack(byte[] bytes, int round) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * round >> 5);
        }
        Deflater deflater = new Deflater();
        deflater.setInput(bytes);
        deflater.finish();
        sink = deflater.deflate(new byte[30_000]);
        deflater.end();
    }

    private static void fail(int depth) {
        try {
            descend(depth % 50);
        } catch (IllegalStateException expected) {
            sink = expected;
        }
    }

    private static void descend(int depth) {
        if (depth == 0) {
            throw new IllegalStateException();
        }
        descend(depth - 1);
    }
}
