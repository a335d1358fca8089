import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.Optional;

/**
 * C code that calls Java: qsort with a comparator that works, through java.lang.foreign (by reflection, since this is
 * compiled for 8 as well). Every sample in burn() must have sort() and main() below it, on the other side of the C code.
 *
 *   java Upcalls SECONDS
 */
public class Upcalls {
    static final int ELEMENTS = 64;
    static long sink;

    static long burn(long x) {
        for (int i = 0; i < 5_000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
            x ^= x >>> 17;
        }
        return x;
    }

    // All are equal: that is an order, too.
    static int compare(long left, long right) {
        sink += burn(left ^ right);
        return 0;
    }

    static void sort(MethodHandle qsort, long elements, long comparator) throws Throwable {
        qsort.invokeExact(elements, (long) ELEMENTS, 8L, comparator);
    }

    static Class<?> foreign(String name) throws Exception {
        return Class.forName("java.lang.foreign." + name);
    }

    static Object layouts(Object... layouts) throws Exception {
        Object array = Array.newInstance(foreign("MemoryLayout"), layouts.length);
        for (int i = 0; i < layouts.length; i++) Array.set(array, i, layouts[i]);
        return array;
    }

    static long address(Object segment) throws Exception {
        return (Long) foreign("MemorySegment").getMethod("address").invoke(segment);
    }

    public static void main(String[] args) throws Throwable {
        Class<?> linkerClass = foreign("Linker"), descriptor = foreign("FunctionDescriptor"), arenaClass = foreign("Arena");
        Class<?> layout = foreign("MemoryLayout"), segment = foreign("MemorySegment");
        Class<?> options = Array.newInstance(foreign("Linker$Option"), 0).getClass();
        Class<?> arrayOfLayouts = Array.newInstance(layout, 0).getClass();
        Object none = Array.newInstance(foreign("Linker$Option"), 0);
        Object aLong = foreign("ValueLayout").getField("JAVA_LONG").get(null);
        Object anInt = foreign("ValueLayout").getField("JAVA_INT").get(null);
        Object linker = linkerClass.getMethod("nativeLinker").invoke(null);
        Object arena = arenaClass.getMethod("global").invoke(null);

        Object lookup = linkerClass.getMethod("defaultLookup").invoke(linker);
        Optional<?> found = (Optional<?>) foreign("SymbolLookup").getMethod("find", String.class).invoke(lookup, "qsort");
        Object ofQsort = descriptor.getMethod("ofVoid", arrayOfLayouts).invoke(null, layouts(aLong, aLong, aLong, aLong));
        Method downcall = linkerClass.getMethod("downcallHandle", segment, descriptor, options);
        MethodHandle qsort = (MethodHandle) downcall.invoke(linker, found.get(), ofQsort, none);

        Object ofCompare = descriptor.getMethod("of", layout, arrayOfLayouts).invoke(null, anInt, layouts(aLong, aLong));
        MethodType type = MethodType.methodType(int.class, long.class, long.class);
        MethodHandle compare = MethodHandles.lookup().findStatic(Upcalls.class, "compare", type);
        Method upcall = linkerClass.getMethod("upcallStub", MethodHandle.class, descriptor, arenaClass, options);
        long comparator = address(upcall.invoke(linker, compare, ofCompare, arena, none));
        long elements = address(arenaClass.getMethod("allocate", long.class).invoke(arena, 8L * ELEMENTS));

        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        while (System.nanoTime() < end) sort(qsort, elements, comparator);
        System.out.println(sink);
    }
}
