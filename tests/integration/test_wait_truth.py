"""Known answers for waits: a program takes the time of its own waits, and the recording comes to the same, within 2 %.

The clock on the program's wall can't tell waiting from what it costs to go to sleep, nor from the time for which a thread
that was woken stands in the run queue, which on a busy machine may be as long as the wait. A wait, as we define it, is
neither. So the program reads its CPU clock and the kernel's count of its time in the run queue before and after each wait
as well, and what is compared is the rest: wall - cpu - queued.
"""
import functools
import json

import pytest
import slow_disk
from harness import LIBRARY, Program, books_by_jfr, engine, report
from test_waits import kernel_finds_waits

ROUNDS, LENGTH = 20, 50
WAYS = {"sleeps": "sleeping", "parks": "parked", "waits": "waiting", "entersMonitor": "monitor", "readsSocket": "socket",
        "readsPipe": "pipe", "readsProcess": "io", "selects": "selector"}
OF_A_DISK = {"readsFile": "file", "touches": "page fault"}
WITHIN = 0.02
LACKING = 1  # waits, of ROUNDS


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    return functools.cache(lambda jdk, found_by: tmp_path_factory.mktemp("truth"))


@functools.cache
def record(jdk, classes, found_by, folder):
    """Once for each JDK and each way to find waits: what the program itself measured, and what the report says."""
    file, disk = folder / "out.jfr", folder / "disk"
    disk.mkdir()
    agent = f"-agentpath:{LIBRARY}=cpu,waits=100us,waitsby={found_by},file={file}"

    def run(path):
        with Program(jdk, classes, "WaitTruth", ROUNDS, LENGTH, path, options=["-XX:+UseSerialGC", agent]) as program:
            truth = json.loads(program.wait_for("truth ", 240))
            assert program.wait() == 0
            return truth

    if slow_disk.possible():
        with slow_disk.SlowDisk(disk, (2 * ROUNDS + 4) << 20, LENGTH / 1000) as slow:
            truth = run(slow.path)
    else:
        truth = run("-")
    return jdk, found_by, file, truth, report(file, "waits,threads")


@pytest.fixture(params=["ebpf", "watcher"])
def recorded(request, jdk, classes, folders):
    if request.param == "ebpf" and not kernel_finds_waits():
        pytest.skip("eBPF is not permitted here, or the kernel is older than 6.1")
    result = record(jdk, classes, request.param, folders(jdk, request.param))
    truth, document = result[3:]
    lives = [thread["time"]["life_ns"] for thread in document["threads"] if thread["name"] == "sleeps" and thread["time"]]
    if not lives or lives[0] < truth["sleeps"]["wall"]:
        # A JVM that starts waits ten seconds for the agent, no longer.
        pytest.skip("the machine is so busy that the program had begun before the recording")
    return result


def waited(measured):
    return measured["wall"] - measured["cpu"] - measured["queued"]


def rows_in(document, method):
    return [row for row in document["waits"]["rows"] if f"WaitTruth.{method}" in row["blocked_chain"]]


def time_of(document, name):
    thread, = (t for t in document["threads"] if t["name"] == name)
    return thread["time"]


def agrees(recorded, method, thread, kind):
    _, found_by, _, truth, document = recorded
    expected = waited(truth[thread])
    assert expected > 0.5 * ROUNDS * LENGTH * 1e6, "the program is no test of this"
    rows = rows_in(document, method)
    of_kind = sum(row["ns"] for row in rows if row["kind"] == kind)
    # To be stopped by the JVM, for a safepoint, is also a wait in that method: another one, and rightly told from it.
    of_jvm = sum(row["ns"] for row in rows if row["kind"] == "vm")
    assert of_jvm < 0.2 * expected, rows
    missed = time_of(document, thread)["missed_waits"]["ns"]
    doubt = WITHIN * expected + truth[thread]["doubt"]
    if found_by == "ebpf":
        assert time_of(document, thread)["missed_waits"]["count"] <= LACKING
        # On a machine that is very busy the kernel's programs do not see every thread get its CPU back: see docs/waits.md.
        lacking = max(0, ROUNDS - sum(row["count"] for row in rows if row["kind"] == kind))
        assert lacking <= LACKING, rows
        doubt += lacking * expected / ROUNDS * 1.5
    else:
        # Our own thread may have been without a CPU for long; what lies in such a gap it can only count, or share out.
        gap = engine(document, "waits")["counters"]["longest time between two looks (ns)"]
        doubt += missed + (gap if gap > 1e6 else 0)
    # Where threads queue for long, the kernel's count of that has been seen to include time before the wake-up.
    queued = truth[thread]["queued"] if truth[thread]["queued"] > 2 * WITHIN * expected else 0
    figures = (of_kind, of_jvm, expected, missed, truth[thread], rows)
    assert expected - doubt <= of_kind + of_jvm <= expected + doubt + queued, figures
    others = [row for row in rows if row["kind"] not in (kind, "vm")]
    assert sum(row["ns"] for row in others) <= doubt, others
    assert all(row["blocked_chain"][-1].startswith("java.lang.Thread.run") for row in rows), rows


@pytest.mark.every_jvm
@pytest.mark.parametrize("way", WAYS)
def test_lengths_are_true_and_kinds_told_apart(recorded, way):
    agrees(recorded, way, way, WAYS[way])


@pytest.mark.every_jvm
@pytest.mark.parametrize("way", OF_A_DISK)
def test_waits_for_a_slow_disk_have_their_true_length(recorded, way):
    if way not in recorded[3]:
        pytest.skip("/dev/fuse is not there, or not for us")
    if way == "touches" and recorded[1] == "watcher":
        pytest.skip("only the kernel tells that a thread in the midst of Java code waits for memory")
    agrees(recorded, way, way, OF_A_DISK[way])


@pytest.mark.every_jvm
@pytest.mark.parametrize("method,thread,kind", [("awaitsB", "A", "waiting"), ("awaitsC", "B", "socket"),
                                                ("delays", "C", "sleeping")])
def test_each_wait_of_a_chain_has_its_true_length(recorded, method, thread, kind):
    agrees(recorded, method, thread, kind)


@pytest.mark.every_jvm
def test_a_chain_of_three_is_found_with_the_length_of_every_hop(recorded):
    _, found_by, _, truth, document = recorded
    if found_by != "ebpf":
        pytest.skip("the watcher does not know who wakes whom")
    rows = rows_in(document, "awaitsB")
    total = sum(row["ns"] for row in rows)
    # If the JVM stops one of them on its way, for a safepoint, that is a part of the chain, and of its truth.
    rows = [row for row in rows if row["kind"] != "vm" and not any(
        hop["woken_by"] == "jvm" or (hop["had_waited"] or {}).get("kind") == "vm" for hop in row["hops"])]
    undisturbed = sum(row["ns"] for row in rows)
    assert undisturbed > 0.7 * total, document["waits"]["rows"]

    def right(row):
        return ([hop["waker"] for hop in row["hops"]] == ["B", "C", None] and row["hops"][2]["woken_by"] == "interrupt"
                and "WaitTruth.endsA" in row["hops"][0]["waker_chain"] and row["hops"][0]["had_waited"]["kind"] == "socket"
                and "WaitTruth.endsB" in row["hops"][1]["waker_chain"] and row["hops"][1]["had_waited"]["kind"] == "sleeping")

    chains = [row for row in rows if right(row)]
    chained = sum(row["ns"] for row in chains)
    # Each of the three may lack a wait, and that is a chain less, or one that ends too early.
    broken = ROUNDS - sum(row["count"] for row in chains)
    assert chained >= (1 - WITHIN) * undisturbed or broken <= 3 * LACKING, rows
    for number, (waiting, waker) in enumerate(["AB", "BC"]):
        had_waited = sum(row["hops"][number]["had_waited"]["ns"] for row in chains)
        expected = waited(truth[waker])
        # If the one who waits loses its CPU between asking and going to sleep, the other waits alone meanwhile; that, and
        # what stands in the run queue after it was woken, is in its queue.
        alone = truth[waiting]["queued"] + truth[waiting]["cpu"] + truth[waiting]["doubt"] + total - chained
        if broken > 0:
            alone += 1.5 * broken * expected / ROUNDS
        low = (1 - WITHIN) * expected - alone - truth[waker]["doubt"]
        assert low <= had_waited <= (1 + WITHIN) * expected + truth[waker]["doubt"], (waker, had_waited, expected, truth)


@pytest.mark.every_jvm
def test_nothing_is_lost_uncounted(recorded):
    jdk, _, file, truth, document = recorded
    assert engine(document, "waits")["samples"]["written"] == document["waits"]["count"]
    taken, written, dropped = books_by_jfr(jdk, file, "waits")
    assert taken == written + sum(dropped.values())
    for way in WAYS:
        time = time_of(document, way)
        parts = sum(time[part]["ns"] for part in ("waits", "short_waits", "long_waits", "missed_waits", "open_wait"))
        assert time["life_ns"] == time["cpu_ns"] + time["run_queue_ns"] + parts, way
        assert time["life_ns"] >= truth[way]["wall"], way
