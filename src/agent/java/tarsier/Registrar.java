package tarsier;

/**
 * Lets the agent bind native methods of classes in java.base. Since 17 the JVM prints a warning unless who does so was called by a
 * class of the boot loader: this is one. It is in no module, so its own native method is bound without a word.
 */
final class Registrar {
    private Registrar() {}

    static void run() {
        register();
    }

    private static native void register();
}
