import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An application that does what profilers do not expect, on words; the argument is the library with natives.c.
 * Three threads burn CPU time all the while, in methods of different depth.
 */
public final class Antagonist {
    private static final AtomicLong javaHandled = new AtomicLong();
    private static volatile boolean paintWanted;
    private static volatile int paintSignal;
    private static volatile long frame = -1;
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        for (int i = 0; i < 3; i++) {
            int depth = i * 60;
            Commands.daemon("burner-" + i, () -> burn(depth));
        }
        Map<String, Callable<String>> words = new HashMap<>();
        for (int signal : new int[] {16, 24, 26, 27}) {
            words.put("handle " + signal, () -> {
                Native.handle(signal);
                return "done";
            });
            words.put("handled " + signal, () -> "" + Native.handled(signal));
            words.put("is-ours " + signal, () -> "" + Native.isOurs(signal));
            words.put("paint " + signal, () -> paint(signal));
        }
        for (String name : new String[] {"STKFLT", "PROF", "VTALRM"}) {
            words.put("java-handle " + name, () -> javaHandle(name));
            words.put("java-raise " + name, () -> javaRaise(name));
        }
        words.put("profile", () -> {
            Native.profile(10_000);
            return "done";
        });
        words.put("fault", () -> "" + Native.fault(100));
        words.put("elsewhere", () -> "" + Native.elsewhere());
        words.put("fork", () -> "" + Native.fork(50));
        words.put("exec 50", () -> exec(50));
        words.put("exec 1000", () -> exec(1000));
        words.put("interruptions", () -> Arrays.toString(Native.interruptions(200, 3000)));
        words.put("painted", () -> "" + Native.painted());
        words.put("exit", () -> {
            System.exit(7);
            return "";
        });
        Commands.serve(words);
    }

    private static void burn(int depth) {
        while (true) {
            if (depth == 120 && paintWanted) {
                frame = Native.paint(paintSignal);
                paintWanted = false;
            }
            sink += recurse(depth, 20_000);
        }
    }

    private static long recurse(int depth, int rounds) {
        if (depth > 0) {
            return recurse(depth - 1, rounds) + 1;
        }
        long x = sink | 1;
        for (int i = 0; i < rounds; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x + Integer.toString((int) x).hashCode();
    }

    private static String paint(int signal) throws Exception {
        paintSignal = signal;
        paintWanted = true;
        while (paintWanted) {
            Thread.sleep(5);
        }
        return "" + frame;
    }

    /** Starts `true` that often and counts the good ends. */
    private static String exec(int times) throws Exception {
        int good = 0;
        for (int i = 0; i < times; i++) {
            if (new ProcessBuilder("/bin/true").start().waitFor() == 0) {
                good++;
            }
        }
        return "" + good;
    }

    // By reflection: javac does not show sun.misc.Signal to code for 8.
    private static String javaHandle(String name) throws Exception {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        InvocationHandler count = (proxy, method, arguments) -> {
            if (method.getName().equals("handle")) {
                javaHandled.incrementAndGet();
            }
            return null;
        };
        Object proxy = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, count);
        signal.getMethod("handle", signal, handler).invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
        return "done";
    }

    private static String javaRaise(String name) throws Exception {
        Class<?> signal = Class.forName("sun.misc.Signal");
        long before = javaHandled.get();
        signal.getMethod("raise", signal).invoke(null, signal.getConstructor(String.class).newInstance(name));
        for (int i = 0; i < 500 && javaHandled.get() == before; i++) {
            Thread.sleep(10);
        }
        return "" + (javaHandled.get() - before);
    }
}
