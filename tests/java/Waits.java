import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread for each way to wait, which waits ROUNDS times for LENGTH milliseconds in a method of that name and
 * measures how long it really was, less the time for which it stood in the run queue; one whose waits are short; and
 * HOGS threads that only burn, so that everybody has to queue for a CPU.
 *
 * Waits ROUNDS LENGTH HOGS: prints "truth {way: {ns, count, doubt}}" and ends. The doubt is time that passed until the
 * run queue was read, and may be too much in it: then so much is missing from ns. The count is without those that were
 * hardly any waits, since what was waited for came while the thread stood in the run queue.
 */
public final class Waits {
    private static final Map<String, long[]> truth = new ConcurrentHashMap<>();
    private static final Object monitor = new Object();
    private static final long SURELY = 5_000_000;
    private static int rounds;
    private static int length;
    private static volatile boolean over;

    interface Way {
        void once() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        rounds = Integer.parseInt(args[0]);
        length = Integer.parseInt(args[1]);
        for (int i = Integer.parseInt(args[2]); i > 0; i--) Commands.daemon("hog-" + i, Waits::burn);
        List<Thread> threads = new ArrayList<>();
        threads.add(measured("sleeps", () -> { }, Waits::sleeps, rounds, SURELY));
        threads.add(measured("parks", () -> { }, Waits::parks, rounds, SURELY));
        threads.add(measured("waits", () -> { }, Waits::waits, rounds, SURELY));
        threads.add(entering());
        threads.add(reading());
        threads.add(measured("shortly", () -> { }, Waits::shortly, rounds * 20, 0));
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        over = true;
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, long[]> way : new TreeMap<>(truth).entrySet()) {
            text.append(text.length() == 0 ? "" : ", ").append('"').append(way.getKey()).append("\": {\"ns\": ")
                .append(way.getValue()[0]).append(", \"count\": ").append(way.getValue()[1])
                .append(", \"doubt\": ").append(way.getValue()[2]).append('}');
        }
        System.out.println("truth {" + text + "}");
    }

    /** What `before` does, and whatever it waits for, is not measured. */
    private static Thread measured(String name, Way before, Way way, int times, long least) {
        return new Thread(() -> {
            try {
                long[] sum = new long[3];
                timeAndQueue(); // what this loads is no part of what is measured
                for (int i = 0; i < times; i++) {
                    before.once();
                    long[] began = timeAndQueue();
                    way.once();
                    long over = System.nanoTime();
                    long[] ended = timeAndQueue();
                    long waited = over - began[0] - (ended[1] - began[1]);
                    sum[0] += waited;
                    sum[1] += waited >= least ? 1 : 0;
                    sum[2] += ended[0] - over;
                }
                truth.put(name, sum);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
    }

    /** The time, and for how long this thread has stood in the run queue so far: both of one moment. */
    private static long[] timeAndQueue() throws Exception {
        while (true) {
            long before = System.nanoTime();
            byte[] text = Files.readAllBytes(Paths.get("/proc/thread-self/schedstat"));
            long now = System.nanoTime();
            if (now - before > 1_000_000) continue; // lost its CPU meanwhile
            return new long[] {now, Long.parseLong(new String(text, StandardCharsets.US_ASCII).split(" ")[1])};
        }
    }

    static void sleeps() throws InterruptedException {
        Thread.sleep(length);
    }

    static void parks() {
        LockSupport.parkNanos(length * 1_000_000L);
    }

    static void waits() throws InterruptedException {
        Object own = new Object();
        synchronized (own) {
            own.wait(length);
        }
    }

    static void entersMonitor() {
        synchronized (monitor) {
            monitor.hashCode();
        }
    }

    static void shortly() {
        LockSupport.parkNanos(20_000);
    }

    private static Thread entering() {
        Semaphore wanted = new Semaphore(0);
        Semaphore held = new Semaphore(0);
        Commands.daemon("owner", () -> {
            try {
                while (true) {
                    wanted.acquire();
                    synchronized (monitor) {
                        held.release();
                        Thread.sleep(length);
                    }
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        return measured("entersMonitor", () -> {
            wanted.release();
            held.acquire();
        }, Waits::entersMonitor, rounds, SURELY);
    }

    private static InputStream in;

    static void readsSocket() throws Exception {
        if (in.read() < 0) throw new IllegalStateException("the end");
    }

    private static Thread reading() throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket here = new Socket(server.getInetAddress(), server.getLocalPort());
        OutputStream out = server.accept().getOutputStream();
        in = here.getInputStream();
        Semaphore wanted = new Semaphore(0);
        Commands.daemon("sender", () -> {
            try {
                while (true) {
                    wanted.acquire();
                    Thread.sleep(length);
                    out.write(1);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        return measured("readsSocket", wanted::release, Waits::readsSocket, rounds, SURELY);
    }

    private static void burn() {
        long sum = 0;
        while (!over) sum += System.nanoTime();
        if (sum == 42) System.out.println();
    }
}
