package workloads.synthetic.numeric;

import java.util.SplittableRandom;
import workloads.support.Check;

/** Complex numbers in two arrays, transformed in place: radix 2, decimation in time. */
public final class FourierTransform {
    private FourierTransform() {}

    /** Transforms random numbers and transforms them back, again and again; they must come back. */
    public static double thereAndBack(SplittableRandom random, int size, int times) {
        double[] real = new double[size];
        double[] imaginary = new double[size];
        for (int i = 0; i < size; i++) {
            real[i] = random.nextDouble() - 0.5;
            imaginary[i] = random.nextDouble() - 0.5;
        }
        double[] before = real.clone();
        double energy = energy(real, imaginary);
        for (int i = 0; i < times; i++) {
            transform(real, imaginary, -1);
            Check.near(energy, energy(real, imaginary) / size, 1e-6 * energy); // Parseval
            transform(real, imaginary, 1);
            scale(real, imaginary, 1.0 / size);
        }
        for (int i = 0; i < size; i++) {
            Check.near(before[i], real[i], 1e-9);
        }
        return real[1];
    }

    private static void transform(double[] real, double[] imaginary, int sign) {
        int size = real.length;
        reverseBits(real, imaginary);
        for (int half = 1; half < size; half *= 2) {
            double angle = sign * Math.PI / half;
            for (int k = 0; k < half; k++) {
                butterflies(real, imaginary, k, half, Math.cos(angle * k), Math.sin(angle * k));
            }
        }
    }

    private static void butterflies(double[] real, double[] imaginary, int first, int half, double cos, double sin) {
        for (int low = first; low < real.length; low += 2 * half) {
            int high = low + half;
            double r = real[high] * cos - imaginary[high] * sin;
            double i = real[high] * sin + imaginary[high] * cos;
            real[high] = real[low] - r;
            imaginary[high] = imaginary[low] - i;
            real[low] += r;
            imaginary[low] += i;
        }
    }

    private static void reverseBits(double[] real, double[] imaginary) {
        int shift = 32 - Integer.numberOfTrailingZeros(real.length);
        for (int i = 0; i < real.length; i++) {
            int j = Integer.reverse(i) >>> shift;
            if (i < j) {
                swap(real, i, j);
                swap(imaginary, i, j);
            }
        }
    }

    private static void swap(double[] values, int i, int j) {
        double held = values[i];
        values[i] = values[j];
        values[j] = held;
    }

    private static void scale(double[] real, double[] imaginary, double factor) {
        for (int i = 0; i < real.length; i++) {
            real[i] *= factor;
            imaginary[i] *= factor;
        }
    }

    private static double energy(double[] real, double[] imaginary) {
        double sum = 0;
        for (int i = 0; i < real.length; i++) {
            sum += real[i] * real[i] + imaginary[i] * imaginary[i];
        }
        return sum;
    }
}
