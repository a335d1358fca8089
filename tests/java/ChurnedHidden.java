import java.util.function.LongUnaryOperator;

/** As Churned, to be a hidden class (15 and later); without a lambda, since that would look for its class by name. */
public final class ChurnedHidden implements LongUnaryOperator {
    @Override
    public long applyAsLong(long x) {
        for (int i = 0; i < 60_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }
}
