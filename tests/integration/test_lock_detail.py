"""--lock-detail: who holds locks that several may hold at once. The truth is what threads log of themselves
(tests/java/SharedSections.java, LatchTruth.java), the judge shared_lock_truth.py."""
import time

import pytest
from harness import LIBRARY, Program, Recorder, jfr_counts, jvmti_library, report, tarsier, wait_for_recording, wait_until
from lock_truth import read_csv
from shared_lock_truth import SharedTruth, judge_shared
from undisturbed import undisturbed

ALL = "rw,semaphore,stamped,latch"
MODES = ["rw", "fair-rw", "semaphore", "fair-semaphore", "stamped"]
HOLD_US = 2000
SECONDS = 3
FIRST_WITH_STAMPS = 17  # before, StampedLock is another class
FIRST_WITH_VIRTUAL = 21


def judged(truth, file, window=None):
    judgement = judge_shared(SharedTruth.read(truth), read_csv(tarsier("export", file, "--to", "csv").stdout), window)
    print(judgement)  # shown if something fails
    return judgement


def check(judgement, shared=True):
    assert judgement.waits > 20 and judgement.held > 0
    assert judgement.together_share > 0.02 or not shared
    # Where others want the CPUs, too, a thread may be woken up late, or be late to park: then it waits for nobody, by us.
    assert judgement.right_share >= 0.95
    assert judgement.stranger_share <= 0.02
    assert judgement.seen_share >= 0.8


def recorded(jdk, classes, file, *command, detail=ALL):
    words = detail.replace(",", "+")
    with Program(jdk, classes, *command, options=[f"-agentpath:{LIBRARY}=lock,lockdetail={words},file={file}"]) as program:
        assert program.wait() == 0, program.errors
        assert program.lines == []
        assert not any("WARNING" in line for line in program.errors), program.errors


def needs(jdk, mode):
    if mode == "stamped" and jdk.major < FIRST_WITH_STAMPS:
        pytest.skip("another StampedLock")
    if mode == "virtual" and jdk.major < FIRST_WITH_VIRTUAL:
        pytest.skip("no virtual threads")


@pytest.mark.every_jvm
@pytest.mark.parametrize("mode", MODES)
@undisturbed
def test_waits_belong_to_all_who_hold_the_lock(jdk, classes, tmp_path, mode):
    needs(jdk, mode)
    truth, file = tmp_path / "truth.txt", tmp_path / "out.jfr"
    recorded(jdk, classes, file, "LockTruth", mode, HOLD_US, "sleep", SECONDS, truth)
    assert jfr_counts(jdk, file)["tarsier.LockHold"] > 0
    check(judged(truth, file))


@pytest.mark.every_jvm
@undisturbed
def test_waits_for_a_latch_belong_to_the_last_one_that_counts_down(jdk, classes, tmp_path):
    truth, file = tmp_path / "truth.txt", tmp_path / "out.jfr"
    recorded(jdk, classes, file, "LatchTruth", 5000, 60, truth)
    assert jfr_counts(jdk, file)["tarsier.LockHold"] > 0
    check(judged(truth, file), shared=False)


@pytest.mark.parametrize("mode", ["rw", "semaphore"])
@undisturbed
def test_holders_are_right_in_a_program_that_already_contends(jdk, classes, tmp_path, mode):
    truth, file = tmp_path / "truth.txt", tmp_path / "out.jfr"
    with Program(jdk, classes, "LockTruth", mode, HOLD_US, "sleep", 0, truth) as program:
        program.ready()
        with Recorder("--lock-detail", mode, "-o", file, program.pid) as recorder:
            wait_for_recording(file, recorder.process)
            time.sleep(1)  # the engine starts after the file does, and changing classes takes some time
            begin = time.monotonic_ns()
            time.sleep(SECONDS)
            end = time.monotonic_ns()
            recorder.interrupt()
            recorder.finish()
        program.ask("stop")
        assert program.lines == ["READY", "stop done"]
    check(judged(truth, file, (begin, end)))


@undisturbed
def test_without_it_nothing_is_said_of_holders(jdk, classes, tmp_path):
    """So that the others mean something: unparks alone do not tell it."""
    truth, file = tmp_path / "truth.txt", tmp_path / "out.jfr"
    with Program(jdk, classes, "LockTruth", "stamped", HOLD_US, "sleep", SECONDS, truth,
                 options=[f"-agentpath:{LIBRARY}=lock,file={file}"]) as program:
        assert program.wait() == 0, program.errors
    assert jfr_counts(jdk, file).get("tarsier.LockHold", 0) == 0
    assert judged(truth, file).right_share < 0.95


@pytest.fixture(scope="session")
def class_code(tmp_path_factory):
    """The library of class_code.c."""
    return jvmti_library("class_code.c", tmp_path_factory.mktemp("code"))


@pytest.mark.every_jvm
@pytest.mark.parametrize("threads", [pytest.param((), id="platform"), pytest.param(("virtual",), id="virtual")])
def test_ten_sessions_leave_the_classes_as_they_were(jdk, classes, class_code, tmp_path, threads):
    needs(jdk, "virtual" if threads else "stamped")
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "SharedLocks", class_code, *threads) as program:
        program.ready()
        before = program.ask("code").split()
        assert "0" not in before
        with Recorder("--lock-detail", ALL, "-o", file, program.pid) as recorder:  # so that the rest means something
            wait_until(lambda: all(a != b for a, b in zip(before, program.ask("code").split())), "all classes are changed")
            recorder.interrupt()
            recorder.finish()
        assert program.ask("code").split() == before
        for number in range(9):
            tarsier("record", "--lock-detail", ALL, "-d", "200ms", "-o", tmp_path / f"{number}.jfr", program.pid)
            assert program.ask("code").split() == before
            assert jfr_counts(jdk, tmp_path / f"{number}.jfr")["tarsier.LockHold"] > 0
        done = int(program.ask("done"))
        wait_until(lambda: int(program.ask("done")) > done + 100, "the program goes on")
        assert program.ask("stop") == "nothing"
        assert all(line.split()[0] in ("READY", "code", "done", "stop") for line in program.lines), program.lines
        assert not any("Registrar" in line or "TarsierHolds" in line for line in program.errors), program.errors


def test_forbidden_hooks_leave_the_classes_alone_and_that_is_said(jdk, classes, class_code, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "SharedLocks", class_code) as program:
        program.ready()
        before = program.ask("code")
        with Recorder("--lock-detail", ALL, "--no-hooks", "-o", file, program.pid) as recorder:
            wait_for_recording(file, recorder.process)
            time.sleep(1)
            assert program.ask("code") == before
            recorder.interrupt()
            _, said = recorder.finish()
        assert "--no-hooks" in said
        assert "--no-hooks" in str(report(file)["recording"]["engines"])
