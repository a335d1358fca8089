"""Others in the same process: JFR, a second copy of us, another profiler, handlers and forks of the application."""
import json
import shutil
import signal
import subprocess
import time

import pytest
from harness import LIBRARY, TARSIER, Program, Recorder, engine, jfr_counts, report, tarsier, wait_for_recording

CLOCKS = ["perf", "cputimer", "timekeeper"]


def counters(file):
    """The last values of the agent's own counters."""
    return engine(report(file))["counters"]


def taken(file):
    return engine(report(file))["samples"]["taken"]


def our_signal(program, tmp_path):
    """Which signal a session takes in that program: asked of a short one."""
    file = tmp_path / "probe.jfr"
    tarsier("record", "--cpu", "-d", "300ms", "-o", file, program.pid)
    return counters(file)["signal"]


def test_jfr_and_we_record_at_the_same_time(jdk, classes, tmp_path):
    """On 25 with its CPU-time samples, which take SIGPROF for themselves."""
    theirs, ours = tmp_path / "theirs.jfr", tmp_path / "ours.jfr"
    with Program(jdk, classes, "KnownAnswer", options=[f"-XX:StartFlightRecording=filename={theirs},settings=profile"
                                                       + (",jdk.CPUTimeSample#enabled=true" if jdk.major >= 25 else "")]) as program:
        program.ready()
        tarsier("record", "-d", "2s", "-o", ours, program.pid)
        program.ask("stop")
        program.process.stdin.close()
        assert program.wait() == 0
    work = sum(row["self"] for row in report(ours)["hot"] if row["method"].startswith("Work."))
    assert taken(ours) > 20 and work > 0.5
    samples = jfr_counts(jdk, theirs)
    assert samples["jdk.ExecutionSample"] > 10
    if jdk.major >= 25:
        assert samples["jdk.CPUTimeSample"] > 10


def test_a_second_copy_of_the_agent_is_refused_and_says_why(antagonist, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(TARSIER.resolve(), other / "tarsier")
    shutil.copy(LIBRARY.resolve(), other / "libtarsier.so")
    first, second = tmp_path / "first.jfr", tmp_path / "second.jfr"
    command = [other / "tarsier", "record", "-d", "1s", "-o", second, str(antagonist.pid)]
    with Recorder("-d", "30s", "-o", first, antagonist.pid) as recorder:
        wait_for_recording(first)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 4, done.stderr
        assert "another copy of this agent" in done.stderr and str(recorder.process.pid) in done.stderr
        assert not second.exists()
        recorder.interrupt()
        recorder.finish()
    assert taken(first) > 0
    # Now it is the other's turn, and ours to be refused.
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).returncode == 0
    assert taken(second) > 0


def test_another_profiler_keeps_sigprof(antagonist, tmp_path):
    antagonist.ask("profile")
    file = tmp_path / "x.jfr"
    before = int(antagonist.ask("handled 27"))
    tarsier("record", "-d", "1s", "-o", file, antagonist.pid)
    assert taken(file) > 20 and counters(file)["signal"] != signal.SIGPROF
    assert int(antagonist.ask("handled 27")) > before and antagonist.ask("is-ours 27") == "true"
    refused = tarsier("record", "--cpu", "--clock", "itimer", "-d", "1s", "-o", file, antagonist.pid, expect=4)
    assert "SIGPROF" in refused.stderr
    assert antagonist.ask("is-ours 27") == "true"


def test_signals_with_handlers_are_left_alone_and_when_all_are_taken_we_refuse(antagonist, tmp_path):
    file = tmp_path / "x.jfr"
    for number in (16, 26, 27, 24):  # in the order in which we like them
        assert our_signal(antagonist, tmp_path) == number
        antagonist.ask(f"handle {number}")
    refused = tarsier("record", "--cpu", "-d", "1s", "-o", file, antagonist.pid, expect=4)
    assert "SIGSTKFLT" in refused.stderr
    for number in (16, 26, 27, 24):
        assert antagonist.ask(f"is-ours {number}") == "true" and antagonist.ask(f"handled {number}") == "0"


@pytest.mark.parametrize("how", ["handle 16", "java-handle STKFLT"])
def test_a_handler_installed_over_ours_stays_and_is_left_in_peace(antagonist, tmp_path, how):
    """By native code or sun.misc.Signal, in the middle of a session: ticks stop, and the recording says since when."""
    assert our_signal(antagonist, tmp_path) == signal.SIGSTKFLT
    file = tmp_path / "x.jfr"
    with Recorder("--cpu", "-d", "3s", "-o", file, antagonist.pid) as recorder:
        wait_for_recording(file)
        time.sleep(1)
        antagonist.ask(how)
        _, errors = recorder.finish(expect=5)
    assert "SIGSTKFLT" in errors and "no samples from then on" in errors
    assert taken(file) > 20
    assert counters(file)["signal taken by somebody else"] == 1
    if how == "handle 16":
        assert antagonist.ask("is-ours 16") == "true"
        # The ticks of 20 ms, until it was noticed, of three threads: with much in reserve for a loaded machine.
        hits = int(antagonist.ask("handled 16"))
        assert hits < 2000
        time.sleep(0.3)
        assert int(antagonist.ask("handled 16")) == hits, "ticks go on"
    else:
        assert antagonist.ask("java-raise STKFLT") == "1"
    # A new session takes another signal.
    assert our_signal(antagonist, tmp_path) == signal.SIGVTALRM


def test_a_segv_handler_of_the_application_behind_libjsig(jdk, classes, natives, tmp_path, monkeypatch):
    jsig = next(iter(jdk.home.rglob("libjsig.so")), None)
    if jsig is None:
        pytest.skip(f"{jdk} has no libjsig.so")
    monkeypatch.setenv("LD_PRELOAD", str(jsig))
    with Program(jdk, classes, "Antagonist", natives) as program:
        program.ready()
        monkeypatch.delenv("LD_PRELOAD")
        file = tmp_path / "x.jfr"
        assert program.ask("fault") == "100"
        with Recorder("-d", "2s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            assert program.ask("fault") == "200"
            recorder.finish()
        assert taken(file) > 50
        program.tell("exit")
        assert program.wait() == 7


@pytest.mark.parametrize("clock", ["perf", "cputimer", "ebpf"])
def test_a_thread_that_runs_on_a_stack_of_its_own(antagonist, tmp_path, clock):
    """As coroutines of native libraries do. Where such a stack ends nobody knows: nothing of it is copied."""
    file = tmp_path / "x.jfr"
    with Recorder("--cpu", "--clock", clock, "--interval", "4ms", "-o", file, antagonist.pid) as recorder:
        wait_for_recording(file)
        assert antagonist.ask("elsewhere") == "true", "the test has not got its stack"
        recorder.interrupt()
        recorder.finish()
    assert taken(file) > 50


def check_forks(antagonist, tmp_path, clock, execs):
    file = tmp_path / f"{clock}.jfr"
    with Recorder("--cpu", "--clock", clock, "-o", file, antagonist.pid) as recorder:
        wait_for_recording(file)
        assert antagonist.ask("fork") == "50", "a child without exec did not end as it should"
        assert antagonist.ask(f"exec {execs}") == str(execs), "a child with exec did not end as it should"
        recorder.interrupt()
        recorder.finish()
    assert taken(file) > 20


@pytest.mark.parametrize("clock", ["perf", "itimer"])
def test_children_are_neither_sampled_nor_hurt(antagonist, tmp_path, clock):
    check_forks(antagonist, tmp_path, clock, 50)


@pytest.mark.long
@pytest.mark.parametrize("clock", [*CLOCKS, "itimer", "wall"])
def test_a_thousand_execs(antagonist, tmp_path, clock):
    check_forks(antagonist, tmp_path, clock, 1000)


@pytest.mark.parametrize("clock", CLOCKS)
def test_errno_and_system_calls_are_as_without_us(antagonist, tmp_path, clock):
    file = tmp_path / "x.jfr"
    with Recorder("--cpu", "--clock", clock, *(["-i", "100us"] if clock != "cputimer" else []), "-o", file,
                  antagonist.pid) as recorder:
        wait_for_recording(file)
        rounds, errno_changed, read, futex, _ = json.loads(antagonist.ask("interruptions"))
        recorder.interrupt()
        recorder.finish()
    samples = [row["samples"] for row in report(file)["hot"] if row["method"] == "Native.interruptions"]
    assert rounds >= 100 and samples and samples[0] > 1, (rounds, samples)
    assert errno_changed == 0
    assert (read, futex) == (0, 0), "calls that are restarted came back with EINTR"
