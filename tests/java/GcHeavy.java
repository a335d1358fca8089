import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/** Keeps a large graph alive and churns it: most of the CPU time goes to the collector. */
public final class GcHeavy {
    private static final class Node {
        Node left, right;
        byte[] weight = new byte[24];
    }

    private static volatile Node sink;
    private static volatile boolean stopped;

    public static void main(String[] args) throws Exception {
        Thread churner = new Thread(GcHeavy::churn, "churner");
        churner.start();
        Thread.sleep(1500);
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("stop", () -> {
            stopped = true;
            churner.join();
            return "stopped";
        });
        Commands.serve(words);
        stopped = true;
    }

    private static void churn() {
        Node[] live = new Node[64];
        for (int i = 0; !stopped; i++) {
            live[i % live.length] = tree(13);
            sink = live[i % live.length];
        }
    }

    private static Node tree(int depth) {
        Node node = new Node();
        if (depth > 0) {
            node.left = tree(depth - 1);
            node.right = tree(depth - 1);
        }
        return node;
    }
}
