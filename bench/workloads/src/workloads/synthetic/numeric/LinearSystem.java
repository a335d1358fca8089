package workloads.synthetic.numeric;

import java.util.SplittableRandom;
import workloads.support.Check;

/** Solves dense systems of linear equations by LU decomposition with partial pivoting. */
public final class LinearSystem {
    private LinearSystem() {}

    /** Systems whose solutions are known; returns an element of the last one found. */
    public static double solve(SplittableRandom random, int size, int systems) {
        double found = 0;
        for (int system = 0; system < systems; system++) {
            double[][] matrix = new double[size][];
            double[] known = random.doubles(size).toArray();
            double[] right = new double[size];
            for (int row = 0; row < size; row++) {
                matrix[row] = random.doubles(size).toArray();
                for (int column = 0; column < size; column++) {
                    right[row] += matrix[row][column] * known[column];
                }
            }
            factor(matrix, right);
            double[] solution = substituteBack(matrix, substituteForward(matrix, right));
            for (int i = 0; i < size; i++) {
                Check.near(known[i], solution[i], 1e-6);
            }
            found = solution[0];
        }
        return found;
    }

    /** Leaves L below the diagonal and U above; rows of `right` are exchanged alike. */
    private static void factor(double[][] matrix, double[] right) {
        int size = matrix.length;
        for (int step = 0; step < size; step++) {
            int pivot = pivotRow(matrix, step);
            double[] row = matrix[pivot];
            matrix[pivot] = matrix[step];
            matrix[step] = row;
            double value = right[pivot];
            right[pivot] = right[step];
            right[step] = value;
            for (int below = step + 1; below < size; below++) {
                double factor = matrix[below][step] / row[step];
                matrix[below][step] = factor;
                subtract(matrix[below], row, factor, step + 1);
            }
        }
    }

    private static int pivotRow(double[][] matrix, int step) {
        int best = step;
        for (int row = step + 1; row < matrix.length; row++) {
            if (Math.abs(matrix[row][step]) > Math.abs(matrix[best][step])) {
                best = row;
            }
        }
        return best;
    }

    private static void subtract(double[] from, double[] row, double factor, int begin) {
        for (int column = begin; column < from.length; column++) {
            from[column] -= factor * row[column];
        }
    }

    private static double[] substituteForward(double[][] matrix, double[] right) {
        double[] result = right.clone();
        for (int row = 0; row < result.length; row++) {
            for (int column = 0; column < row; column++) {
                result[row] -= matrix[row][column] * result[column];
            }
        }
        return result;
    }

    private static double[] substituteBack(double[][] matrix, double[] right) {
        double[] result = right.clone();
        for (int row = result.length - 1; row >= 0; row--) {
            for (int column = row + 1; column < result.length; column++) {
                result[row] -= matrix[row][column] * result[column];
            }
            result[row] /= matrix[row][row];
        }
        return result;
    }
}
