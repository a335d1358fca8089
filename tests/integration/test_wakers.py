"""Who ended a wait: the program knows who ends its own, and in which method."""
import functools
import json
import os

import pytest
from harness import LIBRARY, Program, engine, report, samples_by_jfr, tarsier
from test_waits import kernel_finds_waits

ROUNDS, LENGTH = 15, 100
# In which method who waits is ended by whom, in which method of theirs, and what they themselves had waited for before.
BY_THREADS = {
    "awaitsB": ("parked", "B", "endsA", "parked"),
    "awaitsC": ("parked", "C", "endsB", "sleeping"),
    "readsSocket": ("socket", "sender", "endsRead", "sleeping"),
    "entersMonitor": ("monitor", "owner", "endsEntry", "sleeping"),
    "waitsForNotify": ("waiting", "notifier", "endsWait", "sleeping"),
}
MEGABYTES = 48

pytestmark = pytest.mark.skipif(not kernel_finds_waits(), reason="eBPF is not permitted here, or the kernel is too old")


def unread_file(path):
    """A file of which nothing is in memory, if the file system has any other place for it."""
    with open(path, "wb") as out:
        for _ in range(MEGABYTES):
            out.write(os.urandom(1 << 20))
        out.flush()
        os.fsync(out.fileno())
        os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


@functools.cache
def record(jdk, classes, folder):
    """Once for each JDK: what the program itself measured, and what the report says."""
    file = folder / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,waits=100us,waitsby=ebpf,file={file}"
    with Program(jdk, classes, "Wakers", ROUNDS, LENGTH, unread_file(folder / "read"), unread_file(folder / "mapped"),
                 options=["-XX:+UseSerialGC", agent]) as program:
        truth = json.loads(program.wait_for("truth ", 240))
        assert program.wait() == 0
    return jdk, file, truth, report(file, "waits,threads")


def began_late(truth, document):
    """A JVM that starts waits ten seconds for the agent, which is not enough on a machine that is very busy."""
    lives = [thread["time"]["life_ns"] for thread in document["threads"] if thread["name"] == "sleeps" and thread["time"]]
    return not lives or lives[0] < 0.9 * truth["sleeps"]


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    return functools.cache(lambda jdk: tmp_path_factory.mktemp("wakers"))


@pytest.fixture
def recorded(jdk, classes, folders):
    result = record(jdk, classes, folders(jdk))
    if began_late(*result[2:]):
        pytest.skip("the machine is so busy that the program was over before the recording had begun")
    return result


def rows_in(document, method):
    rows = [row for row in document["waits"]["rows"] if f"Wakers.{method}" in row["blocked_chain"]]
    return rows, sum(row["ns"] for row in rows)


def share(rows, total, condition):
    return sum(row["ns"] for row in rows if condition(row)) / total


def followed_at_least(total):
    """Of waits whose waker slept before: where the machine is so busy that waits are far longer than that, the waker has
    had something else to do as well, or stood in the run queue."""
    return 0.7 if total <= 1.2 * ROUNDS * LENGTH * 1e6 else 0.2


@pytest.mark.parametrize("method", BY_THREADS)
def test_the_waker_is_the_thread_that_ended_it_in_its_method(recorded, method):
    _, _, truth, document = recorded
    kind, waker, ended_in, had_waited = BY_THREADS[method]
    rows, total = rows_in(document, method)
    # The rest is time in the run queue.
    assert total >= 0.5 * truth.get(method, 0)
    assert total >= 0.5 * ROUNDS * LENGTH * 1e6

    def right(row):
        return (row["kind"] == kind and row["woken_by"] == "thread" and row["waker"] == waker
                and f"Wakers.{ended_in}" in row["waker_chain"])

    if kind == "monitor":
        # JVMs let a thread look by itself now and then. If it is freed while that one stands in the run queue to look,
        # nobody else has ended the wait.
        looked = [row for row in rows if row["woken_by"] == "interrupt"]
        assert share(looked, total, lambda _: True) <= 0.3, rows
        rows = [row for row in rows if row not in looked]
        total = sum(row["ns"] for row in rows)
    assert share(rows, total, right) >= 0.95, rows
    followed = [row for row in rows if right(row) and row["hops"][0]["had_waited"]]
    assert share(followed, total, lambda row: row["hops"][0]["had_waited"]["kind"] == had_waited) >= followed_at_least(total), rows


def test_a_chain_of_wakers_is_followed_to_the_one_that_slept(recorded):
    rows, total = rows_in(recorded[3], "awaitsB")

    def whole(row):
        hops = row["hops"]
        return (len(hops) == 3 and [hop["waker"] for hop in hops] == ["B", "C", None]
                and "Wakers.endsA" in hops[0]["waker_chain"] and "Wakers.endsB" in hops[1]["waker_chain"]
                and hops[0]["had_waited"]["kind"] == "parked" and hops[1]["had_waited"]["kind"] == "sleeping"
                and hops[2]["woken_by"] == "interrupt")

    assert share(rows, total, whole) >= followed_at_least(total), rows


def test_whoever_waits_for_a_threads_end_is_woken_by_that_thread(recorded):
    rows, total = rows_in(recorded[3], "joins")
    assert total >= 0.5 * ROUNDS * LENGTH * 1e6
    assert share(rows, total, lambda row: row["woken_by"] == "thread" and row["waker"] == "joined") >= 0.95, rows


def test_a_timer_is_an_interrupt_and_not_whom_it_has_interrupted(recorded):
    rows, total = rows_in(recorded[3], "sleeps")
    assert total >= 0.5 * ROUNDS * LENGTH * 1e6
    assert share(rows, total, lambda row: row["woken_by"] == "interrupt" and row["waker"] is None) >= 0.95, rows


def test_another_process_is_named(recorded):
    rows, total = rows_in(recorded[3], "asksProcess")
    assert total >= 0.5 * ROUNDS * LENGTH * 1e6
    assert share(rows, total, lambda row: row["woken_by"] == "process" and row["waker"] in ("sh", "dash")) >= 0.95, rows


@pytest.mark.parametrize("method,innermost,kind", [("readsFile", "java.io.FileInputStream.read", "file"),
                                                   ("touches", "", "page fault")])
def test_disks_are_told_from_other_files_and_from_memory_that_lies_on_them(recorded, method, innermost, kind):
    rows, _ = rows_in(recorded[3], method)
    # Whoever waits for classes to be loaded or for safepoints is woken by threads of the JVM; the kernel may leave the
    # end of reading to a thread of its own.
    rows = [row for row in rows if row["woken_by"] in ("interrupt", "process")
            and row["blocked_chain"][0].startswith(innermost)]
    total = sum(row["ns"] for row in rows)
    if total < 1e6:
        pytest.skip("the disk is so fast, or so much of a memory, that hardly anybody has to wait for it")
    assert share(rows, total, lambda row: row["kind"] == kind) >= 0.8, rows


def test_nothing_is_lost_and_the_jdks_own_tool_reads_it(recorded):
    jdk, file, _, document = recorded
    used = engine(document, "waits")
    assert document["waits"]["wakers_recorded"]
    assert used["counters"]["wakers: no room in the ring"] == 0
    assert sum(part["ns"] for part in document["waits"]["by_waker"].values()) == document["waits"]["total_ns"]
    waits = samples_by_jfr(jdk, file, depth=16, event="tarsier.Wait")
    assert len(waits) == document["waits"]["count"]


def test_the_text_names_waker_and_chain(recorded):
    text = tarsier("report", recorded[1], "--view", "waits", "--top", 100).stdout
    assert "woken by B in Unsafe.unpark < LockSupport.unpark < Wakers.endsA" in text
    assert "woken by an interrupt" in text and "who had waited" in text


def test_the_flame_graph_has_the_waker_above_who_waited(recorded):
    lines = tarsier("export", recorded[1], "--weight", "waits", "--wakers", "--to", "collapsed").stdout.splitlines()
    frames = [line.rpartition(" ")[0].split(";") for line in lines if "Wakers.awaitsB" in line]
    of_waker = [stack[stack.index("[woken by]") + 1:] for stack in frames if "[woken by]" in stack]
    # The JVM stops threads as well, and lets them go on.
    of_waker = [stack for stack in of_waker if not stack[0].startswith("[thread ")]
    assert of_waker
    for stack in of_waker:
        assert stack[0].endswith(".misc.Unsafe.unpark")  # jdk.internal, in 8 sun
        assert stack[1:3] == ["java.util.concurrent.locks.LockSupport.unpark", "Wakers.endsA"], stack
        assert stack[-1] == "[thread B]"
    tarsier("export", recorded[1], "--wakers", "--to", "collapsed", expect=2)


def test_the_watcher_says_what_is_missing(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,waits=1ms,waitsby=watcher,file={file}"
    with Program(jdk, classes, "Waits", 3, 20, 0, options=["-XX:+UseSerialGC", agent]) as program:
        program.wait_for("truth ", 240)
        assert program.wait() == 0
    document = report(file, "waits")["waits"]
    assert not document["wakers_recorded"]
    assert {row["woken_by"] for row in document["rows"]} <= {"unknown", "ongoing"}
    assert "--waits-by ebpf" in tarsier("report", file, "--view", "waits").stdout
    assert "--waits-by ebpf" in tarsier("export", file, "--weight", "waits", "--wakers", "--to", "collapsed", expect=1).stderr
