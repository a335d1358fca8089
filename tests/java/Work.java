/**
 * Three kinds of work whose CPU time is known from outside. KnownAnswer loads this class once more through a second
 * loader to have the same methods compiled anew.
 */
public final class Work implements java.util.function.LongBinaryOperator {
    private static final int[] DATA = new int[4096];
    static long sink;

    /** Called by KnownAnswer, across class loaders: does a block of work of that kind. */
    @Override
    public long applyAsLong(long kind, long size) {
        return sink += kind == 0 ? seventy((int) size) : kind == 1 ? twenty((int) size) : ten(size);
    }

    /** A counted int loop: with the serial collector C2 puts no safepoint poll into it. */
    static int seventy(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum = sum * 31 + (DATA[i & 4095] ^ i);
        }
        return sum;
    }

    /** The outer loop costs next to nothing, the leaf nearly all, and C2 inlines the leaf. */
    static long twenty(int n) {
        long x = sink;
        for (int i = 0; i < n; i++) {
            x = leaf(x + i, 400);
        }
        return x;
    }

    /**
     * Long enough that hardly an interrupt meant for it is taken in the caller: processors take interrupts some
     * instructions late, and not evenly (a straight-line leaf of 36 instructions lost a third of its samples that way).
     */
    static long leaf(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x = (x ^ x >>> 31) * 0x7fb5d329728ea185L;
        }
        return x;
    }

    /** A loop that C2 can't count, with polls. */
    static long ten(long n) {
        long x = sink | 1;
        for (long i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
