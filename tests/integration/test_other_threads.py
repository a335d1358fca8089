"""CPU time outside the sampled threads, and threads that come, go, rename themselves or are virtual."""
import re
import resource
import time

import pytest
from harness import LIBRARY, Program, Recorder, cpu_by_thread, engine, report, samples_by_jfr, wait_for_recording

# Names of the collectors' threads in 8, 11, and 17 and later.
COLLECTORS = {"parallel": ("-XX:+UseParallelGC", re.compile(r"^GC task thread|^ParGC Thread|^GC Thread")),
              "g1": ("-XX:+UseG1GC", re.compile(r"^Gang worker|^GC Thread|^G1 "))}


@pytest.mark.parametrize("collector", COLLECTORS)
def test_a_program_that_lives_in_gc_shows_it(jdk, classes, tmp_path, collector):
    option, gc_threads = COLLECTORS[collector]
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "GcHeavy", options=[option, "-Xmx200m"]) as program:
        program.ready()
        with Recorder("-d", "30s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            before = cpu_by_thread(program.pid)
            time.sleep(6)
            after = cpu_by_thread(program.pid)
            recorder.interrupt()
            recorder.finish()
    spent = {thread: after[thread] - before.get(thread, 0) for thread in after}
    gc = sum(ns for (_, name), ns in spent.items() if gc_threads.match(name))
    app = sum(ns for (_, name), ns in spent.items() if name == "churner")
    true_share = gc / (gc + app)
    assert true_share > 0.2, f"the program is no test of this: only {true_share:.0%} GC"
    document = report(file, "hot,threads", "--top", "100000", "--min-share", "0")
    shown_gc = next(row["self"] for row in document["hot"] if row["method"] == "[GC]")
    outside = sum(row["self"] for row in document["hot"] if row["method"] in ("[GC]", "[JIT]", "[VM]"))
    # The shares are of all CPU time; the truth compares GC with the one application thread.
    assert shown_gc / (shown_gc + 1 - outside) == pytest.approx(true_share, abs=0.05)
    by_kind = [row for row in document["threads"] if row["kind"] == "gc"]
    assert sum(row["cpu_ns"] for row in by_kind) > 0
    assert any("GC" in line for line in document["verdict"]), document["verdict"]


@pytest.mark.signal_path
def test_threads_that_come_and_go_and_rename_themselves(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Threads") as program:
        program.ready()
        ended = program.ask_json("count")["ended"]
        with Recorder("-d", "30s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            time.sleep(4)
            rename_begins = time.time()
            program.ask("rename")
            renamed_at = time.time()
            time.sleep(3)
            recorder.interrupt()
            recorder.finish()
        ended = program.ask_json("count")["ended"] - ended
        virtual = program.ask_json("count")["virtual"]
    used = engine(report(file))
    samples = samples_by_jfr(jdk, file, depth=64)
    names = {sample.thread for sample in samples}
    assert {"second-name", "third-name"} <= names and "first-name" not in names
    # Names are looked at once a second, before the file is flushed.
    work = [s for s in samples if "Threads.renamedWork" in s.frames]
    assert all(s.thread == "second-name" for s in work if s.time < rename_begins - 1.5)
    assert all(s.thread == "third-name" for s in work if s.time > renamed_at + 1.5)
    short = {name for name in names if name and name.startswith("short-")}
    # Each burns 3 ms, so at 1 ms hardly one escapes. A clock with a tick of 4 ms sees about half of them on an idle machine;
    # on a loaded one threads get their CPU at a tick, and most of these have ended before the next.
    least = 0.2 * ended if used["interval_ns"] <= 1_000_000 else 0
    assert len(short) > least and ended > 0, f"{len(short)} of {ended} short-lived threads"
    assert all(s.thread.startswith("short-") for s in samples if "Threads.shortLife" in s.frames)
    if virtual:
        assert [s for s in samples if "Threads.virtualWork" in s.frames], "virtual threads burn CPU time too"


@pytest.mark.signal_path
def test_a_session_while_threads_end_and_start_can_be_repeated(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Threads") as program:
        program.ready()
        written = 0  # of all: on a loaded machine one session may see no tick of a coarse clock
        for _ in range(5):
            with Recorder("-d", "700ms", "-o", file, program.pid) as recorder:
                recorder.finish()
            written += engine(report(file))["samples"]["written"]
        assert written > 0
        assert program.ask_json("count")["ended"] > 0


def test_the_threads_of_a_short_program_add_up(jdk, classes, tmp_path):
    """main ends and its native thread goes on as DestroyJavaVM: what it has used is counted once, for main."""
    file = tmp_path / "out.jfr"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with Program(jdk, classes, "Exits", "return", "soon", options=[f"-agentpath:{LIBRARY}=cpu,file={file}"]) as program:
        assert program.wait() == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows = report(file, "threads")["threads"]
    assert sum(row["cpu_ns"] for row in rows) < spent * 1e9 * 1.02
    used = {row["name"]: row["cpu_ns"] for row in rows}
    assert used["main"] > used.get("DestroyJavaVM", 0)
