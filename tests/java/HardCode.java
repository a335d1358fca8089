import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.zip.Deflater;

/**
 * Spends seconds of CPU time where stacks are hard to tell: HardCode SECONDS MODE.
 *
 * hash: stubs that go round in large loops and move the stack pointer. search: compiled code that pushes words in the midst
 * of a method. null: exceptions that the JVM makes of SIGSEGV and SIGFPE, in a handler of its own. overflow: stacks that end
 * in a StackOverflowError.
 */
public final class HardCode {
    static volatile Object sink;

    private interface Work {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        Work work;
        switch (args[1]) {
            case "hash": work = HardCode::hash; break;
            case "search": work = HardCode::search; break;
            case "null": work = HardCode::nothing; break;
            case "overflow": work = HardCode::overflow; break;
            default: throw new IllegalArgumentException(args[1]);
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        while (threads.getCurrentThreadCpuTime() < end) {
            work.run();
        }
    }

    private static void hash() throws Exception {
        byte[] bytes = new byte[60_000];
        for (String name : new String[] {"SHA-256", "MD5", "SHA-1", "SHA-512"}) {
            sink = MessageDigest.getInstance(name).digest(bytes);
        }
        Deflater deflater = new Deflater();
        deflater.setInput(bytes);
        deflater.finish();
        sink = deflater.deflate(new byte[4096]);
        deflater.end();
    }

    private static void search() throws Exception {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 3000; i++) {
            all.append(i).append("äöü€").append((char) ('a' + i % 26));
        }
        String text = all.toString();
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(bytes);
        sink = new String(out.toByteArray(), StandardCharsets.UTF_8).equals(text);
        sink = text.indexOf("zz");
        sink = text.replace("ä", "ae").toUpperCase();
        sink = text.compareTo(text + "x");
    }

    private static final class Box {
        int value;
    }

    private static int valueOf(Box box) {
        try {
            return box.value;
        } catch (NullPointerException e) {
            return -1;
        }
    }

    private static int quotient(int a, int b) {
        try {
            return a / b;
        } catch (ArithmeticException e) {
            return -1;
        }
    }

    private static void nothing() {
        int sum = 0;
        Box box = new Box();
        for (int i = 0; i < 3000; i++) {
            sum += valueOf(i % 3 == 0 ? null : box) + quotient(i, i % 3);
        }
        sink = sum;
    }

    private static int deeper(int n) {
        return deeper(n + 1) + 1;
    }

    private static void overflow() {
        try {
            sink = deeper(0);
        } catch (StackOverflowError e) {
            sink = e.getStackTrace().length;
        }
    }
}
