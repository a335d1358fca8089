"""A program that knows where its CPU time goes (tests/java/KnownAnswer.java) against what we say."""
import json
import math
import time

import pytest
from harness import (LIBRARY, STOLEN, Program, Recorder, engine, report, samples_by_jfr, tarsier, wait_for_recording,
                     wait_until)

pytestmark = [pytest.mark.signal_path, pytest.mark.every_jvm]

SERIAL = ["-XX:+UseSerialGC"]  # C2 leaves counted loops without polls then
METHODS = ("Work.seventy", "Work.twenty", "Work.ten")
ASKS = ("sun.management.ThreadImpl.getThreadTotalCpuTime0", "KnownAnswer.burn")


def true_shares(truth):
    total = sum(truth.values())
    return {f"Work.{name}": spent / total for name, spent in truth.items()}


def minus(after, before):
    return {name: after[name] - before[name] for name in after}


def shares_by_report(document):
    """{method: (self, total)} as shares of what the program measures: the JVM's start is not part of it."""
    hot = {row["method"]: row for row in document["hot"]}
    burned = hot["KnownAnswer.burn"]["total"]
    return {method: (row["self"] / burned, row["total"] / burned) for method, row in hot.items()}


def tolerance(document, share):
    """Two points at 1 ms, or four standard errors if the machine's load left few samples; a coarser clock takes fewer
    and gets those on top."""
    used = engine(document, document["recording"]["engines"][0]["name"])
    noise = 4 * math.sqrt(share * (1 - share) / used["samples"]["written"])
    # Samples that come late weigh more: they are worth fewer than they are.
    allowed = max(0.02, 1.5 * noise) if used["interval_ns"] <= 1_000_000 else 0.02 + noise
    return allowed + (unseen(document) if STOLEN.is_much() else 0)


def unseen(document):
    """The share of the threads' CPU time that no sample stands for. What the hypervisor takes away is part of that time, and
    of what the program takes for its truth: it may have been any method's."""
    app = [row for row in document["threads"] if row["kind"] == "app"]
    return max(0, 1 - sum(row["sampled_ns"] for row in app) / sum(row["cpu_ns"] for row in app))


def check_shares(document, truth, among=None):
    """`among`: the shares are of these methods only; all else must be where the program asks for the time."""
    shares, expected = shares_by_report(document), true_shares(truth)
    if among:
        whole = sum(shares[method][1] for method in among)
        asks = sum(own for method, (own, _) in shares.items() if method in ASKS)
        assert whole + asks > 0.95, (whole, asks, document["verdict"])
        shares = {method: (own / whole, total / whole) for method, (own, total) in shares.items()}
    wrong = {}
    for method, share in expected.items():
        # The leaf is inlined into twenty() and does all its work; the two others are leaves themselves.
        leaf = "Work.leaf" if method == "Work.twenty" else method
        for name, found in ((method, shares[method][1]), (leaf, shares[leaf][0])):
            if abs(found - share) > tolerance(document, share):
                wrong[name] = f"{found:.4f} instead of {share:.4f} +- {tolerance(document, share):.4f}"
    assert not wrong, (wrong, document["verdict"])


def waited(program, truth):
    """Had the program to wait for a CPU, by its own account? Then a clock that is a thread finds it where it was preempted,
    which is where it asks for the time: up to a tenth of the CPU time is shown there (docs/jdk-ledger.md)."""
    elapsed = next(json.loads(line.removeprefix("elapsed ")) for line in program.lines if line.startswith("elapsed "))
    return sum(elapsed.values()) > 1.1 * sum(truth.values())


def check_quality(document, samples):
    """The file and the report agree, and hardly a sample is without a stack."""
    written = engine(document)["samples"]["written"]
    assert len(samples) == written
    failed = [sample for sample in samples if sample.failure is not None]
    assert document["quality"]["samples"] == written
    assert sum(document["quality"]["failed"].values()) == len(failed)
    # The JVM's start is not part of it: emulated, it has a twentieth of all samples and half of those without a stack.
    began = min(sample.time for sample in samples if "KnownAnswer.burn" in sample.frames)
    burned = [sample for sample in samples if sample.time >= began]
    without_java = [sample for sample in burned if not any(name.startswith(("Work.", "KnownAnswer.", "java."))
                                                            for name in sample.frames)]
    assert len(without_java) <= 0.01 * len(burned), [(s.thread, s.failure, s.frames) for s in without_java[:20]]


def check_sleeper(samples, starts=False):
    """`starts`: the thread is started while we record, which takes a little CPU time; then it sleeps for good."""
    found = [sample for sample in samples if sample.thread == "sleeper"]
    assert sum(sample.weight for sample in found) <= (0.05 if starts else 0), [sample.frames for sample in found]


def test_shares_when_started_with_the_agent(jdk, classes, tmp_path, clock):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,clock={clock},file={file}"
    with Program(jdk, classes, "KnownAnswer", 10, options=[*SERIAL, agent]) as program:
        truth = json.loads(program.wait_for("truth ", 200))
        assert program.wait() == 0
    document = report(file)
    assert engine(document)["mechanism"].startswith(clock)
    check_shares(document, truth, METHODS if clock == "timekeeper" and waited(program, truth) else None)
    samples = samples_by_jfr(jdk, file, depth=64)
    check_sleeper(samples, starts=True)
    check_quality(document, samples)
    assert not any(sample.imprecise for sample in samples), "nothing was compiled before the agent came"


def test_shares_when_started_by_the_command(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    done = tarsier("record", "-o", file, "--", jdk.tool("java"), *SERIAL, "-cp", classes, "KnownAnswer", 10, seconds=120)
    truth = [line for line in done.stdout.splitlines() if line.startswith("truth ")]
    assert len(truth) == 1, done.stdout
    check_shares(report(file), json.loads(truth[0].removeprefix("truth ")))


def test_shares_when_attached_late(known_answer, jdk, tmp_path):
    """Code compiled before is marked; what is compiled afterwards is as precise as from the start."""
    file = tmp_path / "out.jfr"
    with Recorder("-o", file, known_answer.pid) as recorder:
        wait_for_recording(file)
        time.sleep(2)
        before_switch = time.time()
        known_answer.ask("fresh")
        time.sleep(2)  # C2 is done with the new code
        after_switch, begin = time.time(), known_answer.ask_json("truth")
        wait_until(lambda: sum(minus(known_answer.ask_json("truth"), begin).values()) >= 10e9,
                   "ten seconds of CPU time are burned", 200)
        truth, end = minus(known_answer.ask_json("truth"), begin), time.time()
        recorder.interrupt()
        recorder.finish()
    samples = samples_by_jfr(jdk, file, depth=64)
    check_sleeper(samples)
    check_quality(report(file), samples)
    old = [s for s in samples if s.thread == "burner" and s.time < before_switch]
    assert len([s for s in old if s.imprecise]) > 0.9 * len(old) > 0, f"{len(old)} samples in old code"
    new = [s for s in samples if s.thread == "burner" and after_switch <= s.time < end]
    assert not [s for s in new if s.imprecise and s.top.startswith("Work.")]
    # On a loaded machine the rest is in the kernel, where it is preempted, and where it asks for the time.
    tops = ("Work.seventy", "Work.leaf", "Work.ten")
    total = sum(s.weight for s in new if s.top in tops)
    assert total > 0.93 * sum(s.weight for s in new)
    error = (0.02 if len(new) > 8000 else 0.02 + 4 * math.sqrt(0.25 / len(new))) + (0.1 if STOLEN.is_much() else 0)
    for top, method in (("Work.seventy", "Work.seventy"), ("Work.leaf", "Work.twenty"), ("Work.ten", "Work.ten")):
        share = sum(s.weight for s in new if s.top == top) / total
        assert share == pytest.approx(true_shares(truth)[method], abs=error), top


def test_the_leaf_is_shown_as_inlined(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,file={file}"
    with Program(jdk, classes, "KnownAnswer", 8, options=[*SERIAL, agent]) as program:
        assert program.wait(200) == 0
    leaf = [s for s in samples_by_jfr(jdk, file) if s.top == "Work.leaf"]
    leaf = leaf[len(leaf) // 2:]  # C2 may be late on a loaded machine
    assert len(leaf) > 50
    assert sum(s.types[0] == "Inlined" for s in leaf) > 0.9 * len(leaf)


def test_what_java_code_calls_in_the_jvm_has_a_stack(jdk, classes, tmp_path):
    """Math.pow and the like are C++ functions or stubs, where AsyncGetCallTrace by itself sees nothing."""
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,file={file}"
    with Program(jdk, classes, "RuntimeCalls", 4, options=[agent]) as program:
        assert program.wait(200) == 0
    document = report(file)
    hot = {row["method"]: row for row in document["hot"]}
    assert hot["RuntimeCalls.work"]["total"] > 0.85 * hot["RuntimeCalls.main"]["total"] > 0.5, document["verdict"]
    # On x86_64 C2 has instructions or stubs for all of them, but for the remainder.
    assert sum(row["self"] for name, row in hot.items() if name.startswith(("lib", "dsin", "StubRoutines"))) > 0.1
    assert sum(document["quality"]["failed"].values()) < 0.05 * document["quality"]["samples"], document["quality"]


def test_both_engines_call_a_stub_by_the_same_name(jdk, classes, tmp_path):
    def stubs(engine):
        file = tmp_path / f"{engine}.jfr"
        agent = f"-agentpath:{LIBRARY}=cpu,engine={engine},file={file}"
        with Program(jdk, classes, "RuntimeCalls", 3, options=[agent]) as program:
            assert program.wait(200) == 0
        return {row["method"] for row in report(file)["hot"] if row["self"] > 0.02 and "." not in row["method"]}

    of_agct, of_fragment = stubs("agct"), stubs("fragment")
    assert not [name for name in of_agct if name.startswith("StubRoutines")], of_agct
    assert of_agct & of_fragment, (of_agct, of_fragment)
