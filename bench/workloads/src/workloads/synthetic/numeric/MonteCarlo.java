package workloads.synthetic.numeric;

import java.util.SplittableRandom;
import workloads.support.Check;

/** The area of a quarter of the unit circle, by random points. */
public final class MonteCarlo {
    private MonteCarlo() {}

    public static long pointsInCircle(SplittableRandom random, int points) {
        long inside = 0;
        for (int i = 0; i < points; i++) {
            if (isInside(random.nextDouble(), random.nextDouble())) {
                inside++;
            }
        }
        Check.near(Math.PI, 4.0 * inside / points, 10 / Math.sqrt(points));
        return inside;
    }

    private static boolean isInside(double x, double y) {
        return x * x + y * y <= 1;
    }
}
