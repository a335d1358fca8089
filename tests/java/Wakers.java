import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait in a method of their name, ROUNDS times for LENGTH milliseconds, each until a certain other one ends
 * that in a method whose name begins with "ends": a chain of three, a socket, a monitor, Object.wait, the end of a
 * thread, another process; and those whom no thread wakes: by a timer, by a disk.
 *
 * Wakers ROUNDS LENGTH READ MAPPED: the last two are large files that nobody has read lately. Prints "truth {way: ns}",
 * with the time for which each waited, or stood in the run queue, and ends.
 */
public final class Wakers {
    private static final Map<String, Long> truth = new ConcurrentHashMap<>();
    private static final int STRIDE = 256 << 10;
    private static int rounds;
    private static int length;

    interface Way {
        void once() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        rounds = Integer.parseInt(args[0]);
        length = Integer.parseInt(args[1]);
        List<Thread> threads = new ArrayList<>();
        chain(threads);
        threads.add(measured("sleeps", () -> { }, Wakers::sleeps));
        threads.add(reading());
        threads.add(entering());
        threads.add(notified());
        threads.add(joining());
        threads.add(asking());
        threads.add(new Thread(() -> quietly(() -> readsFile(args[2])), "readsFile"));
        threads.add(new Thread(() -> quietly(() -> mapsFile(args[3])), "mapsFile"));
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, Long> way : new TreeMap<>(truth).entrySet()) {
            text.append(text.length() == 0 ? "" : ", ").append('"').append(way.getKey()).append("\": ")
                .append(way.getValue());
        }
        System.out.println("truth {" + text + "}");
    }

    private static void quietly(Way way) {
        try {
            way.once();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** What `before` does is not measured. */
    private static Thread measured(String name, Way before, Way way) {
        return new Thread(() -> quietly(() -> {
            long sum = 0;
            for (int i = 0; i < rounds; i++) {
                before.once();
                long began = System.nanoTime();
                way.once();
                sum += System.nanoTime() - began;
            }
            truth.put(name, sum);
        }), name);
    }

    private static void daemon(String name, Way forever) {
        Commands.daemon(name, () -> quietly(() -> {
            while (true) forever.once();
        }));
    }

    // ---- A waits for B, B for C, and C sleeps.

    private static volatile boolean endedA;
    private static volatile boolean endedB;
    private static Thread threadA;
    private static volatile Thread threadB;

    private static void chain(List<Thread> threads) {
        Semaphore wantB = new Semaphore(0);
        Semaphore wantC = new Semaphore(0);
        threadA = measured("awaitsB", () -> {
            endedA = false;
            wantB.release();
        }, Wakers::awaitsB);
        threads.add(threadA);
        daemon("B", () -> {
            threadB = Thread.currentThread();
            wantB.acquire();
            endedB = false;
            wantC.release();
            awaitsC();
            endsA();
        });
        daemon("C", () -> {
            wantC.acquire();
            Thread.sleep(length);
            endsB();
        });
    }

    static void awaitsB() {
        while (!endedA) LockSupport.park();
    }

    static void awaitsC() {
        while (!endedB) LockSupport.park();
    }

    static void endsA() {
        endedA = true;
        LockSupport.unpark(threadA);
    }

    static void endsB() {
        endedB = true;
        LockSupport.unpark(threadB);
    }

    // ---- One other thread each.

    static void sleeps() throws InterruptedException {
        Thread.sleep(length);
    }

    private static InputStream in;
    private static OutputStream out;

    private static Thread reading() throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket here = new Socket(server.getInetAddress(), server.getLocalPort());
        out = server.accept().getOutputStream();
        in = here.getInputStream();
        Semaphore wanted = new Semaphore(0);
        daemon("sender", () -> {
            wanted.acquire();
            Thread.sleep(length);
            endsRead();
        });
        return measured("readsSocket", wanted::release, Wakers::readsSocket);
    }

    static void readsSocket() throws Exception {
        if (in.read() < 0) throw new IllegalStateException("the end");
    }

    static void endsRead() throws Exception {
        out.write(1);
    }

    private static final Object monitor = new Object();

    private static Thread entering() {
        Semaphore wanted = new Semaphore(0);
        Semaphore held = new Semaphore(0);
        daemon("owner", () -> {
            wanted.acquire();
            endsEntry(held);
        });
        return measured("entersMonitor", () -> {
            wanted.release();
            held.acquire();
        }, Wakers::entersMonitor);
    }

    static void entersMonitor() {
        synchronized (monitor) {
            monitor.hashCode();
        }
    }

    static void endsEntry(Semaphore held) throws InterruptedException {
        synchronized (monitor) {
            held.release();
            Thread.sleep(length);
        }
    }

    private static final Object condition = new Object();
    private static boolean fulfilled;

    private static Thread notified() {
        Semaphore wanted = new Semaphore(0);
        daemon("notifier", () -> {
            wanted.acquire();
            Thread.sleep(length);
            endsWait();
        });
        return measured("waitsForNotify", wanted::release, Wakers::waitsForNotify);
    }

    static void waitsForNotify() throws InterruptedException {
        synchronized (condition) {
            while (!fulfilled) condition.wait();
            fulfilled = false;
        }
    }

    static void endsWait() {
        synchronized (condition) {
            fulfilled = true;
            condition.notify();
        }
    }

    private static Thread joined;

    private static Thread joining() {
        return measured("joins", () -> {
            joined = new Thread(() -> quietly(() -> Thread.sleep(length)), "joined");
            joined.start();
        }, Wakers::joins);
    }

    static void joins() throws InterruptedException {
        joined.join();
    }

    // ---- Not of this JVM.

    private static OutputStream toOther;
    private static BufferedReader fromOther;

    private static Thread asking() throws Exception {
        String answers = "while read x; do sleep " + length / 1000.0 + "; echo; done";
        Process other = new ProcessBuilder("/bin/sh", "-c", answers).start();
        toOther = other.getOutputStream();
        fromOther = new BufferedReader(new InputStreamReader(other.getInputStream()));
        return measured("asksProcess", () -> {
            toOther.write('\n');
            toOther.flush();
        }, Wakers::asksProcess);
    }

    static void asksProcess() throws Exception {
        if (fromOther.readLine() == null) throw new IllegalStateException("the end");
    }

    static void readsFile(String file) throws Exception {
        byte[] bytes = new byte[8192];
        long sum = 0;
        try (FileInputStream from = new FileInputStream(file)) {
            for (int count = 1; count > 0; from.skip(STRIDE - bytes.length)) {
                long began = System.nanoTime();
                count = from.read(bytes);
                sum += System.nanoTime() - began;
            }
        }
        truth.put("readsFile", sum);
    }

    private static byte used;

    static void mapsFile(String file) throws Exception {
        long began = System.nanoTime();
        try (RandomAccessFile from = new RandomAccessFile(file, "r")) {
            int size = (int) from.length();
            MappedByteBuffer bytes = from.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, size);
            for (int at = 0; at < size; at += STRIDE) touches(bytes, at);
        }
        truth.put("mapsFile", System.nanoTime() - began);
    }

    static void touches(MappedByteBuffer bytes, int at) {
        used += bytes.get(at);
    }
}
