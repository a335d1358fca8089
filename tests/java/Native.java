/** The functions of tests/antagonists/natives.c. */
final class Native {
    private Native() {}

    static native void handle(int signal);

    static native long handled(int signal);

    static native boolean isOurs(int signal);

    static native void profile(int micros);

    static native long fault(int times);

    static native int fork(int times);

    static native long[] interruptions(int rounds, int millis);

    static native boolean elsewhere();

    static native long paint(int signal);

    static native long painted();
}
