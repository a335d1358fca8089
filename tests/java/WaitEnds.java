import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Threads that wait and park, each ended in the way that its name tells, time and again. Words: stop. */
public final class WaitEnds {
    private static final Object PARKED_ON = new Object();
    private static volatile boolean stop;

    public static void main(String[] args) throws Exception {
        Thread unparked = thread("unparked", () -> LockSupport.park(PARKED_ON));
        Thread interrupted = thread("interrupted", () -> {
            LockSupport.park(PARKED_ON);
            Thread.interrupted();
        });
        Thread late = thread("park-timeout", () -> LockSupport.parkNanos(PARKED_ON, 5_000_000));
        Thread deadline = thread("park-deadline", () -> LockSupport.parkUntil(PARKED_ON, System.currentTimeMillis() + 5));
        Object notifiedOn = new Object(), lateOn = new Object();
        Thread notified = thread("notified", () -> await(notifiedOn, 0));
        Thread waitTimeout = thread("wait-timeout", () -> await(lateOn, 5));
        Thread notifier = thread("notifier", () -> {
            LockSupport.parkNanos(3_000_000);
            LockSupport.unpark(unparked);
            interrupted.interrupt();
            synchronized (notifiedOn) {
                notifiedOn.notify();
            }
        });
        Thread[] all = {unparked, interrupted, late, deadline, notified, waitTimeout, notifier};
        for (Thread thread : all) thread.start();
        Map<String, Callable<String>> words = new HashMap<>();
        words.put("stop", () -> {
            stop = true;
            for (Thread thread : all) {
                LockSupport.unpark(thread);
                thread.interrupt();
            }
            return "stopped";
        });
        Commands.serve(words);
    }

    private static void await(Object object, long millis) {
        synchronized (object) {
            try {
                object.wait(millis);
            } catch (InterruptedException e) {
                stop = true;
            }
        }
    }

    private static Thread thread(String name, Runnable wait) {
        return new Thread(() -> {
            while (!stop) wait.run();
        }, name);
    }
}
