import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Actors in a ring, each of which waits until the one before it hands over a token, of which there are fewer than actors: as
 * many short waits as the machine can do. Beside them threads that sleep for 2, 20 and 100 ms, again and again.
 *
 * HandOvers ACTORS TOKENS MILLIS: prints "truth {thread: account}" and ends; `wall` and `rounds` are those of the sleeps.
 */
public final class HandOvers {
    private static final Map<String, String> truth = new ConcurrentHashMap<>();
    private static volatile boolean over;

    private static final class Actor extends Thread {
        private volatile int tokens;
        private Actor next;

        Actor(int number) {
            super("actor-" + number);
        }

        private synchronized void receive() {
            tokens++;
        }

        private synchronized boolean take() {
            if (tokens == 0) return false;
            tokens--;
            return true;
        }

        @Override
        public void run() {
            while (!over) {
                if (!take()) {
                    awaitsToken();
                    continue;
                }
                next.receive();
                LockSupport.unpark(next);
            }
            LockSupport.unpark(next);
            tell(0, 0);
        }

        void awaitsToken() {
            while (tokens == 0 && !over) LockSupport.park();
        }
    }

    public static void main(String[] args) throws Exception {
        OwnAccount.all(); // nobody has to wait until this is loaded
        Actor[] actors = new Actor[Integer.parseInt(args[0])];
        for (int i = 0; i < actors.length; i++) actors[i] = new Actor(i);
        for (int i = 0; i < actors.length; i++) actors[i].next = actors[(i + 1) % actors.length];
        for (int i = Integer.parseInt(args[1]); i > 0; i--) actors[i % actors.length].receive();
        int[] lengths = {2, 20, 100};
        Thread[] sleepers = new Thread[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            int length = lengths[i];
            sleepers[i] = new Thread(() -> sleepsOften(length), "sleeps-" + length);
        }
        for (Thread thread : actors) thread.start();
        for (Thread thread : sleepers) thread.start();
        Thread.sleep(Long.parseLong(args[2]));
        over = true;
        for (Actor actor : actors) LockSupport.unpark(actor);
        for (Thread thread : actors) thread.join();
        for (Thread thread : sleepers) thread.join();
        System.out.println("truth " + OwnAccount.json(new TreeMap<>(truth)));
    }

    private static void tell(long slept, long rounds) {
        Map<String, Long> account = OwnAccount.all();
        account.put("wall", slept);
        account.put("rounds", rounds);
        truth.put(Thread.currentThread().getName(), OwnAccount.json(account));
    }

    private static void sleepsOften(int length) {
        long wall = 0;
        long rounds = 0;
        try {
            for (; !over; rounds++) {
                long began = System.nanoTime();
                Thread.sleep(length);
                wall += System.nanoTime() - began;
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        tell(wall, rounds);
    }
}
