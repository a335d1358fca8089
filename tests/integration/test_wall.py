"""The clock on the wall: who runs and who waits, and what the waiting ones notice of us."""
import json
import math

import pytest
from harness import LIBRARY, Program, books_by_jfr, samples_by_jfr

NAMES = {"Work.seventy": "seventy", "Work.leaf": "twenty", "Work.ten": "ten"}


def record(jdk, classes, file):
    """(what the program itself measured on the wall, wall samples)"""
    agent = f"-agentpath:{LIBRARY}=cpu,clock=wall,interval=1ms,file={file}"
    with Program(jdk, classes, "KnownAnswer", 8, options=["-XX:+UseSerialGC", agent]) as program:
        truth = json.loads(program.wait_for("elapsed ", 120))
        assert program.wait() == 0
    return truth, samples_by_jfr(jdk, file, depth=64, event="tarsier.WallSample")


def test_a_running_and_a_sleeping_thread(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    truth, samples = record(jdk, classes, file)

    # The one that runs: its methods in the shares in which it runs them. (When it asks for the time, a loaded machine
    # likes to take its CPU away: that is its time, too, but it belongs to none of them.)
    burned = [s for s in samples if s.thread == "main" and "KnownAnswer.burn" in s.frames and s.top in NAMES]
    total = sum(s.weight for s in burned)
    # On a loaded machine a few samples stand for the many milliseconds in which the thread waited for a CPU.
    effective = total**2 / sum(s.weight**2 for s in burned)
    for top, name in NAMES.items():
        expected = truth[name] / sum(truth.values())
        error = 0.02 + 4 * math.sqrt(expected * (1 - expected) / effective)
        assert sum(s.weight for s in burned if s.top == top) / total == pytest.approx(expected, abs=error), top
    assert sum(s.state == "STATE_RUNNABLE" for s in burned) > 0.9 * len(burned)

    # The one that sleeps: all the time, in one place, and it was woken only a few times to find that out.
    sleeper = [s for s in samples if s.thread == "sleeper"]
    asleep = [s for s in sleeper if any(name.startswith("java.lang.Thread.sleep") for name in s.frames)]
    span = max(s.time for s in samples) - min(s.time for s in sleeper)
    assert 0.8 * span < sum(s.weight for s in asleep) < 1.1 * span + 2
    waited = sum(s.weight for s in asleep if s.state == "STATE_SLEEPING")  # on its way into sleep() it runs
    assert waited > 0.95 * sum(s.weight for s in asleep)
    assert sum(not s.repeated for s in sleeper) <= 50, "that many signals for a thread that sleeps"

    taken, written, dropped = books_by_jfr(jdk, file)
    assert taken == written + sum(dropped.values())
    assert written == len(samples)
