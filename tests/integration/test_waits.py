"""Waits with their call chain and true length: the program measures its own, and we must come to the same.

On a machine so busy that our own thread hardly gets a CPU the watcher does not see every wait; what it has missed is in
the account, and the more of it there is, the less can be asked of the rest. The kernel sees (practically) all of them.
"""
import json

import pytest
from harness import LIBRARY, Program, books_by_jfr, ebpf_allowed, engine, report, samples_by_jfr

WAYS = {"sleeps": "sleeping", "parks": "parked", "waits": "waiting", "entersMonitor": "monitor", "readsSocket": "io"}
PARTS = ("waits", "short_waits", "long_waits", "missed_waits", "open_wait")


@pytest.fixture(params=["ebpf", "watcher"])
def found_by(request):
    if request.param == "ebpf" and not ebpf_allowed():
        pytest.skip("eBPF is not permitted here")
    return request.param


def record(jdk, classes, file, found_by, hogs=0, waits="waits=1ms", rounds=25, length=100):
    """What the program itself measured, by way to wait."""
    agent = f"-agentpath:{LIBRARY}=cpu,{waits},waitsby={found_by},file={file}"
    with Program(jdk, classes, "Waits", rounds, length, hogs, options=["-XX:+UseSerialGC", agent]) as program:
        truth = json.loads(program.wait_for("truth ", 240))
        assert program.wait() == 0
    return truth


def in_method(rows, way):
    return [row for row in rows if f"Waits.{way}" in row["blocked_chain"]]


def time_of(document, name):
    thread, = (t for t in document["threads"] if t["name"] == name)
    return thread["time"]


@pytest.mark.parametrize("hogs", [0, 4], ids=["alone", "beside hogs"])
def test_every_way_to_wait_has_its_true_time_and_its_chain(jdk, classes, tmp_path, found_by, hogs):
    file = tmp_path / "out.jfr"
    truth = record(jdk, classes, file, found_by, hogs)
    document = report(file, "waits,threads")
    waits = document["waits"]
    # Our own thread may be without a CPU for long; what lies in such a gap it can only share out.
    unwatched = engine(document, "waits")["counters"].get("longest time between two looks (ns)", 0)

    for way, kind in WAYS.items():
        rows = in_method(waits["rows"], way)
        ns, count = sum(row["ns"] for row in rows), sum(row["count"] for row in rows)
        missed = time_of(document, way)["missed_waits"]
        assert found_by == "watcher" or missed["ns"] < 0.15 * truth[way]["ns"], (way, missed)
        error = abs(ns - truth[way]["ns"])
        doubt = truth[way]["doubt"] + missed["ns"] + unwatched
        assert error < 0.05 * truth[way]["ns"] + doubt, (way, ns, truth[way], missed)
        assert truth[way]["count"] - missed["count"] <= count, (way, rows)
        # A monitor's own code in the JVM wakes up in between and looks whether it is free; others seldom have to.
        if way != "entersMonitor":
            assert count <= 1.2 * truth[way]["count"] + 3, (way, rows)
        assert sum(row["ns"] for row in rows if row["kind"] == kind) > 0.95 * ns, (way, rows)
        assert all(row["blocked_chain"][-1].startswith("java.lang.Thread.run") for row in rows), rows

    short = time_of(document, "shortly")
    unseen = sum(short[part]["count"] for part in ("short_waits", "missed_waits"))
    assert unseen >= 0.9 * truth["shortly"]["count"], (short, truth["shortly"])

    books = engine(document, "waits")["samples"]
    assert books["written"] == waits["count"]
    taken, written, dropped = books_by_jfr(jdk, file, "waits")
    assert taken == written + sum(dropped.values())


def test_all_of_a_threads_time_is_accounted_for_and_preemption_is_no_wait(jdk, classes, tmp_path, found_by):
    file = tmp_path / "out.jfr"
    record(jdk, classes, file, found_by, hogs=4)
    document = report(file, "threads")
    times = {t["name"]: t["time"] for t in document["threads"] if t["time"]}
    for name, time in times.items():
        assert time["life_ns"] == time["cpu_ns"] + time["run_queue_ns"] + sum(time[part]["ns"] for part in PARTS), name
    # main lives as long as the recording.
    assert times["main"]["life_ns"] == pytest.approx(document["recording"]["duration_s"] * 1e9, rel=0.2)
    for hog in (name for name in times if name.startswith("hog-")):
        rows = report(file, "waits", "--thread", f"^{hog}$")["waits"]["rows"]
        # It waits for the JVM only: at a safepoint, or to load a class.
        assert not [row for row in rows if row["kind"] != "vm"], rows
        unseen = sum(times[hog][part]["ns"] for part in ("short_waits", "missed_waits"))
        assert unseen < 0.1 * times[hog]["life_ns"] + 50e6, times[hog]


def test_waits_that_go_on_are_written_with_their_length_so_far(jdk, classes, tmp_path, found_by):
    file = tmp_path / "out.jfr"
    record(jdk, classes, file, found_by, rounds=5)
    waits = samples_by_jfr(jdk, file, depth=64, event="tarsier.Wait")
    # This one waits from before the recording on, and nobody wakes it.
    last = [w for w in waits if w.thread == "Finalizer"][-1]
    assert last.ongoing and last.kind == "waiting", last.frames
    assert last.frames[0].startswith("java.lang.Object.wait")
    assert last.weight > 0.5, last.weight
    # These are over.
    assert not any(w.ongoing for w in waits if w.thread == "sleeps")


def test_waits_longer_than_the_maximum_are_only_summed(jdk, classes, tmp_path, found_by):
    file = tmp_path / "out.jfr"
    truth = record(jdk, classes, file, found_by, waits="waits=1ms-50ms")
    document = report(file, "waits,threads")
    assert all(row["max_ns"] <= 50e6 for row in document["waits"]["rows"])
    time = time_of(document, "sleeps")
    assert time["long_waits"]["ns"] + time["missed_waits"]["ns"] + time["waits"]["ns"] >= 0.95 * truth["sleeps"]["ns"]
    assert time["long_waits"]["ns"] > 0
