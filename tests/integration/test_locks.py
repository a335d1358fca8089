"""Who was blocked, and who blocked them: threads that log their own critical sections (tests/java/LockTruth.java) against what
we say, by the judge of lock_truth.py. Bounds are on shares of what these threads have truly waited."""
import time

import pytest
from harness import LIBRARY, Program, Recorder, report, tarsier, wait_for_recording
from lock_truth import Truth, judge, monitor_contentions, read_csv
from undisturbed import undisturbed

MONITORS = ["sync", "method", "static", "throwing", "nested", "wait", "barging"]
PARKS = ["reentrant", "fair", "condition", "barging-reentrant"]
SECONDS = 2
ONCE_HELD_UP_NS = 10_000_000  # a thread, between waking up and looking at its clock: much of what is little in all


def wrong_at_most(jdk, mode):
    """C2 code of 24 and later releases monitors where nobody sees it. Who unparks is not always who held the lock all the
    time: another one may have had it in between, or taken it from a condition."""
    if mode == "condition":
        return 0.15
    return 0.025 if jdk.major >= 24 or mode in PARKS else 0.005


def right_at_least(mode, work):
    """While threads burn, more want to run than there are CPUs, and a thread that has said that it blocks may not have begun
    to wait when the lock is released: nobody sees that (docs/locks.md)."""
    if mode == "condition":
        return 0.8
    return 0.98 if work == "sleep" else 0.85


def contend(jdk, classes, folder, mode, hold_us=1000, work="sleep", engine="lock", options=(), virtual=False,
            mechanism="hooks"):
    """(the truth, our rows) of a whole run."""
    log, file = folder / "truth.txt", folder / "out.jfr"
    with Program(jdk, classes, "LockTruth", mode, hold_us, work, SECONDS, log, *(["virtual"] if virtual else []),
                 options=[*options, f"-agentpath:{LIBRARY}={engine},file={file}"]) as program:
        assert program.wait() == 0, program.errors
    if engine == "lock":
        need_hooks(file, mechanism)
    return Truth.read(log), rows_of(file)


def lock_engine(file):
    return next(engine for engine in report(file)["recording"]["engines"] if engine["name"] == "lock")


def need_hooks(file, mechanism="hooks"):
    lock = lock_engine(file)
    expected = [mechanism] if mechanism != "hooks" else ["hooks", "usdt", "exports"]  # the JDK may have been stripped
    assert lock["mechanism"] in expected, lock["why"]


def rows_of(file):
    return read_csv(tarsier("export", file, "--to", "csv").stdout)


def check(entering, wrong, right=0.98, seen=0.9, coarse=False):
    """`coarse`: where compiled code releases monitors is not seen (8 has no symbols, docs/locks.md)."""
    print(entering)  # shown if one of these fails
    assert entering.held.total() > 0
    assert entering.right + (entering.share("caller only") if coarse else 0) >= right
    assert entering.wrong_thread <= wrong
    assert entering.outside_share <= 0.005 or entering.outside < ONCE_HELD_UP_NS
    # On its way to a lock a thread may load a class, and wait for another thread that does so.
    assert entering.other_lock_share <= 0.005 and entering.mislabelled == 0
    # What is blocked by the clock of the thread also has the time in which the JVM spins, or the thread has no CPU.
    assert entering.seen_share() >= seen
    assert entering.share("caller only") > 0 or entering.blame_apart() <= 1 - right + 1 - entering.seen_share() + 0.02


@pytest.mark.every_jvm
@pytest.mark.parametrize("work", ["sleep", "burn"])
@pytest.mark.parametrize("mode", MONITORS + PARKS)
@undisturbed
def test_blocked_time_has_its_true_owner(jdk, classes, tmp_path, mode, work):
    entering, _ = judge(*contend(jdk, classes, tmp_path, mode, work=work))
    check(entering, wrong_at_most(jdk, mode), right_at_least(mode, work), coarse=jdk.major == 8)
    assert entering.share("wrong way in") <= 0.02


@pytest.mark.every_jvm
@undisturbed
def test_the_way_back_from_a_notified_wait_has_its_true_owner(jdk, classes, tmp_path):
    _, after_wait = judge(*contend(jdk, classes, tmp_path, "wait"))
    why = lock_engine(tmp_path / "out.jfr")["why"]
    if jdk.major == 8 and "ObjectMonitor::wait" not in why:
        pytest.skip(f"its functions were not found: {why}")
    check(after_wait, wrong_at_most(jdk, "wait"), right=0.95)


@pytest.mark.every_jvm
@pytest.mark.parametrize("mode", ["sync", "method", "barging", "reentrant", "fair"])
@undisturbed
def test_short_sections_have_their_true_owner_mostly(jdk, classes, tmp_path, mode):
    entering, _ = judge(*contend(jdk, classes, tmp_path, mode, hold_us=100, work="burn"))
    check(entering, wrong_at_most(jdk, mode) + 0.025, right=0.7 if mode in PARKS else 0.75, seen=0.8,
          coarse=jdk.major == 8)


@pytest.mark.since(21)
@pytest.mark.every_jvm
@pytest.mark.parametrize("mode, work", [("sync", "sleep"), ("sync", "burn"), ("reentrant", "sleep"), ("reentrant", "burn"),
                                        ("fair", "sleep"), ("condition", "sleep")])
@undisturbed
def test_virtual_threads_have_their_true_owner(jdk, classes, tmp_path, mode, work):
    """They begin soon after the JVM: what is first seen is that there are some."""
    entering, _ = judge(*contend(jdk, classes, tmp_path, mode, work=work, virtual=True))
    check(entering, max(0.025, wrong_at_most(jdk, mode)), right=0.95 if work == "sleep" else 0.85)
    assert entering.share("wrong way in") <= 0.02


@pytest.mark.every_jvm
@pytest.mark.parametrize("compiler", ["-Xint", "-XX:TieredStopAtLevel=1"])
@undisturbed
def test_owners_are_right_however_the_code_runs(jdk, classes, tmp_path, compiler):
    entering, _ = judge(*contend(jdk, classes, tmp_path, "sync", work="burn", options=[compiler]))
    check(entering, wrong_at_most(jdk, "sync"), right_at_least("sync", "burn"), coarse=jdk.major == 8)


@pytest.mark.every_jvm
@pytest.mark.parametrize("mode", ["sync", "reentrant"])
def test_chains_that_are_known_from_the_last_ones_are_those_that_a_walk_finds(jdk, classes, tmp_path, mode):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "LockTruth", mode, 20, "burn", SECONDS, tmp_path / "truth.txt",
                 options=[f"-agentpath:{LIBRARY}=lock,file={file}"]) as program:
        assert program.wait() == 0, program.errors
    need_hooks(file)
    counters = lock_engine(file)["counters"]
    frames, known = counters["frames of chains"], counters["frames known from the thread's last chains"]
    assert known > 0.5 * frames, counters
    assert counters["chains known from the last ones, and walked to try it"] > 0, counters
    assert counters["chains known from the last ones, wrongly"] == 0, counters


@pytest.mark.every_jvm
@pytest.mark.parametrize("mode", ["sync", "reentrant"])
@undisturbed
def test_owners_are_right_in_a_program_that_already_contends(jdk, classes, tmp_path, mode):
    log, file = tmp_path / "truth.txt", tmp_path / "out.jfr"
    with Program(jdk, classes, "LockTruth", mode, 1000, "sleep", 0, log) as program:
        program.ready()
        with Recorder("--lock", "-o", file, program.pid) as recorder:
            wait_for_recording(file, recorder.process)
            time.sleep(0.5)  # the engine starts after the file does
            begin = time.monotonic_ns()
            time.sleep(SECONDS)
            end = time.monotonic_ns()
            recorder.interrupt()
            recorder.finish()
        program.ask("stop")
    need_hooks(file)
    entering, _ = judge(Truth.read(log), rows_of(file), window=(begin, end))
    check(entering, wrong_at_most(jdk, mode), right_at_least(mode, "sleep"), coarse=jdk.major == 8)


@pytest.mark.every_jvm
@pytest.mark.parametrize("mode", ["sync", "wait"])
@pytest.mark.parametrize("engine", ["lock", "lock=blocked"])
def test_contentions_are_as_many_as_the_jvm_counts(jdk, classes, tmp_path, mode, engine):
    truth, rows = contend(jdk, classes, tmp_path, mode, engine=engine)
    counted = {thread: count for thread, (_, count) in truth.blocked_counts.items()}
    if not any(row["after_wait"] for row in rows):  # JVMTI says nothing of who re-enters after a wait
        for section in truth.sections:
            counted[section.thread] -= section.after_wait
    assert monitor_contentions(rows, truth) == counted
    assert sum(counted.values()) > 50


@pytest.mark.parametrize("mode", ["sync", "barging"])
@undisturbed
def test_without_owners_the_blocked_time_is_right_and_no_owner_has_a_chain(jdk, classes, tmp_path, mode):
    truth, rows = contend(jdk, classes, tmp_path, mode, engine="lock=blocked")
    entering, _ = judge(truth, rows)
    print(entering)
    assert entering.seen_share() >= 0.9 and entering.outside_share <= 0.005
    assert entering.other_lock_share <= 0.005 and entering.mislabelled == 0
    assert entering.share("right") == 0
    assert not any(row["owner_chain"] or row["owner_method"] for row in rows)
    assert {row["owner_kind"] for row in rows} <= {"thread", "unknown"}
    document = report(tmp_path / "out.jfr", "locks")
    assert "hook" not in str(document["recording"]["engines"]) + " ".join(document["verdict"])


@undisturbed
def test_forbidden_hooks_leave_the_blocked_side_and_that_is_said(jdk, classes, tmp_path):
    log, file = tmp_path / "truth.txt", tmp_path / "out.jfr"
    done = tarsier("record", "--lock", "--no-hooks", "-o", file, "--", jdk.tool("java"), "-cp", classes, "LockTruth", "sync",
                   1000, "sleep", SECONDS, log)
    assert "--no-hooks" in done.stderr
    document = report(file, "locks")
    assert "--no-hooks" in str(document["recording"]["engines"])
    entering, _ = judge(Truth.read(log), rows_of(file))
    assert entering.seen_share() >= 0.9 and entering.share("right") == 0
