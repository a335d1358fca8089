import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/** As many threads as its argument says; every hundredth burns a little now and then. Words: files N (can so many be open?), exit. */
public final class ManyThreads {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        for (int i = 0; i < count; i++) {
            boolean burns = i % 100 == 0;
            Thread thread = new Thread(null, () -> live(burns), (burns ? "burner-" : "idle-") + i, 128 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        Map<String, Callable<String>> words = new HashMap<>();
        for (int files = 100; files <= 1000; files += 50) {
            int wanted = files;
            words.put("files " + files, () -> open(wanted));
        }
        words.put("exit", () -> {
            System.exit(7);
            return "";
        });
        Commands.serve(words);
    }

    private static void live(boolean burns) {
        while (true) {
            if (burns) {
                work();
            }
            // Never in step with the kernel's tick: the clocks that only it serves would find every burst or none.
            LockSupport.parkNanos(burns ? ThreadLocalRandom.current().nextLong(10_000_000, 30_000_000) : 1_000_000_000_000L);
        }
    }

    /** By the clock: a compiler may make any number of steps short. */
    private static void work() {
        long x = sink | 1;
        long end = System.nanoTime() + 700_000;
        while (System.nanoTime() < end) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sink = x;
    }

    private static String open(int wanted) throws IOException {
        List<FileInputStream> files = new ArrayList<>();
        try {
            while (files.size() < wanted) {
                files.add(new FileInputStream("/proc/self/stat"));
            }
        } catch (IOException full) {
            // Answered by the number.
        }
        int opened = files.size();
        for (FileInputStream file : files) {
            file.close();
        }
        return "" + opened;
    }
}
