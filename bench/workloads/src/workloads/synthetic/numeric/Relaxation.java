package workloads.synthetic.numeric;

import workloads.support.Check;

/** The heat in a square plate whose left edge is hot, by successive over-relaxation. */
public final class Relaxation {
    private static final double OMEGA = 1.6;

    private Relaxation() {}

    /** The heat in the middle. No point may become hotter than the hottest edge or colder than the coldest, in the end. */
    public static double relax(int size, int sweeps) {
        double[][] plate = new double[size][size];
        for (double[] row : plate) {
            row[0] = 100;
        }
        double first = sweep(plate);
        double last = first;
        for (int i = 1; i < sweeps; i++) {
            last = sweep(plate);
        }
        Check.that(sweeps < 10 || last < first / 2, "it does not converge");
        for (double[] row : plate) {
            for (double heat : row) {
                Check.near(50, heat, 50 + 1e-9);
            }
        }
        return plate[size / 2][size / 4];
    }

    /** The largest change. */
    private static double sweep(double[][] plate) {
        double largest = 0;
        for (int y = 1; y < plate.length - 1; y++) {
            double[] above = plate[y - 1];
            double[] row = plate[y];
            double[] below = plate[y + 1];
            for (int x = 1; x < row.length - 1; x++) {
                double change = OMEGA * ((above[x] + below[x] + row[x - 1] + row[x + 1]) / 4 - row[x]);
                row[x] += change;
                largest = Math.max(largest, Math.abs(change));
            }
        }
        return largest;
    }
}
