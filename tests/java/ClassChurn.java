import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongUnaryOperator;

/** Loads a class by a new loader (and, from 15 on, as a hidden class), runs it, and throws it away, for ever. */
public final class ClassChurn {
    private static volatile long loaded;
    static volatile long sink;

    private static final class Loader extends ClassLoader {
        Loader() {
            super(ClassChurn.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] bytes = bytesOf("Churned.class"), hidden = bytesOf("ChurnedHidden.class");
        Commands.daemon("churner", () -> churn(bytes, hidden));
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("loaded", () -> "" + loaded);
        words.put("gc", () -> {
            System.gc();
            return "done";
        });
        words.put("exit", () -> {
            System.exit(7);
            return "";
        });
        Commands.serve(words);
    }

    private static void churn(byte[] bytes, byte[] hidden) {
        try {
            while (true) {
                Class<?> fresh = loaded % 2 == 0 ? new Loader().define(bytes) : hidden(hidden);
                sink += ((LongUnaryOperator) fresh.getDeclaredConstructor().newInstance()).applyAsLong(sink);
                if (++loaded % 500 == 0) {
                    System.gc();
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Lookup.defineHiddenClass, by reflection since this compiles for 8. */
    private static Class<?> hidden(byte[] bytes) throws Exception {
        try {
            Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
            Method define = MethodHandles.Lookup.class.getMethod(
                    "defineHiddenClass", byte[].class, boolean.class, Array.newInstance(option, 0).getClass());
            return ((MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), bytes, true, Array.newInstance(option, 0)))
                    .lookupClass();
        } catch (ClassNotFoundException before15) {
            return new Loader().define(bytes);
        }
    }

    private static byte[] bytesOf(String name) throws Exception {
        try (InputStream in = ClassChurn.class.getResourceAsStream(name)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] buffer = new byte[4096];
            for (int n; (n = in.read(buffer)) > 0; ) {
                out.write(buffer, 0, n);
            }
            return out.toByteArray();
        }
    }
}
