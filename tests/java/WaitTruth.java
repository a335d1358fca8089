import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Every way to wait in a method and a thread of its name, ROUNDS times, mostly for LENGTH milliseconds; and a chain in which
 * A waits for B, B for C, and C sleeps. Each thread takes the time of its own waits.
 *
 * WaitTruth ROUNDS LENGTH (FILE | -): prints "truth {way: {wall, cpu, queued, doubt}}", all in ns, and ends. Of the time on
 * the wall, `cpu` and `queued` were no waiting. The doubt is time that passed while the clocks were read one after the other,
 * if it was so long that the thread must have lost its CPU: `queued` has that, but `wall` has not. FILE is a large one on a
 * slow disk.
 */
public final class WaitTruth {
    private static final Map<String, String> truth = new ConcurrentHashMap<>();
    private static final int STRIDE = 1 << 20;
    private static final long TURN = 500_000; // ns; no other thread is given a CPU for less
    private static int rounds;
    private static int length;

    interface Way {
        void once() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        rounds = Integer.parseInt(args[0]);
        length = Integer.parseInt(args[1]);
        run(sleeping(), parking(), waiting(), entering(), readingSocket(), readingPipe(), readingProcess(), selecting());
        chain();
        if (!args[2].equals("-")) {
            run(readingFile(args[2]));
            // Alone: while a thread waits for a page in the midst of Java code, no safepoint can begin.
            run(touching(args[2]));
        }
        System.out.println("truth " + OwnAccount.json(new TreeMap<>(truth)));
    }

    private static void run(Thread... threads) throws InterruptedException {
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }

    private static void quietly(Way way) {
        try {
            way.once();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static Thread measured(String name, Way before, Way way) {
        return measured(name, before, way, () -> { });
    }

    /** What `before` and `after` do, and whatever they wait for, is not measured. */
    private static Thread measured(String name, Way before, Way way, Way after) {
        return new Thread(() -> quietly(() -> {
            for (int i = 0; i < 20; i++) OwnAccount.all(); // what this loads is no part of what is measured
            long wall = 0;
            long cpu = 0;
            long queued = 0;
            long doubt = 0;
            for (int i = 0; i < rounds; i++) {
                before.once();
                long from;
                long queue;
                long time;
                long began;
                do { // until it has not lost its CPU in between
                    from = System.nanoTime();
                    queue = OwnAccount.queued();
                    time = OwnAccount.cpu();
                    began = System.nanoTime();
                } while (began - from >= TURN);
                way.once();
                long ended = System.nanoTime();
                time = OwnAccount.cpu() - time;
                queue = OwnAccount.queued() - queue;
                long late = System.nanoTime() - ended;
                wall += ended - began;
                cpu += time;
                queued += queue;
                if (late >= TURN) doubt += late;
                after.once();
            }
            Map<String, Long> sums = new LinkedHashMap<>();
            sums.put("wall", wall);
            sums.put("cpu", cpu);
            sums.put("queued", queued);
            sums.put("doubt", doubt);
            truth.put(name, OwnAccount.json(sums));
        }), name);
    }

    /** A thread that does it LENGTH milliseconds after it is asked to, each time. */
    private static Way peer(String name, Way action) {
        Semaphore wanted = new Semaphore(0);
        Commands.daemon(name, () -> quietly(() -> {
            while (true) {
                wanted.acquire();
                Thread.sleep(length);
                action.once();
            }
        }));
        return wanted::release;
    }

    // ---- by a timer

    private static Thread sleeping() {
        return measured("sleeps", () -> { }, WaitTruth::sleeps);
    }

    static void sleeps() throws InterruptedException {
        Thread.sleep(length);
    }

    private static Thread parking() {
        return measured("parks", () -> { }, WaitTruth::parks);
    }

    static void parks() {
        LockSupport.parkNanos(length * 1_000_000L);
    }

    private static final Object condition = new Object();

    private static Thread waiting() {
        return measured("waits", () -> { }, WaitTruth::waits);
    }

    static void waits() throws InterruptedException {
        synchronized (condition) {
            condition.wait(length);
        }
    }

    // ---- for another thread

    private static final Object monitor = new Object();

    private static Thread entering() {
        Semaphore wanted = new Semaphore(0);
        Semaphore held = new Semaphore(0);
        Commands.daemon("owner", () -> quietly(() -> {
            while (true) {
                wanted.acquire();
                synchronized (monitor) {
                    held.release();
                    Thread.sleep(length);
                }
            }
        }));
        return measured("entersMonitor", () -> {
            wanted.release();
            held.acquire();
        }, WaitTruth::entersMonitor);
    }

    static void entersMonitor() {
        synchronized (monitor) {
            monitor.hashCode();
        }
    }

    // ---- for a descriptor

    private static Socket[] connection() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket here = new Socket(server.getInetAddress(), server.getLocalPort());
            return new Socket[] {here, server.accept()};
        }
    }

    private static InputStream fromSocket;

    private static Thread readingSocket() throws Exception {
        Socket[] ends = connection();
        fromSocket = ends[0].getInputStream();
        OutputStream out = ends[1].getOutputStream();
        return measured("readsSocket", peer("sender", () -> out.write(1)), WaitTruth::readsSocket);
    }

    static void readsSocket() throws Exception {
        if (fromSocket.read() < 0) throw new IllegalStateException("the end");
    }

    private static Pipe pipe;

    private static Thread readingPipe() throws Exception {
        pipe = Pipe.open();
        return measured("readsPipe", peer("filler", () -> pipe.sink().write(ByteBuffer.allocate(1))), WaitTruth::readsPipe);
    }

    static void readsPipe() throws Exception {
        if (pipe.source().read(ByteBuffer.allocate(1)) != 1) throw new IllegalStateException("the end");
    }

    private static InputStream fromProcess;

    private static Thread readingProcess() throws Exception {
        String answers = "while read x; do sleep " + length / 1000.0 + "; echo; done";
        Process other = new ProcessBuilder("/bin/sh", "-c", answers).start();
        OutputStream out = other.getOutputStream();
        fromProcess = other.getInputStream();
        return measured("readsProcess", () -> {
            out.write('\n');
            out.flush();
        }, WaitTruth::readsProcess);
    }

    static void readsProcess() throws Exception {
        if (fromProcess.read() < 0) throw new IllegalStateException("the end");
    }

    private static Selector selector;

    private static Thread selecting() throws Exception {
        selector = Selector.open();
        return measured("selects", peer("selected", () -> selector.wakeup()), WaitTruth::selects);
    }

    static void selects() throws Exception {
        selector.select();
    }

    // ---- for a disk

    private static RandomAccessFile file;

    private static Thread readingFile(String path) throws Exception {
        file = new RandomAccessFile(path, "r");
        long[] at = {0};
        return measured("readsFile", () -> file.seek(STRIDE * at[0]++), WaitTruth::readsFile);
    }

    static void readsFile() throws Exception {
        if (file.read() < 0) throw new IllegalStateException("the end");
    }

    private static MappedByteBuffer mapped;
    private static int touched;
    private static byte used;

    private static Thread touching(String path) throws Exception {
        try (RandomAccessFile from = new RandomAccessFile(path, "r")) {
            mapped = from.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, from.length());
        }
        touched = (rounds + 1) * STRIDE; // what nobody has read yet
        return measured("touches", () -> touched += STRIDE, WaitTruth::touches);
    }

    static void touches() {
        used += mapped.get(touched);
    }

    // ---- A waits for B in Object.wait, B for C at a socket, and C sleeps: told apart by their kinds, too.

    private static final Object endOfA = new Object();
    private static boolean endedA;
    private static InputStream fromC;
    private static OutputStream toB;
    private static final Semaphore wantB = new Semaphore(0);
    private static final Semaphore wantC = new Semaphore(0);

    private static void chain() throws Exception {
        Socket[] ends = connection();
        fromC = ends[0].getInputStream();
        toB = ends[1].getOutputStream();
        Thread a = measured("A", () -> { }, WaitTruth::awaitsB);
        Thread b = measured("B", wantB::acquire, WaitTruth::awaitsC, WaitTruth::endsA);
        Thread c = measured("C", wantC::acquire, WaitTruth::delays, WaitTruth::endsB);
        run(a, b, c);
    }

    static void awaitsB() throws InterruptedException {
        wantB.release();
        synchronized (endOfA) {
            while (!endedA) endOfA.wait();
            endedA = false;
        }
    }

    static void endsA() {
        synchronized (endOfA) {
            endedA = true;
            endOfA.notify();
        }
    }

    static void awaitsC() throws Exception {
        wantC.release();
        if (fromC.read() < 0) throw new IllegalStateException("the end");
    }

    static void endsB() throws Exception {
        toB.write(1);
    }

    static void delays() throws InterruptedException {
        Thread.sleep(length);
    }
}
