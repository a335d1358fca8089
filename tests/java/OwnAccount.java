import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the kernel has counted for the current thread so far, as the thread itself can read it, and without any profiler. */
final class OwnAccount {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private OwnAccount() {}

    private static String read(String file) {
        try {
            return new String(Files.readAllBytes(Paths.get("/proc/thread-self/" + file)), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Nanoseconds on a CPU. */
    static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    /** Nanoseconds for which it could have run, but had no CPU. */
    static long queued() {
        return Long.parseLong(read("schedstat").split(" ")[1]);
    }

    /** All of it, by name. */
    static Map<String, Long> all() {
        Map<String, Long> account = new LinkedHashMap<>();
        account.put("cpu", cpu());
        account.put("queued", queued());
        for (String line : read("status").split("\n")) {
            if (line.startsWith("voluntary_ctxt")) account.put("voluntary", number(line));
            if (line.startsWith("nonvoluntary_ctxt")) account.put("involuntary", number(line));
        }
        String stat = read("stat");
        // Behind the name, which may contain anything: state, ppid, pgrp, session, tty, tpgid, flags, minflt, cminflt, majflt.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        account.put("minor", Long.parseLong(fields[7]));
        account.put("major", Long.parseLong(fields[9]));
        if (Files.exists(Paths.get("/proc/thread-self/sched"))) {  // only of kernels that can be debugged
            for (String line : read("sched").split("\n")) {
                if (line.startsWith("se.nr_migrations")) account.put("migrations", number(line));
            }
        }
        return account;
    }

    private static long number(String line) {
        return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
    }

    /** As JSON; the values are numbers, or JSON themselves. */
    static String json(Map<String, ?> map) {
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<String, ?> entry : map.entrySet()) {
            text.append(text.length() == 1 ? "" : ", ").append('"').append(entry.getKey()).append("\": ")
                .append(entry.getValue());
        }
        return text.append('}').toString();
    }
}
