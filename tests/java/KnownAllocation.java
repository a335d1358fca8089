import java.util.concurrent.CountDownLatch;

// Allocates known numbers of objects of known classes from known call chains, on several threads, and prints what it
// did: site class bytes objects. Sizes are those of a 64-bit JVM with compressed class pointers and objects aligned to
// 8 bytes.
//
// Arguments: threads, rounds (a multiple of 20), and "small" if no object shall be so large that it may be allocated
// outside of a thread's buffer.
public final class KnownAllocation {
    static final class Small { int a; }                                  // 16 bytes
    static final class Medium { long a, b, c, d, e; int f; }             // 56 bytes
    static final class Escapes { long a, b, c; Escapes(long x) { a = x; } }

    static volatile Object sink;
    static volatile long number;


    static void small(int n) { for (int i = 0; i < n; i++) sink = new Small(); }
    static void medium(int n) { for (int i = 0; i < n; i++) sink = new Medium(); }
    static void arrays1k(int n) { for (int i = 0; i < n; i++) sink = new byte[1024 - 16]; }
    static void arrays20k(int n) { for (int i = 0; i < n; i++) sink = new long[20 * 128 - 2]; }
    static void arrays100k(int n) { for (int i = 0; i < n; i++) sink = new byte[100 * 1024 - 16]; }
    static void arrays1m(int n) { for (int i = 0; i < n; i++) sink = new char[(1 << 19) - 8]; }
    static void arrays4m(int n) { for (int i = 0; i < n; i++) sink = new int[(1 << 20) - 4]; }

    // Two chains to one site.
    static void left(int n) { shared(n); }
    static void right(int n) { shared(3 * n); }
    static void shared(int n) { for (int i = 0; i < n; i++) sink = new short[248]; }  // 512 bytes

    // Escape analysis removes these objects once the method is compiled.
    static long replaced(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            Escapes e = new Escapes(i);
            sum += e.a + e.b;
        }
        return sum;
    }

    static final int ROUND_SMALL = 12_000, ROUND_MEDIUM = 3_500, ROUND_1K = 190, ROUND_20K = 10, ROUND_100K = 2,
                     ROUND_SHARED = 100;

    static void rounds(int n, boolean large) {
        for (int i = 0; i < n; i++) {
            small(ROUND_SMALL);
            medium(ROUND_MEDIUM);
            arrays1k(ROUND_1K);
            if (large) {
                arrays20k(ROUND_20K);
                arrays100k(ROUND_100K);
                if (i % 5 == 0) arrays1m(1);
                if (i % 20 == 0) arrays4m(1);
            }
            left(ROUND_SHARED);
            right(ROUND_SHARED);
        }
    }

    static void say(String site, String type, long size, long objects) {
        System.out.println("truth KnownAllocation." + site + " " + type + " " + size * objects + " " + objects);
    }

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int n = Integer.parseInt(arguments[1]);
        boolean large = arguments.length == 2;
        // Compiled before anybody looks: interpreted, it does allocate.
        for (int i = 0; i < 300; i++) number += replaced(10_000);
        System.out.println("READY");
        System.out.flush();
        System.in.read();  // until the test has attached
        CountDownLatch done = new CountDownLatch(threads);
        for (int t = 0; t < threads; t++) {
            new Thread(() -> {
                rounds(n, large);
                done.countDown();
            }, "allocator-" + t).start();
        }
        done.await();
        for (int i = 0; i < 200; i++) number += replaced(100_000);
        long all = (long) threads * n;
        say("small", "KnownAllocation$Small", 16, all * ROUND_SMALL);
        say("medium", "KnownAllocation$Medium", 56, all * ROUND_MEDIUM);
        say("arrays1k", "byte[]", 1024, all * ROUND_1K);
        say("shared", "short[]", 512, all * 4 * ROUND_SHARED);
        if (large) {
            say("arrays20k", "long[]", 20 * 1024, all * ROUND_20K);
            say("arrays100k", "byte[]", 100 * 1024, all * ROUND_100K);
            say("arrays1m", "char[]", 1 << 20, all / 5);
            say("arrays4m", "int[]", 4 << 20, all / 20);
        }
        System.out.println("DONE");
    }
}
