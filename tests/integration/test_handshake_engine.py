"""The engine `handshake`: only threads that have run are asked for their stacks, and nobody else is stopped."""
import json
import time

import pytest
from harness import (LIBRARY, Program, Recorder, engine, report, samples_by_jfr, signal_sets, tarsier, threads_of,
                     wait_for_recording, wait_until)
from test_known_answer import check_sleeper
from test_lifecycle import attach_once, descriptors_of, names_of_threads, private_bytes
from test_safepoint_engine import FIRST_WITH_HANDSHAKES, POLLS_EVERYWHERE, check_within_intervals

ENGINES = ["handshake", "safepoint"]


@pytest.fixture(params=ENGINES)
def asks(request, jdk):
    """Each engine that asks JVMTI for stacks, where it works."""
    if request.param == "handshake" and jdk.major < FIRST_WITH_HANDSHAKES:
        pytest.skip(f"{jdk} has no handshakes")
    return request.param


def needs_handshakes(jdk):
    if jdk.major < FIRST_WITH_HANDSHAKES:
        pytest.skip(f"{jdk} has no handshakes")


def test_before_16_it_is_refused_with_the_way_out(jdk, classes, tmp_path):
    if jdk.major >= FIRST_WITH_HANDSHAKES:
        pytest.skip(f"{jdk} has handshakes")
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        done = tarsier("record", "--engine", "handshake", "-d", "1s", "-o", tmp_path / "out.jfr", program.pid, expect=1)
        assert "stops all threads" in done.stderr and "--engine fragment" in done.stderr, done.stderr
        assert program.ask("truth")


def test_shares_where_there_are_polls_everywhere(jdk, classes, tmp_path):
    needs_handshakes(jdk)
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=handshake,file={file}"
    with Program(jdk, classes, "KnownAnswer", 10, options=[*POLLS_EVERYWHERE, agent]) as program:
        truth = json.loads(program.wait_for("truth "))
        assert program.wait() == 0
    document = report(file)
    check_within_intervals(document, truth)
    samples = samples_by_jfr(jdk, file, depth=64)
    check_sleeper(samples, starts=True)
    found = engine(document, "handshake")
    assert len(samples) == found["samples"]["written"]
    assert document["quality"]["latency"]["p50_ns"] == found["counters"]["latency p50 (ns)"] > 0
    # What it weighs is what the kernel has counted.
    threads = {row["name"]: row for row in document["threads"]}
    assert threads["main"]["sampled_ns"] == pytest.approx(threads["main"]["cpu_ns"], rel=0.02)


def test_only_threads_with_such_names_are_asked(jdk, classes, tmp_path, asks):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "ManyThreads", 300) as program:
        program.ready()
        tarsier("record", "--cpu", "--engine", asks, "--threads", "^burner-[12]{1,1}00$", "-d", "3s", "-o", file, program.pid)
    names = {sample.thread for sample in samples_by_jfr(jdk, file)}
    assert names and names <= {"burner-100", "burner-200"}
    threads = {row["name"]: row for row in report(file)["threads"]}
    assert threads["burner-0"]["sampled_ns"] == 0 < threads["burner-0"]["cpu_ns"], "its time is shown all the same"


@pytest.mark.parametrize("options, words", [
    (["--threads", "x"], "handshake and safepoint"),
    (["--engine", "safepoint", "--threads", "["], "thread expression '['"),
    (["--engine", "safepoint", "--clock", "perf"], "tick of its own"),
])
def test_what_can_not_be_is_refused(jdk, classes, tmp_path, options, words):
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        done = tarsier("record", "--cpu", *options, "-d", "1s", "-o", tmp_path / "out.jfr", program.pid, expect=2)
        assert words in done.stderr, done.stderr


def test_waits_are_found_beside_it(known_answer, jdk, tmp_path, asks):
    file = tmp_path / "out.jfr"
    tarsier("record", "--engine", asks, "--waits", "-d", "3s", "-o", file, known_answer.pid)
    document = report(file)
    assert engine(document, asks)["samples"]["written"] > 0
    assert engine(document, "waits")["samples"]["written"] > 0
    slept = sum(wait.weight for wait in samples_by_jfr(jdk, file, event="tarsier.Wait") if wait.thread == "sleeper")
    assert slept > 2, "seconds: all the time"
    check_sleeper(samples_by_jfr(jdk, file))


def test_deep_stacks_are_complete(jdk, classes, tmp_path, asks):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine={asks},maxdepth=8192,interval=20ms,file={file}"
    with Program(jdk, classes, "DeepStack", 3000, 2, options=[agent]) as program:
        assert program.wait() == 0
    deep = [s for s in samples_by_jfr(jdk, file, depth=8192) if "DeepStack.burn" in s.frames]
    assert len(deep) > 10
    assert all(s.frames.count("DeepStack.descend") == 3001 and s.frames[-1] == "java.lang.Thread.run" for s in deep)


def test_what_is_deeper_than_asked_for_is_marked(jdk, classes, tmp_path, asks):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine={asks},maxdepth=100,interval=5ms,file={file}"
    with Program(jdk, classes, "DeepStack", 300, 2, options=[agent]) as program:
        assert program.wait() == 0
    quality = report(file)["quality"]
    assert quality["incomplete"] > 0.5 * quality["samples"], quality
    deep = [s for s in samples_by_jfr(jdk, file, depth=8192) if "DeepStack.descend" in s.frames]
    assert {len(s.frames) for s in deep if "DeepStack.burn" in s.frames} == {100}


def test_thousands_of_threads(jdk, classes, tmp_path, asks):
    """Two thousand that sleep and twenty that run for some 0.1 ms now and then: those are found. A round of the other
    engine takes so long that it may hardly meet one."""
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "ManyThreads", 2000) as program:
        program.ready()
        tarsier("record", "--cpu", "--engine", asks, "-d", "8s", "-o", file, program.pid)
        program.tell("exit")
        assert program.wait() == 7
    document = report(file)
    found = engine(document, asks)
    assert found["counters"]["ticks" if asks == "handshake" else "rounds"] > 3
    if asks == "safepoint":
        return
    burners = [row for row in document["threads"] if row["name"].startswith("burner-")]
    assert len(burners) == 20
    sampled, used = sum(row["sampled_ns"] for row in burners), sum(row["cpu_ns"] for row in burners)
    assert 0 < sampled < 1.1 * used, document["verdict"]  # bursts that end before they are met have no sample of their own
    # Their bursts are short: whoever has fallen asleep before he answers is not shown where he waits.
    assert not [sample for sample in samples_by_jfr(jdk, file) if sample.top == "jdk.internal.misc.Unsafe.park"]


def test_classes_that_are_thrown_away_do_no_harm(jdk, classes, tmp_path, asks):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "ClassChurn", options=["-XX:+UseSerialGC", "-Xmx64m"]) as program:
        program.ready()
        tarsier("record", "--cpu", "--engine", asks, "--interval", "200us", "-d", "5s", "-o", file, program.pid)
        assert int(program.ask("loaded")) > 500
        program.tell("exit")
        assert program.wait() == 7
    engine(report(file), asks)


@pytest.mark.timeout(600)
def test_twenty_sessions_leave_nothing_behind(known_answer, tmp_path, asks):
    pid, file = known_answer.pid, tmp_path / "out.jfr"
    attach_once(known_answer)
    threads, descriptors, signals = names_of_threads(pid), descriptors_of(pid), signal_sets(pid)
    taken = 0
    for cycle in range(20):
        tarsier("record", "--cpu", "--engine", asks, "-d", "100ms", "-o", file, pid)
        taken += engine(report(file), asks)["samples"]["taken"]
        if cycle == 4:
            private = private_bytes(pid)
    assert taken > 0
    wait_until(lambda: names_of_threads(pid) == threads,
               lambda: f"the threads are {threads} again: {names_of_threads(pid)}")
    wait_until(lambda: descriptors_of(pid) == descriptors, f"the descriptors are {descriptors} again")
    assert signal_sets(pid) == signals, "no signal is needed"
    assert private_bytes(pid) - private < 16 << 20
    assert known_answer.ask("truth")


def test_our_threads_are_none_of_the_applications(known_answer, tmp_path, asks):
    file = tmp_path / "out.jfr"
    with Recorder("--cpu", "--engine", asks, "-o", file, known_answer.pid) as recorder:
        wait_for_recording(file)
        time.sleep(2)
        ours = [name for name in threads_of(known_answer.pid).values() if name.startswith("tarsier")]
        assert len(ours) >= 2, ours
        recorder.interrupt()
        recorder.finish()
    kinds = {row["kind"] for row in report(file)["threads"] if row["name"].startswith("tarsier")}
    assert kinds == {"tarsier"}


@pytest.mark.parametrize("how, code", [("return", 0), ("exit", 7), ("throw", 1)])
def test_the_program_ends_while_it_is_being_recorded(jdk, classes, tmp_path, asks, how, code):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Exits", how, "when-told") as program:
        program.wait_for("begin")
        with Recorder("--cpu", "--engine", asks, "-d", "200s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            program.tell("end")
            assert program.wait() == code
            recorder.finish()
        assert program.lines == ["begin", "end", "hook"]
    assert engine(report(file), asks)
