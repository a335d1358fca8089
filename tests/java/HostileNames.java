import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * Classes, methods and threads whose names are made to do harm. Class files are written here, byte by byte, since no
 * compiler takes such names; the JVM forbids only . ; [ / in them, and in methods also angle brackets.
 *
 * With the argument "many": 500 classes and methods with names of 60,000 characters, a millisecond of each in turn.
 *
 * Words: names (a JSON list of {"class", "method", "thread"}, everything beyond ASCII letters escaped).
 */
public final class HostileNames {
    private static final String LONG = repeat("L", 60_000);
    private static final String[][] NAMES = {
        // class (its slashes make packages), method, thread
        {"plain/Control", "plain", "plain control"},
        {"evil</script><script>hacked=1<", "a\"onmouseover=\"hacked=1", "</script><script>window.hacked=1</script>"},
        {"evil<img src=x onerror=hacked=1>", "${hacked=1}`'\"\\", "<img src=x onerror=\"window.hacked=1\">"},
        {"evil\u001bc\u0007", "m\u001b(0\u009b2J", "t\u001b]0;owned\u0007\u001b[2J"},
        {"evil\u202ednib\u2066", "m\u202e\u200b\ufeff", "t\u202egnp\u2069"},
        {"evil\nnew\rline\t", "m\n\u2028", "two\nlines; with semicolons; 100 %d%s%n"},
        {"evil\ud800lone", "m\udfff", "lone \ud800 surrogate"},
        {"evil\u0000nul", "m\u0000", "nul \u0000 inside"},
        {"evil\ud83d\ude00", "m\ud83d\ude00\u05d0", "emoji \ud83d\ude00"},
        {LONG, "m" + LONG, LONG + " thread"},
    };

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            List<Method> many = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                many.add(new Definer().define(LONG + i, "m" + LONG + i));
            }
            Commands.daemon("many", () -> burn(many, 100_000));
        } else {
            for (String[] names : NAMES) {
                List<Method> one = Collections.singletonList(new Definer().define(names[0], names[1]));
                Commands.daemon(names[2], () -> burn(one, 1_000_000));
            }
        }
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("names", HostileNames::names);
        Thread.sleep(500);
        Commands.serve(words);
    }

    private static void burn(List<Method> methods, int rounds) {
        try {
            for (long x = 1;;) {
                for (Method method : methods) {
                    x = (Long) method.invoke(null, rounds, x);
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Definer extends ClassLoader {
        Method define(String className, String methodName) throws IOException {
            byte[] bytes = classFile(className, methodName);
            return defineClass(null, bytes, 0, bytes.length).getDeclaredMethods()[0];
        }
    }

    /** A public class with one static method (int n, long x): n rounds of xorshift over x. */
    private static byte[] classFile(String className, String methodName) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xcafebabe);
        out.writeInt(49); // Java 5: the last version that needs no stack maps
        String[] texts = {className, "java/lang/Object", methodName, "(IJ)J", "Code"};
        out.writeShort(texts.length + 2 + 1);
        for (String text : texts) { // 1..5
            out.writeByte(1);
            out.writeUTF(text);
        }
        for (int name = 1; name <= 2; name++) { // 6, 7: the class and its superclass
            out.writeByte(7);
            out.writeShort(name);
        }
        out.writeShort(0x0021); // public
        out.writeShort(6);
        out.writeShort(7);
        out.writeShort(0); // interfaces
        out.writeShort(0); // fields
        out.writeShort(1); // methods
        out.writeShort(0x0009); // public static
        out.writeShort(3);
        out.writeShort(4);
        out.writeShort(1); // attributes
        byte[] code = {
            0x1a, (byte) 0x9e, 0, 23,                                     // while (n > 0) {
            0x1f, 0x1f, 0x10, 13, 0x79, (byte) 0x83, 0x40,                //   x ^= x << 13
            0x1f, 0x1f, 0x10, 7, 0x7d, (byte) 0x83, 0x40,                 //   x ^= x >>> 7
            (byte) 0x84, 0, (byte) 0xff, (byte) 0xa7, (byte) 0xff, (byte) 0xeb, // n-- }
            0x1f, (byte) 0xad,                                            // return x
        };
        out.writeShort(5);
        out.writeInt(12 + code.length);
        out.writeShort(5); // stack
        out.writeShort(3); // locals
        out.writeInt(code.length);
        out.write(code);
        out.writeShort(0); // exceptions
        out.writeShort(0); // attributes of the code
        out.writeShort(0); // attributes of the class
        return bytes.toByteArray();
    }

    private static String names() {
        StringBuilder json = new StringBuilder("[");
        for (String[] names : NAMES) {
            json.append(json.length() == 1 ? "" : ", ").append("{\"class\": ").append(quoted(names[0]));
            json.append(", \"method\": ").append(quoted(names[1]));
            json.append(", \"thread\": ").append(quoted(names[2])).append('}');
        }
        return json.append(']').toString();
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            boolean plain = c < 0x80 && (Character.isLetterOrDigit(c) || c == ' ');
            out.append(plain ? String.valueOf(c) : String.format("\\u%04x", (int) c));
        }
        return out.append('"').toString();
    }

    private static String repeat(String text, int times) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < times; i++) {
            out.append(text);
        }
        return out.toString();
    }
}
