import java.util.function.LongUnaryOperator;

/** Loaded by ClassChurn again and again, each time by a loader that is thrown away. */
public final class Churned implements LongUnaryOperator {
    @Override
    public long applyAsLong(long x) {
        LongUnaryOperator lambda = y -> spin(y) + 1;
        return lambda.applyAsLong(x);
    }

    static long spin(long x) {
        for (int i = 0; i < 60_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }
}
