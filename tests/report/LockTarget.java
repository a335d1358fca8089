import java.util.concurrent.locks.ReentrantLock;

/** Four threads that want a monitor and a lock. One of them has a name that a spreadsheet would run. */
public final class LockTarget {
  private static final Object MONITOR = new Object();
  private static final ReentrantLock LOCK = new ReentrantLock();

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void monitor() {
    synchronized (MONITOR) {
      sleep(2);
    }
  }

  static void lock() {
    LOCK.lock();
    try {
      sleep(2);
    } finally {
      LOCK.unlock();
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Thread[] threads = new Thread[4];
    for (int i = 0; i < threads.length; ++i) {
      String name = i == 0 ? "=1+\"1\",2" : "worker-" + i;
      threads[i] = new Thread(() -> {
        for (int round = 0; round < 50; ++round) {
          monitor();
          lock();
        }
      }, name);
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
  }
}
