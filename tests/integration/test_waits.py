"""Waits with their call chain and true length: the program measures its own, and we must come to the same.

On a machine so busy that our own thread hardly gets a CPU the watcher does not see every wait; what it has missed is in
the account, and the more of it there is, the less can be asked of the rest. The kernel sees (practically) all of them.
"""
import json
import os
import platform

import pytest
from harness import (LIBRARY, Program, books_by_jfr, ebpf_allowed, engine, report, samples_by_jfr, tarsier,
                     wait_until)

WAYS = {"sleeps": "sleeping", "parks": "parked", "waits": "waiting", "entersMonitor": "monitor", "readsSocket": "socket"}
ROUNDS = 25
PARTS = ("waits", "short_waits", "long_waits", "missed_waits", "open_wait")


@pytest.fixture(params=["ebpf", "watcher"])
def found_by(request):
    if request.param == "ebpf" and not kernel_finds_waits():
        pytest.skip("eBPF is not permitted here, or the kernel is older than 6.1")
    return request.param


def kernel_finds_waits():
    release = tuple(map(int, platform.release().split("-")[0].split(".")[:2]))
    return ebpf_allowed() and release >= (6, 1)


def record(jdk, classes, file, found_by, hogs=0, waits="waits=1ms", rounds=ROUNDS, length=100):
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
        # Some kernels leave out switches, now and then both of a wait (docs/waits.md).
        assert truth[way]["count"] - missed["count"] <= count + 1, (way, rows)
        # A monitor's own code in the JVM wakes up in between and looks whether it is free; others seldom have to.
        if way != "entersMonitor":
            assert count <= 1.2 * ROUNDS + 3, (way, rows)
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
    duration = document["recording"]["duration_s"] * 1e9
    # On a loaded machine, which the program itself makes it, it takes seconds until all is set up.
    assert 0.25 * duration <= times["main"]["life_ns"] <= 1.05 * duration
    for hog in (name for name in times if name.startswith("hog-")):
        rows = report(file, "waits", "--thread", f"^{hog}$")["waits"]["rows"]
        # It waits for the JVM only: at a safepoint, or to load a class, which on a busy machine another of them may be at
        # already; or, before it runs Java, to be started.
        assert not [row for row in rows if row["kind"] != "vm" and row["blocked_chain"] != ["[no Java frame]"]
                    and not any("ClassLoader" in frame for frame in row["blocked_chain"])], rows
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


@pytest.mark.since(21)
def test_a_virtual_thread_that_waits_on_its_carrier_is_named_and_complete(jdk, classes, tmp_path, found_by):
    file = tmp_path / "out.jfr"
    options = ["-XX:+UseSerialGC", "-Djdk.reflect.useNativeAccessorOnly=true",
               f"-agentpath:{LIBRARY}=cpu,waits=1ms,waitsby={found_by},file={file}"]
    with Program(jdk, classes, "Pinned", 4, 25, 20, options=options) as program:
        truth = json.loads(program.wait_for("truth ", 120))
        assert program.wait() == 0, program.errors
    waits = [wait for wait in samples_by_jfr(jdk, file, depth=200, event="tarsier.Wait") if "Pinned.sleeps" in wait.frames]
    # Only the watcher may come too late; and some kernels leave switches out, now and then both of a wait.
    dropped = engine(report(file), "waits")["samples"]["dropped"]
    missed = sum(dropped.get(why, 0) for why in ("over before the stack was read", "begin not seen", "end not seen"))
    assert 0.98 * truth["count"] - missed <= len(waits) <= 1.1 * truth["count"]
    slept = sum(wait.weight for wait in waits)
    assert slept * 1e9 <= 1.05 * truth["took_ns"]
    assert found_by == "watcher" or slept * 1e9 >= 0.7 * truth["slept_ns"]
    whole = [wait for wait in waits if wait.frames.count("Pinned.deep") == 31 and "Pinned.task" in wait.frames
             and "java.lang.VirtualThread.run" in wait.frames]
    # The stacks of each carrier are cut until our thread, which may have to wait for a CPU, has learnt from one that it
    # needs a large place.
    assert len(whole) >= 0.8 * len(waits), [wait.frames for wait in waits if wait not in whole][:2]
    named = [wait for wait in whole if wait.is_virtual and wait.thread and wait.thread.startswith("pinned-")
             and wait.carrier.startswith("ForkJoinPool")]
    assert len(named) == len(whole)


def test_thousands_of_threads_that_sleep_have_their_stacks(jdk, classes, tmp_path, found_by):
    count, file = 3000, tmp_path / "out.jfr"
    with Program(jdk, classes, "ManyThreads", count, options=["-Xmx300m", "-XX:+UseSerialGC"]) as program:
        program.ready()
        tarsier("record", "--waits=1ms", "--waits-by", found_by, "-d", "5s", "-o", file, program.pid, seconds=180)
    document = report(file, "waits")
    rows = [row for row in document["waits"]["rows"] if "ManyThreads.live" in row["blocked_chain"]]
    # Each of them sleeps; on a machine so busy that our own thread hardly gets a CPU the watcher has not looked at all.
    assert sum(row["count"] for row in rows) >= (count if found_by == "ebpf" else count / 2)
    assert all(row["blocked_chain"][-1].startswith("java.lang.Thread.run") for row in rows), rows
    used = engine(document, "waits")
    assert used["counters"].get("threads without memory for their stacks", 0) == 0


def test_many_sessions_leave_nothing_in_the_kernel(known_answer, tmp_path):
    if not kernel_finds_waits():
        pytest.skip("eBPF is not permitted here, or the kernel is older than 6.1")

    def held():
        names = (os.readlink(f"/proc/{known_answer.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{known_answer.pid}/fd"))
        return sorted(name for name in names if "bpf" in name)

    for number in range(5):
        tarsier("record", "--waits", "--waits-by", "ebpf", "-d", "300ms", "-o", tmp_path / f"{number}.jfr", known_answer.pid)
        wait_until(lambda: held() == [], lambda: f"nothing is held, not {held()}", 10)
    assert report(tmp_path / "4.jfr", "waits")["waits"]["count"] > 0
