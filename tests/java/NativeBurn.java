import java.util.Locale;

/**
 * Burns CPU time in C code two calls deep, in C++ code, and in Java code that C code has called, each for a part that it
 * measures itself. The functions are those of tests/integration/native_burn.c and native_names.cpp.
 */
final class NativeBurn {
    private NativeBurn() {}

    /** Calls burnOuter, which calls burnInner. Returns the thread's CPU time that it took, in ns. */
    static native long burnInC(long nanos);

    /** Calls a member of a template in an unnamed namespace. */
    static native long burnInCpp(long nanos);

    /** Calls callBack, which calls burnInJava. */
    static native long burnBehindC(long nanos);

    /** A function that nothing tells how to leave calls the one that burns. */
    static native long burnBehindUnknown(long nanos);

    static native long cpuTime();

    static long sink;

    static void burnInJava(long until) {
        long x = sink;
        while (cpuTime() < until) {
            for (int i = 0; i < 20000; i++) {
                x = (x ^ x >>> 31) * 0x7fb5d329728ea185L;
            }
        }
        sink = x;
    }

    /** Arguments: the two libraries, and the seconds of CPU time. */
    public static void main(String[] args) {
        System.load(args[0]);
        System.load(args[1]);
        final long end = cpuTime() + (long) (Double.parseDouble(args[2]) * 1e9);
        long[] spent = new long[4];
        while (cpuTime() < end) {
            spent[0] += burnInC(20_000_000);
            spent[1] += burnInCpp(10_000_000);
            spent[2] += burnBehindC(15_000_000);
            spent[3] += burnBehindUnknown(5_000_000);
        }
        System.out.println(String.format(Locale.ROOT,
            "truth {\"c\": %d, \"cpp\": %d, \"java\": %d, \"unknown\": %d}", spent[0], spent[1], spent[2], spent[3]));
    }
}
