"""What recording locks leaves behind: no changed code, no thread that hangs."""
import json
import time

import pytest
from harness import LIBRARY, Program, Recorder, jfr, tarsier, wait_for_recording, wait_until
from libjvm_code import changed_pages, class_data_pointing_into, is_all_of_the_file
from lock_truth import Truth

BOTH_SIDES = ["wait", "condition"]  # monitors, and parks and unparks


@pytest.mark.every_jvm
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", BOTH_SIDES)
def test_a_hundred_sessions_leave_the_code_of_the_jvm_as_it_was(jdk, classes, tmp_path, mode):
    log, file, libjvm = tmp_path / "truth.txt", tmp_path / "out.jfr", jdk.libjvm.resolve()
    with Program(jdk, classes, "LockTruth", mode, 500, "burn", 0, log) as program:
        program.ready()
        pid = program.pid
        assert changed_pages(pid, libjvm) == [] and is_all_of_the_file(pid, libjvm)
        with Recorder("--lock", "-o", file, pid) as recorder:  # so that the rest means something
            wait_for_recording(file, recorder.process)
            wait_until(lambda: changed_pages(pid, libjvm), "the hooks are there")
            recorder.interrupt()
            recorder.finish()
        for _ in range(99):
            tarsier("record", "--lock", "-d", "20ms", "-o", file, pid)
        assert changed_pages(pid, libjvm) == []
        assert is_all_of_the_file(pid, libjvm)
        assert class_data_pointing_into(pid, LIBRARY) == []
        program.ask("stop")
    assert Truth.read(log)


@pytest.mark.every_jvm
@pytest.mark.parametrize("mode", ["sync", "reentrant", *BOTH_SIDES])
def test_a_stop_while_threads_are_blocked_leaves_none_stuck(jdk, classes, tmp_path, mode):
    log, file, blocked = tmp_path / "truth.txt", tmp_path / "out.jfr", 0
    with Program(jdk, classes, "LockTruth", mode, 20_000, "sleep", 0, log) as program:
        program.ready()
        for _ in range(3):
            with Recorder("--lock", "-o", file, program.pid) as recorder:
                wait_for_recording(file, recorder.process)
                time.sleep(0.5)
                recorder.interrupt()
                recorder.finish()
            blocked += ongoing(jdk, file)
        assert blocked, "nobody was blocked when the recordings were stopped: this has shown nothing"
        program.ask("stop")
        program.process.stdin.close()
        assert program.wait() == 0, program.errors
    truth = Truth.read(log)
    assert truth.threads == [f"worker-{i}" for i in range(4)]


def ongoing(jdk, file):
    """How many of the program's threads were blocked when the recording ended, by the JDK's own reader."""
    text = jfr(jdk, "print", file, "--json", "--events", "jdk.JavaMonitorEnter,jdk.ThreadPark")
    values = [event["values"] for event in json.loads(text)["recording"]["events"]]
    return sum(v["ongoing"] and (v["eventThread"] or {}).get("javaName", "").startswith("worker-") for v in values)


@pytest.mark.every_jvm
def test_a_stop_tells_of_who_still_waits_for_a_lock_that_was_never_handed_over(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "HeldLock") as program:
        program.ready()
        with Recorder("--lock", "-o", file, program.pid) as recorder:
            wait_for_recording(file, recorder.process)
            program.ask("wait")
            recorder.interrupt()
            recorder.finish()
        program.tell("stop")
    text = jfr(jdk, "print", file, "--json", "--events", "jdk.ThreadPark")
    parks = [event["values"] for event in json.loads(text)["recording"]["events"]]
    waits = [park for park in parks if (park["eventThread"] or {}).get("javaName") == "waiter"]
    assert [(park["ongoing"], park["owner"]["javaName"]) for park in waits] == [(True, "main")]
