import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * What one thread knows of its own critical sections: when it asked for a lock, when it had it, when it was about to release
 * it, and which method held it. All memory is there from the beginning, so that nothing is allocated while a lock is held.
 */
final class LockLog {
    private static final int MOST = 100_000;

    final String thread;
    /** Thread number i holds its locks longer than number i - 1. */
    final double scale;
    private final int[] section = new int[MOST];
    private final long[] asked = new long[MOST];
    private final long[] acquired = new long[MOST];
    private final long[] releasing = new long[MOST];
    private final boolean[] afterWait = new boolean[MOST];
    private final boolean[] calledByB = new boolean[MOST];
    private int size;
    private long blockedCount = -1;
    private long countedAt;
    private long withoutCpu = -1;

    /** By LockTruth.viaB, not by viaA alone: the section that comes next. */
    boolean byB;

    /** Both are written under the lock that the thread waits for: when somebody notified it. */
    boolean waiting;
    long notified;

    LockLog(String thread, double scale) {
        this.thread = thread;
        this.scale = scale;
    }

    /** To be called while the lock is still held: the section ends now. */
    void held(int which, long askedAt, long acquiredAt) {
        add(which, askedAt, acquiredAt, false);
    }

    /** The same for a section that began when Object.wait or await returned; it asked for the lock when it was notified. */
    void heldAfterWait(int which, long acquiredAt) {
        add(which, notified, acquiredAt, true);
    }

    private void add(int which, long askedAt, long acquiredAt, boolean again) {
        if (size == MOST) throw new IllegalStateException("more sections than the log has room for");
        section[size] = which;
        asked[size] = askedAt;
        acquired[size] = acquiredAt;
        afterWait[size] = again;
        calledByB[size] = byB;
        releasing[size++] = System.nanoTime();
    }

    void forget() {
        size = 0;
    }

    /** How often the JVM says that the thread was blocked by monitors, and when it was asked. */
    void blocked(long count, long now) {
        blockedCount = count;
        countedAt = now;
    }

    /**
     * To be called by the thread at its end: how long it could have run and had no CPU, in ns (of a virtual thread: its
     * carrier). Nobody can tell who held a lock while the machine does not let those run who wait for it.
     */
    void countTimeWithoutCpu() {
        try {
            String times = new String(Files.readAllBytes(Paths.get("/proc/thread-self/schedstat")), StandardCharsets.US_ASCII);
            withoutCpu = Long.parseLong(times.split(" ")[1]);
        } catch (IOException e) {
            withoutCpu = 0; // a kernel that does not count it
        }
    }

    /** Lines of words with tabs between them. `locks` and `methods`: by number of section. */
    void write(StringBuilder out, String[] locks, String[] methods) {
        for (int i = 0; i < size; i++) {
            line(out, "hold", thread, locks[section[i]], asked[i], acquired[i], releasing[i], methods[section[i]],
                 calledByB[i] ? "viaB" : "viaA", afterWait[i] ? "afterWait" : "enter");
        }
        if (blockedCount >= 0) line(out, "blocked", thread, countedAt, blockedCount);
        if (withoutCpu >= 0) line(out, "without-cpu", thread, withoutCpu);
    }

    private static void line(StringBuilder out, Object... words) {
        for (int i = 0; i < words.length; i++) out.append(i == 0 ? "" : "\t").append(words[i]);
        out.append('\n');
    }
}
