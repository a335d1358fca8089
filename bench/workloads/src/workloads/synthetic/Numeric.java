package workloads.synthetic;

import java.util.SplittableRandom;
import workloads.Workload;
import workloads.support.Check;
import workloads.support.Settings;
import workloads.synthetic.numeric.FourierTransform;
import workloads.synthetic.numeric.LinearSystem;
import workloads.synthetic.numeric.MonteCarlo;
import workloads.synthetic.numeric.Relaxation;
import workloads.synthetic.numeric.SparseMatrix;

/**
 * Loops over arrays of doubles in one thread, as scimark has them: a fast Fourier transform, successive over-relaxation,
 * a Monte Carlo integral, products with a sparse matrix, and an LU decomposition. Each checks its own result by what
 * mathematics says of it.
 */
public final class Numeric implements Workload {
    private static final int TRANSFORMS = Settings.scaled(40);
    private static final int SWEEPS = Settings.scaled(150);
    private static final int POINTS = Settings.scaled(8_000_000);
    private static final int PRODUCTS = Settings.scaled(120);
    private static final int SYSTEMS = Settings.scaled(10);

    private final Check check = new Check();

    @Override
    public void setup() {}

    @Override
    public void iterate() {
        SplittableRandom random = new SplittableRandom(11);
        long sum = Double.doubleToLongBits(FourierTransform.thereAndBack(random, 1 << 14, TRANSFORMS));
        sum = 31 * sum + Double.doubleToLongBits(Relaxation.relax(400, SWEEPS));
        sum = 31 * sum + MonteCarlo.pointsInCircle(random, POINTS);
        sum = 31 * sum + Double.doubleToLongBits(SparseMatrix.multiplyRepeatedly(random, 20_000, 12, PRODUCTS));
        sum = 31 * sum + Double.doubleToLongBits(LinearSystem.solve(random, 260, SYSTEMS));
        check.sameAsFirst(sum);
    }
}
