import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * What the test programs have in common: they print "READY" when they are warm, then obey words on stdin, one a line.
 * The answer to WORD is one line "WORD ANSWER".
 */
final class Commands {
    private Commands() {}

    /** Obeys until stdin ends; runs on the calling thread, which uses no CPU time while it waits. */
    static void serve(Map<String, Callable<String>> words) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            Callable<String> action = words.get(line);
            System.out.println(line + " " + (action == null ? "unknown word" : action.call()));
            System.out.flush();
        }
    }

    /** Until the JIT has had nothing to do for a second; a minute at most. */
    static void untilCompiled() throws InterruptedException {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        long spent = -1;
        for (int quiet = 0, waited = 0; quiet < 10 && waited < 600; quiet++, waited++) {
            Thread.sleep(100);
            if (compiler.getTotalCompilationTime() != spent) {
                spent = compiler.getTotalCompilationTime();
                quiet = 0;
            }
        }
    }

    static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }
}
