/**
 * Three kinds of work whose CPU time is known from outside. KnownAnswer loads this class once more through a second
 * loader to have the same methods compiled anew.
 */
public final class Work implements java.util.function.LongUnaryOperator {
    private static final int[] DATA = new int[4096];
    static long sink;

    /** Called by KnownAnswer, across class loaders: does one block of work number `kind`. */
    @Override
    public long applyAsLong(long kind) {
        return sink += kind == 0 ? seventy() : kind == 1 ? twenty() : ten();
    }

    /** A counted int loop: with the serial collector C2 puts no safepoint poll into it. */
    static int seventy() {
        int sum = 0;
        for (int i = 0; i < 400_000; i++) {
            sum = sum * 31 + (DATA[i & 4095] ^ i);
        }
        return sum;
    }

    /** The loop costs next to nothing, the leaf nearly all, and C2 inlines the leaf. */
    static long twenty() {
        long x = sink;
        for (int i = 0; i < 12_000; i++) {
            x = leaf(x + i);
        }
        return x;
    }

    /** Straight-line code of some 45 ns: short enough in bytecodes to be inlined when hot. */
    static long leaf(long x) {
        x = (x ^ x >>> 31) * 0x7fb5d329728ea185L;
        x = (x ^ x >>> 27) * 0x81dadef4bc2dd44dL;
        x = (x ^ x >>> 33) * 0x7fb5d329728ea185L;
        x = (x ^ x >>> 29) * 0x81dadef4bc2dd44dL;
        x = (x ^ x >>> 31) * 0x7fb5d329728ea185L;
        x = (x ^ x >>> 27) * 0x81dadef4bc2dd44dL;
        x = (x ^ x >>> 33) * 0x7fb5d329728ea185L;
        x = (x ^ x >>> 29) * 0x81dadef4bc2dd44dL;
        x = (x ^ x >>> 31) * 0x7fb5d329728ea185L;
        x = (x ^ x >>> 27) * 0x81dadef4bc2dd44dL;
        x = (x ^ x >>> 33) * 0x7fb5d329728ea185L;
        x = (x ^ x >>> 29) * 0x81dadef4bc2dd44dL;
        return x ^ x >>> 32;
    }

    /** A loop that C2 can't count, with polls. */
    static long ten() {
        long x = sink | 1;
        for (long i = 0; i < 300_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
