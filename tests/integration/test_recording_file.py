"""The file as others read it: while it grows, when it is done, and after the JVM was killed."""
import collections
import random
import signal
import time

import pytest
from harness import (LIBRARY, Program, Recorder, books_by_jfr, engine, jdks, jfr, jfr_counts, report, samples_by_jfr, tarsier,
                     wait_for_recording)

OWN_EVENTS = ("tarsier.Session", "tarsier.EngineUsed", "tarsier.EngineSamples", "tarsier.Overhead")


def read_live(file, read):
    """What `read()` finds in a file that is being written.

    The JDK's tools look at the file's length once and then walk from chunk to chunk. If the length changes under them
    (it grows by a megabyte at a time, and is cut at the end) they may lose their way: 6 of 436 reads did, all of them
    then (17, 25). Only such a read is excused, and the next one must succeed."""
    length = file.stat().st_size
    try:
        return read()
    except AssertionError:
        if file.stat().st_size == length:
            raise
        return read()


def test_every_jfr_tool_reads_it_while_it_is_written_and_afterwards(known_answer, tmp_path):
    file = tmp_path / "out.jfr"
    reads, counts = 0, []
    with Recorder("-d", "200s", "-o", file, known_answer.pid) as recorder:
        wait_for_recording(file)
        while reads < max(3, 2 * len(jdks())):
            reader = jdks()[reads % len(jdks())]
            counts.append(read_live(file, lambda: jfr_counts(reader, file).get("jdk.ExecutionSample", 0)))
            read_live(file, lambda: jfr(reader, "print", file, "--events", "tarsier.*,jdk.ExecutionSample"))
            reads += 1
            time.sleep(0.3)
        assert recorder.process.poll() is None, "the recording ended by itself"
        recorder.interrupt()
        recorder.finish()
    assert counts == sorted(counts) and counts[-1] > 0, f"samples seen by jfr summary: {counts}"
    written = engine(report(file))["samples"]["written"]
    for reader in jdks():
        found = jfr_counts(reader, file)
        assert found["jdk.ExecutionSample"] == written
        assert all(found.get(name, 0) > 0 for name in OWN_EVENTS), found
        jfr(reader, "print", file)


def kill_while_recording(jdk, classes, tmp_path, number):
    """What is on disk one moment after kill -9 of the JVM."""
    file = tmp_path / f"killed{number}.jfr"
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        with Recorder("-d", "60s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            recorded_since, late = time.time(), 0.0
            until = recorded_since + random.uniform(0.0, 3.5)
            while (now := time.time()) < until:
                time.sleep(0.02)
                late = max(late, time.time() - now - 0.02)
            program.process.send_signal(signal.SIGKILL)
            killed = time.time()
            _, errors = recorder.finish(expect=5)
    assert errors.strip(), "exit code 5 without a word"
    for reader in jdks():
        jfr(reader, "summary", file)
        jfr(reader, "print", file, "--events", "tarsier.*,jdk.ExecutionSample")
    samples = samples_by_jfr(jdk, file)
    report(file)
    # A second between flushes, and half of one, and what this machine let us wait for the CPU: so had the program to,
    # and our thread.
    margin = 1.5 + 2 * late
    if killed - recorded_since > margin:
        assert samples, f"nothing is left of {killed - recorded_since:.2f} s"
        assert killed - max(s.time for s in samples) < margin, f"of {killed - recorded_since:.2f} s; {late:.2f} s late"


@pytest.mark.parametrize("number", range(5))
def test_kill_9_loses_at_most_the_last_second(jdk, classes, tmp_path, number):
    kill_while_recording(jdk, classes, tmp_path, number)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_kill_9_fifty_times(jdk, classes, tmp_path):
    for number in range(50):
        kill_while_recording(jdk, classes, tmp_path, number)


def test_what_does_not_fit_is_dropped_and_counted(jdk, classes, clock, tmp_path):
    """A ring far too small for the clock: the agent's own numbers and the file must agree all the same."""
    file = tmp_path / "out.jfr"
    interval = "10us" if clock == "perf" else "20ms"
    agent = f"-agentpath:{LIBRARY}=cpu,clock={clock},interval={interval},memory=64k,maxdepth=16,file={file}"
    with Program(jdk, classes, "KnownAnswer", 3, options=[agent]) as program:
        assert program.wait(120) == 0
    taken, written, dropped = books_by_jfr(jdk, file)
    assert taken == written + sum(dropped.values()) > 0, (taken, written, dropped)
    assert jfr_counts(jdk, file)["jdk.ExecutionSample"] == written
    if clock == "perf":
        assert dropped["ring full"] > 0, "the ring was large enough: no test of this"
    found = engine(report(file))["samples"]
    assert (found["taken"], found["written"]) == (taken, written)


@pytest.mark.signal_path
def test_ctrl_c_saves_a_complete_file(known_answer, tmp_path):
    file = tmp_path / "out.jfr"
    with Recorder("-o", file, known_answer.pid) as recorder:  # without an end of its own
        wait_for_recording(file)
        time.sleep(2)
        recorder.interrupt()
        stdout, _ = recorder.finish()
    assert str(file) in stdout
    assert engine(report(file))["samples"]["written"] > 0


def test_our_report_of_a_jfr_recording_agrees_with_jfr_print(jdk, classes, tmp_path):
    file = tmp_path / "by-jfr.jfr"
    with Program(jdk, classes, "KnownAnswer", 8,
                 options=[f"-XX:StartFlightRecording=settings=profile,filename={file}"]) as program:
        assert program.wait(120) == 0
    samples = samples_by_jfr(jdk, file, depth=1)
    document = report(file, "hot,quality")
    assert document["quality"]["samples"] == len(samples) > 20
    hottest = collections.Counter(sample.top for sample in samples).most_common(5)
    ours = {row["method"]: round(row["self"] * len(samples)) for row in document["hot"]}
    assert {name: ours.get(name) for name, _ in hottest} == dict(hottest)
    our_counts = sorted(ours.values(), reverse=True)[:5]
    assert our_counts[:len(hottest)] == [count for _, count in hottest]


@pytest.mark.signal_path
def test_the_agent_writes_the_file_named_in_its_options(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "KnownAnswer", 2, options=[f"-agentpath:{LIBRARY}=cpu,interval=20ms,file={file}"]) as program:
        assert program.wait() == 0
    document = report(file)
    assert engine(document)["interval_ns"] == 20_000_000
    assert engine(document)["samples"]["written"] > 50
    for reader in jdks():
        jfr(reader, "summary", file)


def test_recording_again_replaces_the_file_and_is_private(known_answer, tmp_path):
    file = tmp_path / "out.jfr"
    for _ in range(2):
        tarsier("record", "-d", "1s", "-o", file, known_answer.pid)
        assert file.stat().st_mode & 0o777 == 0o600
        assert report(file)["recording"]["duration_s"] < 5
