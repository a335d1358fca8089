/**
 * Nearly all of its time goes into a loop without a safepoint poll (compiled by C2, with the serial collector); the first
 * poll after it is in another method, which takes next to no time. It measures both by a clock that is read without a poll:
 * the truth is the shortest time of each, which is that of a turn that nobody has stopped.
 *
 * Burns as many seconds as its argument says, then prints "truth {..}". In the last three quarters of that time, under
 * measure(), all is compiled. Needs the options of test_safepoint_engine.py: hot is inlined, cold is not.
 */
public final class NoPolls {
    private static final int[] DATA = new int[4096];
    private static final int SIZE = 500_000; // some 0.4 ms
    private static final long FEW = 4_000;
    static long sink;
    private static long hotTime = Long.MAX_VALUE, coldTime = Long.MAX_VALUE;

    public static void main(String[] args) {
        long start = System.nanoTime(), duration = Long.parseLong(args[0]) * 1_000_000_000L;
        while (System.nanoTime() - start < duration / 4) {
            warmUp();
        }
        while (System.nanoTime() - start < duration) {
            measure();
        }
        System.out.println("truth {\"hot\": " + hotTime + ", \"cold\": " + coldTime + "}");
    }

    private static void warmUp() {
        round(SIZE, FEW);
        hotTime = coldTime = Long.MAX_VALUE;
    }

    /** A caller of its own: what was compiled, and how, is told apart by it. */
    private static void measure() {
        round(SIZE, FEW);
    }

    private static void round(int size, long few) {
        long begin = System.nanoTime();
        sink += hot(size);
        long between = System.nanoTime();
        sink += cold(few);
        hotTime = Math.min(hotTime, between - begin);
        coldTime = Math.min(coldTime, System.nanoTime() - between);
    }

    /** A counted int loop: no poll in it. */
    private static int hot(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum = sum * 31 + (DATA[i & 4095] ^ i);
        }
        return sum;
    }

    /** A loop that C2 can't count: a poll in every turn. */
    private static long cold(long n) {
        long x = sink | 1;
        for (long i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
