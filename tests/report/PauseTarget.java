/** Makes garbage, and asks for a few collections: the JVM has to pause. */
public class PauseTarget {
  static volatile Object sink;

  public static void main(String[] arguments) throws Exception {
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 200_000; ++i) sink = new byte[1 + i % 1000];
      System.gc();
      Thread.sleep(20);
    }
  }
}
