import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * More threads that burn than there are CPUs (one, if the test has seen to that), and one that sleeps now and then, and has to
 * queue for the CPU whenever it is woken. Each tells what the kernel has counted for it when it ends.
 *
 * Overload BURNERS MILLIS ROUNDS LENGTH: prints "truth {thread: account}" and ends. `nanos` is for how long it burned, on the
 * wall; or slept, without what it ran and queued meanwhile.
 */
public final class Overload {
    private static final Map<String, String> truth = new ConcurrentHashMap<>();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int burners = Integer.parseInt(args[0]);
        long nanos = Long.parseLong(args[1]) * 1_000_000;
        int rounds = Integer.parseInt(args[2]);
        int length = Integer.parseInt(args[3]);
        Thread[] threads = new Thread[burners + 1];
        for (int i = 0; i < burners; i++) threads[i] = new Thread(() -> burns(nanos), "burns-" + i);
        threads[burners] = new Thread(() -> sleepsOften(rounds, length), "sleeps");
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        System.out.println("truth " + OwnAccount.json(new TreeMap<>(truth)));
    }

    private static void tell(long nanos) {
        Map<String, Long> account = OwnAccount.all();
        account.put("nanos", nanos);
        truth.put(Thread.currentThread().getName(), OwnAccount.json(account));
    }

    private static void burns(long nanos) {
        OwnAccount.all(); // what this loads is not loaded at the end
        long began = System.nanoTime();
        long x = 1;
        while (System.nanoTime() - began < nanos) {
            for (int i = 0; i < 10_000; i++) x = x * 6364136223846793005L + i;
        }
        sink = x;
        tell(System.nanoTime() - began);
    }

    private static void sleepsOften(int rounds, int length) {
        OwnAccount.all();
        long slept = 0;
        for (int i = 0; i < rounds; i++) {
            long notAsleep = OwnAccount.queued() + OwnAccount.cpu();
            long began = System.nanoTime();
            sleeps(length);
            long wall = System.nanoTime() - began;
            slept += wall - (OwnAccount.queued() + OwnAccount.cpu() - notAsleep);
        }
        tell(slept);
    }

    static void sleeps(int length) {
        try {
            Thread.sleep(length);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
