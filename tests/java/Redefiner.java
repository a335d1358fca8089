import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/** An agent and a program in one: redefines the class that its other thread runs, for ever. */
public final class Redefiner {
    private static Instrumentation instrumentation;
    private static volatile long redefined;

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Redefiner.class.getResourceAsStream("Redefined.class")) {
            byte[] buffer = new byte[4096];
            for (int n; (n = in.read(buffer)) > 0; ) {
                bytes.write(buffer, 0, n);
            }
        }
        Commands.daemon("worker", () -> {
            for (long i = 0; ; i++) {
                Redefined.outer(i);
            }
        });
        Commands.daemon("redefiner", () -> redefine(bytes.toByteArray()));
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("redefined", () -> "" + redefined);
        words.put("exit", () -> {
            System.exit(7);
            return "";
        });
        Commands.serve(words);
    }

    private static void redefine(byte[] bytes) {
        try {
            while (true) {
                instrumentation.redefineClasses(new ClassDefinition(Redefined.class, bytes));
                if (++redefined % 5 == 0) {
                    System.gc(); // frees what the old versions were made of
                }
                Thread.sleep(20);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
