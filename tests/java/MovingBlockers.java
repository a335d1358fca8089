import java.util.concurrent.locks.LockSupport;

/**
 * Threads park on objects that the collector moves, and on new ones where others have been: MovingBlockers ROUNDS EACH,
 * where each is parked on in so many rounds. Says how often they parked on objects of each class.
 */
public class MovingBlockers {
    static class A { long[] room = new long[1]; }
    static class B { long[] room = new long[1]; }
    static class C { long[] room = new long[1]; }
    static class D { long[] room = new long[1]; }
    static class E { long[] room = new long[1]; }

    private static final int THREADS = 4, KEPT = 3;
    private static final long[][] parks = new long[THREADS][5];
    private static volatile Object garbage;

    private static Object blocker(int kind) {
        switch (kind) {
            case 0: return new A();
            case 1: return new B();
            case 2: return new C();
            case 3: return new D();
            default: return new E();
        }
    }

    private static void run(int thread, int rounds, int roundsOfOne) {
        Object[] blockers = new Object[KEPT];
        int[] kinds = new int[KEPT];
        int made = thread;
        for (int round = 0; round < rounds; ++round) {
            if (round % roundsOfOne == 0) {
                for (int i = 0; i < KEPT; ++i) {
                    kinds[i] = made++ % 5;
                    blockers[i] = blocker(kinds[i]);
                }
            }
            for (int i = 0; i < KEPT; ++i) {
                LockSupport.parkNanos(blockers[i], 20_000);
                ++parks[thread][kinds[i]];
                garbage = new byte[40_000];
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[0]), roundsOfOne = Integer.parseInt(args[1]);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; ++i) {
            int number = i;
            threads[i] = new Thread(() -> run(number, rounds, roundsOfOne), "parker-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        for (int kind = 0; kind < 5; ++kind) {
            long all = 0;
            for (long[] of : parks) all += of[kind];
            System.out.println("parks MovingBlockers$" + (char) ('A' + kind) + " " + all);
        }
    }
}
