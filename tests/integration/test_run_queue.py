"""Threads that want to run and have no CPU: told from waiting, and as long as the kernel tells the program itself.

The program has one CPU for all of its threads, ours included, so that it is certain that they have to queue.
"""
import json
import os

import pytest
from harness import LIBRARY, Program, report
from test_waits import PARTS, found_by  # noqa: F401  (a fixture)

BURNERS, MILLIS, ROUNDS, LENGTH = 4, 3000, 40, 20
# What a thread spends in the queue before the agent knows it, or after it has read its own account: a turn or two.
WITHIN = 0.04


@pytest.fixture
def recorded(jdk, classes, tmp_path, found_by):  # noqa: F811
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,waits=1ms,waitsby={found_by},file={file}"
    program = Program(jdk, classes, "Overload", BURNERS, MILLIS, ROUNDS, LENGTH, options=["-XX:+UseSerialGC", agent])
    program.command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *program.command]
    with program:
        truth = json.loads(program.wait_for("truth ", 240))
        assert program.wait() == 0
    document = report(file, "threads,waits")
    return found_by, file, truth, document, {row["name"]: row for row in document["threads"] if row["name"] in truth}


@pytest.mark.every_jvm
def test_the_run_queue_of_threads_that_burn_is_what_the_kernel_tells_them(recorded):
    found_by, file, truth, _, rows = recorded
    for name in (name for name in truth if name.startswith("burns-")):
        queued, time = truth[name]["queued"], rows[name]["time"]
        assert queued > 0.5 * MILLIS * 1e6, "the program is no test of this"
        assert rows[name]["resources"]["run_queue_ns"] == pytest.approx(queued, rel=WITHIN), (name, truth[name], rows[name])
        # Now and then the programs in the kernel do not see a turn begin; so much is in the missed waits, with the rest of its
        # life that nobody can explain.
        gap = time["missed_waits"]["ns"] if found_by == "ebpf" else 0
        assert gap < 0.05 * queued, (name, time)
        assert time["run_queue_ns"] + gap == pytest.approx(queued, rel=WITHIN), (name, truth[name], time)
        assert time["life_ns"] == time["cpu_ns"] + time["run_queue_ns"] + sum(time[part]["ns"] for part in PARTS)
        # Whoever is without a CPU does not wait for anything: but for the JVM, as long as it starts.
        in_work = [row for row in report(file, "waits", "--thread", f"^{name}$")["waits"]["rows"]
                   if "Overload.burns" in row["blocked_chain"] and row["kind"] != "vm"]
        assert sum(row["ns"] for row in in_work) < 0.01 * queued, in_work


@pytest.mark.every_jvm
def test_a_sleep_is_as_long_as_the_timer_and_the_queue_behind_it_is_none_of_it(recorded):
    found_by, _, truth, document, rows = recorded
    mine = truth["sleeps"]
    sleeps = [row for row in document["waits"]["rows"] if "Overload.sleeps" in row["blocked_chain"]]
    slept = sum(row["ns"] for row in sleeps if row["kind"] == "sleeping")
    time = rows["sleeps"]["time"]
    unseen = time["missed_waits"]["ns"]
    if found_by == "ebpf":
        # To the kernel's timers a sleep is hardly longer than was asked for, however long it was by the clock on the wall. (It is
        # shorter if it was queued before it could go to sleep, and there may be a safepoint at its end.)
        assert slept <= 1.1 * ROUNDS * LENGTH * 1e6, sleeps
        assert time["missed_waits"]["count"] <= 1, time
        unseen = 0  # what the programs have not seen was no sleep
    # Of turns that it lost just when it read its clocks the program itself can't tell on which side of them they are: on a
    # machine that others use, too, it has told of 749 ms where 40 sleeps of 20 ms can't have been less than 800.
    assert mine["nanos"] == pytest.approx(slept + unseen, rel=0.02, abs=80e6), (slept, unseen, mine)
    assert rows["sleeps"]["resources"]["run_queue_ns"] == pytest.approx(mine["queued"], rel=WITHIN, abs=50e6), (mine, rows)
