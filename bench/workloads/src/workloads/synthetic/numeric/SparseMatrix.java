package workloads.synthetic.numeric;

import java.util.Arrays;
import java.util.SplittableRandom;
import workloads.support.Check;

/** Rows of a few entries each, at random places, one after the other in two arrays. */
public final class SparseMatrix {
    private final double[] entries;
    private final int[] columns;
    private final int[] rowBegins;

    private SparseMatrix(SplittableRandom random, int size, int perRow) {
        entries = new double[size * perRow];
        columns = new int[size * perRow];
        rowBegins = new int[size + 1];
        for (int row = 0; row < size; row++) {
            double sum = 0;
            int begin = row * perRow;
            for (int i = begin; i < begin + perRow; i++) {
                columns[i] = random.nextInt(size);
                entries[i] = random.nextDouble();
                sum += entries[i];
            }
            for (int i = begin; i < begin + perRow; i++) {
                entries[i] /= sum;
            }
            rowBegins[row + 1] = begin + perRow;
        }
    }

    /** Rows add up to 1, so a vector of equal numbers must stay one, and any other can only become more even. */
    public static double multiplyRepeatedly(SplittableRandom random, int size, int perRow, int times) {
        SparseMatrix matrix = new SparseMatrix(random, size, perRow);
        double[] equal = new double[size];
        Arrays.fill(equal, 1);
        double[] any = random.doubles(size).toArray();
        double range = range(any);
        double[] next = new double[size];
        for (int i = 0; i < times; i++) {
            matrix.multiply(any, next);
            double[] held = any;
            any = next;
            next = held;
            double now = range(any);
            Check.that(now <= range + 1e-12, "averages differ more than what they are made of");
            range = now;
        }
        matrix.multiply(equal, next);
        for (double one : next) {
            Check.near(1, one, 1e-12);
        }
        return any[0];
    }

    private void multiply(double[] vector, double[] product) {
        for (int row = 0; row < product.length; row++) {
            double sum = 0;
            for (int i = rowBegins[row]; i < rowBegins[row + 1]; i++) {
                sum += entries[i] * vector[columns[i]];
            }
            product[row] = sum;
        }
    }

    private static double range(double[] values) {
        double least = values[0];
        double most = values[0];
        for (double value : values) {
            least = Math.min(least, value);
            most = Math.max(most, value);
        }
        return most - least;
    }
}
