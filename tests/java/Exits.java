/**
 * Ends in the way its first argument names: return, exit (with code 7) or throw. After a second and a half of work, or
 * with a second argument when a line comes in ("when-told") or after a quarter of a second ("soon").
 */
public final class Exits {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        System.out.println("begin");
        String when = args.length > 1 ? args[1] : "";
        long end = System.nanoTime() + (when.equals("soon") ? 250_000_000L : 1_500_000_000L);
        while (when.equals("when-told") ? System.in.available() == 0 : System.nanoTime() < end) {
            sink += work(sink);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        System.out.println("end");
        switch (args[0]) {
            case "return":
                return;
            case "exit":
                System.exit(7);
                return;
            case "throw":
                throw new IllegalStateException("as asked");
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    private static long work(long x) {
        for (int i = 0; i < 100_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }
}
