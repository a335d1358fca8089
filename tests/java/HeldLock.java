import java.util.Scanner;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The main thread holds a lock all the time. After READY, each "wait" makes a thread wait for it, until "stop".
 */
public final class HeldLock {
    private static final ReentrantLock LOCK = new ReentrantLock();

    public static void main(String[] args) {
        LOCK.lock();
        System.out.println("READY");
        Scanner input = new Scanner(System.in);
        while (input.hasNextLine() && !input.nextLine().equals("stop")) {
            Thread waiter = new Thread(LOCK::lock, "waiter");
            waiter.setDaemon(true);
            waiter.start();
            while (!LOCK.hasQueuedThread(waiter) || waiter.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
            System.out.println("wait begun");
        }
    }
}
