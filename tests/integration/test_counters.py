"""Counters of threads: as many as other counters of the same threads have, opened by the test, and as the program itself reads.

The threads do nothing before they are told to work and nothing afterwards, so it does not matter who begins to count when.
"""
import os
import threading

import pytest
from harness import Program, Recorder, descriptors_of, engine, perf_allowed, report, threads_of, wait_until
from own_counters import EVENTS, HARDWARE, counting, has_hardware_counters

WORKERS = ("computes", "sleeps", "touches")
KERNEL_EVENTS = [name for name, (kind, _) in EVENTS.items() if kind != HARDWARE]

pytestmark = pytest.mark.skipif(not perf_allowed(), reason="perf events are not permitted here")


class Mover:
    """Sends a thread from one CPU to another and back, all the time."""

    def __init__(self, tid):
        self.tid, self.over = tid, threading.Event()
        self.cpus = sorted(os.sched_getaffinity(tid))
        self.thread = threading.Thread(target=self._move)

    def _move(self):
        turn = 0
        while not self.over.wait(0.02):
            turn += 1
            os.sched_setaffinity(self.tid, {self.cpus[turn % len(self.cpus)]})

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        os.sched_setaffinity(self.tid, self.cpus)


def recorded(jdk, classes, file, events):
    """(what we record, what the test's own counters have, what the program has read itself), each {thread: {name: count}}."""
    with Program(jdk, classes, "Counted", 1500, options=["-XX:+UseSerialGC"]) as program:
        program.ready()
        tids = {name: tid for tid, name in threads_of(program.pid).items() if name in WORKERS}
        assert len(tids) == len(WORKERS)

        def counters():
            return sum("perf_event" in name for name in descriptors_of(program.pid))

        with counting(events, tids) as own:
            # A clock that is no perf event, so that those that are open tell when counting has begun.
            with Recorder("--cpu", "--clock", "cputimer", f"--counters={','.join(events)}", "-d", "120s", "-o", file,
                          program.pid) as recorder:
                # Java threads have theirs at once, one after the other.
                wait_until(lambda: counters() >= len(threads_of(program.pid)) * len(events) * 0.8, "counting has begun")
                before = own()
                with Mover(tids["computes"]):
                    told = program.ask_json("work")
                recorder.interrupt()
                recorder.finish()
            after = own()
    document = report(file, "threads")
    rows = {row["name"]: row["counters"] for row in document["threads"] if row["name"] in WORKERS}
    differences = {name: {event: after[name][event] - before[name][event] for event in events} for name in WORKERS}
    return rows, differences, told, document


@pytest.mark.every_jvm
def test_software_counters_agree_with_others_and_with_what_the_kernel_tells_the_program(jdk, classes, tmp_path):
    rows, own, told, _ = recorded(jdk, classes, tmp_path / "out.jfr", KERNEL_EVENTS)
    for name in WORKERS:
        by_program = {"context-switches": told[name]["voluntary"] + told[name]["involuntary"],
                      "page-faults": told[name]["minor"] + told[name]["major"], "task-clock": told[name]["cpu"],
                      "cpu-migrations": told[name].get("migrations")}
        for event in KERNEL_EVENTS:
            counted = rows[name][event]
            # To be told to work, and to tell that it is done, is a part of what was counted.
            room = 300e3 if event == "task-clock" else 3
            assert counted == pytest.approx(own[name][event], rel=0.01, abs=room), (name, event, counted, own[name])
            if by_program[event] is not None:
                # Before and after its own readings it still does something, and may lose its CPU. And the scheduler itself
                # counts migrations of which perf is not told, and the time that it takes to switch.
                within = {"cpu-migrations": 0.6, "task-clock": 0.1}.get(event, 0.02)
                room = {"cpu-migrations": 10, "task-clock": 5e6 + 6e3 * by_program["context-switches"]}.get(event, 25)
                assert counted == pytest.approx(by_program[event], rel=within, abs=room), (name, event, counted, told[name])
    assert own["sleeps"]["context-switches"] > 1000 and own["computes"]["task-clock"] > 100e6
    if len(os.sched_getaffinity(0)) > 1:
        assert own["computes"]["cpu-migrations"] > 5


@pytest.mark.every_jvm
def test_instructions_are_those_of_perf_stat(jdk, classes, tmp_path):
    if not has_hardware_counters():
        pytest.skip("this machine has no PMU, or we may not use it")
    rows, own, _, _ = recorded(jdk, classes, tmp_path / "out.jfr", ["instructions"])
    for name in WORKERS:
        assert rows[name]["instructions"] == pytest.approx(own[name]["instructions"], rel=0.01), (name, rows, own)
    assert own["computes"]["instructions"] > 100e6


def test_without_a_pmu_a_line_says_so_and_the_kernels_events_are_counted(jdk, classes, tmp_path):
    if has_hardware_counters():
        pytest.skip("this machine has a PMU")
    rows, own, _, document = recorded(jdk, classes, tmp_path / "out.jfr", ["context-switches", "page-faults"])
    assert rows["sleeps"]["context-switches"] == pytest.approx(own["sleeps"]["context-switches"], rel=0.01, abs=3)
    with Program(jdk, classes, "Counted", 100) as program:
        program.ready()
        with Recorder("--counters", "-d", "1s", "-o", tmp_path / "all.jfr", program.pid) as recorder:
            _, said = recorder.finish()
    why = engine(report(tmp_path / "all.jfr"), "counters")["why"]
    for text in (why, said):
        assert "without cycles, instructions" in text and "PMU" in text, text
    counters = next(row["counters"] for row in report(tmp_path / "all.jfr", "threads")["threads"] if row["counters"])
    assert "context-switches" in counters and "instructions" not in counters
