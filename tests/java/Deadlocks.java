import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for one another for ever, or nearly so, and that say so themselves.
 *
 * <pre>Deadlocks KIND COUNT [later | churn]</pre>
 *
 * KIND is monitors, locks or mixed: a cycle of COUNT threads, each of which holds one lock and wants the next one's; or
 * notified: a cycle of two, of which one wants a monitor back in which it has waited and was notified. Or
 * one of the near misses: chain (the last thread waits for nobody), timed (a cycle whose last wait has an end), semaphore
 * (a thread that waits for a permit that it holds itself), hostile (a cycle of two threads whose names look like parts of
 * a thread dump), hot (COUNT threads that take locks of their neighbours' in turn, as fast as they can, and never two that
 * could be a circle). With "later" it waits for a line on stdin before it begins; with "churn" another thread makes
 * garbage, so that objects move.
 *
 * Prints one line "EDGE thread|class|identity|owner" for each wait that is part of a deadlock, as the program itself sees
 * it, then READY; and ends when stdin does.
 */
public class Deadlocks {
    /** What a thread can hold and another one can want. */
    interface Lockable {
        void hold(Runnable inside);
        /** Has the thread got as far as to wait for it? On its way it may wait for other things: classes are loaded. */
        boolean isWaitedForBy(Thread thread);
        /** What such a thread waits for, as the JVM sees it. */
        Object of(Thread waiting);
    }

    static final class Monitor implements Lockable {
        private final Object object = new Object();
        @Override public void hold(Runnable inside) {
            synchronized (object) {
                inside.run();
            }
        }
        @Override public boolean isWaitedForBy(Thread thread) {
            LockInfo lock = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId()).getLockInfo();
            return thread.getState() == Thread.State.BLOCKED && lock != null
                && lock.getIdentityHashCode() == System.identityHashCode(object);
        }
        @Override public Object of(Thread waiting) {
            return object;
        }
    }

    static final class Lock implements Lockable {
        private final ReentrantLock lock = new ReentrantLock();
        private final boolean timed;
        Lock(boolean timed) {
            this.timed = timed;
        }
        @Override public void hold(Runnable inside) {
            if (!timed || !lock.tryLock()) acquire();
            try {
                inside.run();
            } finally {
                lock.unlock();
            }
        }
        private void acquire() {
            if (!timed) {
                lock.lock();
                return;
            }
            try {
                lock.tryLock(1, TimeUnit.DAYS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        @Override public boolean isWaitedForBy(Thread thread) {
            return lock.hasQueuedThread(thread) && isParked(thread);
        }
        @Override public Object of(Thread waiting) {
            return LockSupport.getBlocker(waiting);
        }
    }

    private static final String[] HOSTILE = {
        "\" #99 prio=5 os_prio=0 tid=0x1 nid=0x1 runnable",
        "two\nlines\n\tat fake.Frame.run(Fake.java:1)\n\t- locked <0x00000000deadbeef> (a fake.Lock)\n\"other\" #1\n"
            + "\u001b[31m\u00e4\u65e5\ud83d\ude00",
    };

    private static Lockable lock(String kind, int number, int count) {
        switch (kind) {
            case "monitors":
            case "hostile":
                return new Monitor();
            case "mixed":
                return number % 2 == 0 ? new Monitor() : new Lock(false);
            default:
                return new Lock(kind.equals("timed") && number == 0);
        }
    }

    private static boolean isParked(Thread thread) {
        Thread.State state = thread.getState();
        return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
            && LockSupport.getBlocker(thread) != null;
    }

    private static void await(CyclicBarrier all) {
        try {
            all.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void cycle(String kind, int count) throws Exception {
        boolean closed = !kind.equals("chain");
        List<Lockable> locks = new ArrayList<>();
        for (int i = 0; i < count; i++) locks.add(lock(kind, i, count));
        CyclicBarrier all = new CyclicBarrier(count);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int own = i;
            int next = (i + 1) % count;
            threads.add(daemon(kind.equals("hostile") ? HOSTILE[i] : "worker-" + i, () -> locks.get(own).hold(() -> {
                await(all);
                if (next != 0 || closed) wantNext(locks.get(next));
                else sleepForEver();
            })));
        }
        for (int i = 0; i < count; i++) {
            Thread thread = threads.get(i);
            boolean sleeps = i == count - 1 && !closed;
            Lockable wanted = locks.get((i + 1) % count);
            while (!(sleeps ? thread.getState() == Thread.State.TIMED_WAITING : wanted.isWaitedForBy(thread))) {
                Thread.sleep(5);
            }
        }
        if (!closed || kind.equals("timed")) return;
        for (int i = 0; i < count; i++) {
            printEdge(threads.get(i), locks.get((i + 1) % count).of(threads.get(i)), threads.get((i + 1) % count));
        }
    }

    private static void printEdge(Thread waiting, Object wanted, Thread owner) {
        System.out.println("EDGE " + waiting.getName().replace("\n", "\\n") + "|" + wanted.getClass().getName() + "|"
            + Integer.toHexString(System.identityHashCode(wanted)) + "|" + owner.getName().replace("\n", "\\n"));
    }

    private static void notified() throws Exception {
        Monitor held = new Monitor();
        Monitor waitedIn = new Monitor();
        Thread waits = daemon("worker-0", () -> held.hold(() -> waitedIn.hold(() -> {
            try {
                waitedIn.object.wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        })));
        while (waits.getState() != Thread.State.WAITING) Thread.sleep(5);
        Thread notifies = daemon("worker-1", () -> waitedIn.hold(() -> {
            waitedIn.object.notify();
            wantNext(held);
        }));
        while (!held.isWaitedForBy(notifies) || waits.getState() != Thread.State.BLOCKED) Thread.sleep(5);
        printEdge(waits, waitedIn.object, notifies);
        printEdge(notifies, held.object, waits);
    }

    private static void wantNext(Lockable lock) {
        lock.hold(() -> { });
    }

    private static void sleepForEver() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void semaphore() throws Exception {
        Semaphore one = new Semaphore(1);
        Thread thread = daemon("worker-0", () -> {
            one.acquireUninterruptibly();
            one.acquireUninterruptibly();
        });
        while (!(one.hasQueuedThreads() && isParked(thread))) Thread.sleep(5);
    }

    /** Each wants what its neighbours have, but holds nothing meanwhile that they could want: there is always one to go on. */
    private static void hot(int count) {
        List<Lockable> locks = new ArrayList<>();
        for (int i = 0; i < count; i++) locks.add(lock("mixed", i, count));
        for (int i = 0; i < count; i++) {
            int first = i;
            int second = (i + 1) % count;
            daemon("worker-" + i, () -> {
                while (true) {
                    locks.get(first).hold(Thread::yield);
                    locks.get(second).hold(Thread::yield);
                    locks.get(Math.min(first, second)).hold(() -> locks.get(Math.max(first, second)).hold(Thread::yield));
                }
            });
        }
    }

    private static Object garbage;

    private static void churn() {
        while (true) {
            List<byte[]> some = new ArrayList<>();
            for (int i = 0; i < 1000; i++) some.add(new byte[1000]);
            garbage = some;
        }
    }

    private static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 2 && args[2].equals("churn")) daemon("churn", Deadlocks::churn);
        if (args.length > 2 && args[2].equals("later")) {
            System.out.println("WAITING");
            System.in.read();
        }
        if (args[0].equals("semaphore")) semaphore();
        else if (args[0].equals("notified")) notified();
        else if (args[0].equals("hot")) hot(Integer.parseInt(args[1]));
        else cycle(args[0], Integer.parseInt(args[1]));
        System.out.println("READY");
        while (System.in.read() >= 0) { }
    }
}
