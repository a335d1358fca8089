"""Who is to blame in the end: programs that know it, or tell how much they have lost (tests/java/LockCauses.java), against what
the report says. Shares have room: the machine may be busy."""
import json
import re

import pytest
from harness import LIBRARY, Program, jfr, parse_span, report, tarsier
from lock_truth import read_csv
from test_locks import need_hooks
from workloads import run_workload

ROUNDS = 15


def run_known(jdk, classes, folder, mode, work, engines="lock"):
    """({"lost NAME" or "ran slow": ns}, the view `locks`)."""
    file = folder / "out.jfr"
    with Program(jdk, classes, "LockCauses", mode, work, ROUNDS,
                 options=[f"-agentpath:{LIBRARY}={engines},file={file}"]) as program:
        assert program.wait() == 0, program.errors
        truth = {what: int(ns) for what, ns in (line.rsplit(" ", 1) for line in program.lines)}
    need_hooks(file)
    return truth, report(file, "locks", "--min-share", 0)["locks"], file


def lost(truth):
    return sum(ns for what, ns in truth.items() if what.startswith("lost "))


@pytest.mark.every_jvm
@pytest.mark.parametrize("mode", ["chain", "mixed-chain"])
def test_what_is_lost_by_way_of_another_is_passed_on_to_the_root(jdk, classes, tmp_path, mode):
    truth, locks, file = run_known(jdk, classes, tmp_path, mode, "sleep")
    root = locks["chains"]["rows"][0]
    assert root["method"].startswith("LockCauses.slowHoldsInner") and root["thread"] == "slow"
    # Both wait for the same 40 ms: one directly, the other through the first.
    assert 0.8 * lost(truth) <= root["caused_ns"] <= 1.05 * lost(truth)
    assert 0.8 * truth["lost front"] <= root["passed_on_ns"] <= 1.05 * truth["lost front"]
    assert 0.8 * truth["lost middle"] <= root["direct_ns"] <= 1.05 * truth["lost middle"]
    assert root["longest"] == 2
    assert root["through"][0]["method"] == "LockCauses.middleHoldsOuter"
    # The tree blames the one in the middle for what the first one lost.
    middle = next(row for row in locks["chains"]["rows"] if row["method"] == "LockCauses.middleHoldsOuter")
    assert middle["direct_ns"] >= 0.8 * truth["lost front"]
    assert middle["caused_ns"] <= 0.2 * truth["lost front"]
    words = " ".join(tarsier("report", file, "--view", "locks").stdout.split())
    assert re.search(r"Root cause of [89]\d\.\d % of the lock waiting: LockCauses\.slowHoldsInner\w* holding ", words)


@pytest.mark.since(17)  # before, joins of ForkJoin tasks were Object.wait
@pytest.mark.every_jvm
@pytest.mark.parametrize("mode, kind, late_in", [
    ("barrier", "CyclicBarrier", "LockCauses."), ("phaser", "Phaser", "LockCauses."),
    ("latch", "CountDownLatch", "LockCauses.countDown"), ("future", "FutureTask", "java.util.concurrent.FutureTask."),
    ("completable", "CompletableFuture", "LockCauses."), ("fork-join", "ForkJoinTask", "java.util.concurrent.ForkJoinTask.")])
def test_idle_time_at_a_barrier_is_due_to_the_one_that_came_last(jdk, classes, tmp_path, mode, kind, late_in):
    truth, locks, _ = run_known(jdk, classes, tmp_path, mode, "sleep", "lock,waits")
    rows = [row for row in locks["barriers"]["rows"] if row["kind"] == kind]
    idle = sum(row["idle_ns"] for row in rows)
    assert 0.8 * lost(truth) <= idle <= 1.05 * lost(truth)
    assert rows[0]["waiting_in"].startswith("LockCauses.") and rows[0]["late_in"].startswith(late_in)
    assert rows[0]["late_thread"] == "slow"
    assert rows[0]["late_thread_ns"] >= 0.8 * idle
    # The slow one sleeps.
    late = rows[0]["late"]
    assert late["waits_ns"]["sleeping"] >= 0.6 * late["total_ns"]


def test_a_join_is_known_from_waits_and_nobody_is_blamed(jdk, classes, tmp_path):
    truth, locks, _ = run_known(jdk, classes, tmp_path, "join", "sleep", "lock,waits")
    row = next(row for row in locks["barriers"]["rows"] if row["kind"] == "Thread.join")
    assert 0.7 * lost(truth) <= row["idle_ns"] <= 1.05 * lost(truth)
    assert row["late_in"] is None and row["late_thread"] is None


@pytest.mark.every_jvm
@pytest.mark.parametrize("work", ["sleep", "burn"])
def test_what_the_owner_does_is_told_from_samples_and_waits(jdk, classes, tmp_path, work):
    truth, locks, file = run_known(jdk, classes, tmp_path, "hold", work, "cpu,lock,waits")
    lock = locks["objects"][0]
    assert lock["lock"].startswith("java.lang.Object@") and lock["users"] == 2
    assert 0.8 * lost(truth) <= lock["blocked_ns"] <= 1.05 * lost(truth)
    owners = lock["owners"]
    # The rest is hand-off: on a busy machine who was woken up waits for a CPU.
    assert 0.75 * lock["blocked_ns"] <= owners["total_ns"] <= 1.01 * lock["blocked_ns"]
    text = tarsier("report", file, "--view", "locks").stdout
    if work == "sleep":
        assert owners["waits_ns"]["sleeping"] >= 0.6 * owners["total_ns"]
        assert owners["cpu_ns"] <= 0.3 * owners["total_ns"]
        assert "% sleeping" in text
    else:
        # What the thread itself knows of its CPU time, not all of which is within the time in which the other one waited.
        assert owners["cpu_ns"] == pytest.approx(truth["ran slow"], rel=0.3)
        assert owners["methods"][0]["method"].startswith("LockCauses.")
        assert "% on a CPU (LockCauses." in text


def test_without_samples_the_report_says_how_to_have_them(jdk, classes, tmp_path):
    _, locks, file = run_known(jdk, classes, tmp_path, "hold", "sleep")
    assert locks["activity_recorded"] is False and locks["objects"][0]["owners"] is None
    assert "--lock --cpu --waits" in tarsier("report", file, "--view", "locks").stdout


def test_threads_have_the_time_that_they_were_blocked(jdk, classes, tmp_path):
    truth, _, file = run_known(jdk, classes, tmp_path, "chain", "sleep")
    blocked = {thread["name"]: thread["blocked_ns"] for thread in report(file, "threads")["threads"]}
    for name in ("front", "middle"):
        assert 0.8 * truth[f"lost {name}"] <= blocked[name] <= 1.05 * truth[f"lost {name}"]
    assert blocked["slow"] <= 0.2 * truth["lost front"]


# ---- the examples of the research


@pytest.mark.every_jvm
@pytest.mark.since(17)
@pytest.mark.parametrize("name, table", [("productlock", "ProductQueriesLock"), ("productsync", "ProductQueriesMonitor")])
def test_look_ups_suffer_from_scans_of_the_product_table(jdk, workloads, tmp_path, name, table):
    file = tmp_path / "out.jfr"
    run_workload(jdk, workloads, name, 2, f"-agentpath:{LIBRARY}=lock,file={file}")
    need_hooks(file)
    document = report(file, "locks", "--by", "blocked-method,owner-method,object", "--min-share", 0)
    suffering = document["locks"]["rows"][0]
    assert suffering["label"] == f"workloads.synthetic.{table}.queryByArticleNo"
    assert suffering["share"] >= 0.9
    causing = suffering["children"][0]
    assert causing["label"] == f"workloads.synthetic.{table}.queryByName"
    assert causing["blocked_ns"] >= 0.55 * suffering["blocked_ns"]
    assert len(causing["children"]) == 1
    lines = " ".join(document["verdict"])
    said = re.search(r"Lock waiting .*?: (\d+\.\d) % in (\S+), caused (.*?)by (\S+) holding (\S+)\.", lines)
    assert said, lines
    assert float(said[1]) >= 90 and said[2].endswith(".queryByArticleNo")
    assert said[3].startswith(("almost wholly", "mostly")) and said[4].endswith(".queryByName")
    assert re.fullmatch(r"(ReentrantLock|ProductQueriesMonitor)@[0-9a-f]+", said[5])
    # Sixteen threads that come back at once: the queue hardly ever empties.
    lock = document["locks"]["objects"][0]
    assert lock["users"] >= 16 and lock["queue"]["max"] >= 10
    assert lock["convoys"]["count"] >= 1 and lock["convoys"]["ns"] >= 0.5 * lock["queue"]["busy_ns"]
    assert 0 < lock["hand_off"]["p50_ns"] <= lock["hand_off"]["p95_ns"] <= lock["hand_off"]["max_ns"]
    slices = lock["pressure"]["blocked_ns"]
    assert len(slices) == 60 and sum(slices) == pytest.approx(lock["blocked_ns"], rel=0.02)


@pytest.mark.every_jvm
@pytest.mark.since(17)
def test_the_log_of_the_sensors_is_one_class_object_with_two_ways_to_it(jdk, workloads, tmp_path):
    file = tmp_path / "out.jfr"
    run_workload(jdk, workloads, "sensornet", 2, f"-agentpath:{LIBRARY}=lock,file={file}")
    need_hooks(file)
    rows = report(file, "locks", "--by", "class,object,owner-method,owner-chain", "--min-share", 0)["locks"]["rows"]
    classes = next(row for row in rows if row["label"] == "java.lang.Class")
    # The JDK locks classes, too, but not like this.
    log = classes["children"][0]
    assert log["blocked_ns"] >= 0.8 * classes["blocked_ns"]
    methods = {row["label"]: row for row in log["children"] if not row["label"].startswith("[")}
    method = "workloads.synthetic.SensorNetwork$NodeLog.write"
    assert set(methods) == {method}
    assert methods[method]["blocked_ns"] >= 0.6 * log["blocked_ns"]
    ways = {}
    for row in methods[method]["children"]:
        caller = row["label"].split(" < ")[1]
        ways[caller] = ways.get(caller, 0) + row["blocked_ns"]
    node = "workloads.synthetic.SensorNetwork$Node."
    assert set(ways) == {node + "logSlot", node + "logTransmission"}
    assert all(ns > 0 for ns in ways.values())


# ---- parts of a recording


def owners_by_moment(rows):
    """{(blocked thread, ms): method of the owner}, of the pieces of monitors with a chain."""
    return {(row["blocked_thread"], at): row["owner_method"] for row in rows
            if row["group"] == "monitor" and row["owner_kind"] == "chain"
            for at in range(row["begin_ns"] // 1_000_000 + 1, row["end_ns"] // 1_000_000)}


@pytest.mark.since(17)
def test_of_a_cut_recording_what_is_said_is_right_and_what_is_missing_is_told(jdk, workloads, tmp_path):
    whole, part = tmp_path / "whole.jfr", tmp_path / "part.jfr"
    # Some seconds: names and stacks are written once a second, and of a part without any nobody is known.
    run_workload(jdk, workloads, "productsync", 6, f"-agentpath:{LIBRARY}=lock,file={whole}")
    need_hooks(whole)
    truth = owners_by_moment(read_csv(tarsier("export", whole, "--to", "csv").stdout))
    total = report(whole, "locks")["locks"]["total_ns"]
    for share in (0.4, 0.7, 0.95):
        part.write_bytes(whole.read_bytes()[:int(share * whole.stat().st_size)])
        document = json.loads(tarsier("report", part, "--json", "--view", "locks", expect=5).stdout)
        assert 0 < document["locks"]["total_ns"] < total
        assert document["locks"]["missing"]["missing"] > 0
        assert any("the file is damaged" in line for line in document["verdict"])
        assert "numbered events of locks, missing:" in tarsier("report", part, "--view", "locks", expect=5).stdout
        shown = owners_by_moment(read_csv(tarsier("export", part, "--to", "csv", expect=5).stdout))
        right = sum(truth.get(moment) == method for moment, method in shown.items())
        assert len(shown) > 100 and right >= 0.95 * len(shown)


# ---- an independent witness

SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.JavaMonitorEnter"><setting name="enabled">true</setting><setting name="stackTrace">false</setting>
    <setting name="threshold">0 ns</setting></event>
</configuration>
"""


def monitors_by_jfr(jdk, file, threads):
    """{thread: (seconds, count)} of the JVM's own events, read by the JDK."""
    text = jfr(jdk, "print", file, "--json", "--stack-depth", 1, "--events", "jdk.JavaMonitorEnter")
    found = {}
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        name = values["eventThread"]["javaName"]
        if not re.match(threads, name):
            continue
        seconds, count = found.get(name, (0, 0))
        found[name] = seconds + parse_span(values["duration"]), count + 1
    return found


def monitors_by_us(file, threads):
    """The same of ours. JFR has no events of those who come back from Object.wait."""
    found, seen = {}, set()
    for row in read_csv(tarsier("export", file, "--to", "csv").stdout):
        if row["group"] != "monitor" or row["after_wait"] or not re.match(threads, row["blocked_thread"]):
            continue
        seconds, count = found.get(row["blocked_thread"], (0, 0))
        is_new = row["contention"] not in seen
        seen.add(row["contention"])
        found[row["blocked_thread"]] = seconds + (row["end_ns"] - row["begin_ns"]) / 1e9, count + is_new
    return found


@pytest.mark.every_jvm
@pytest.mark.since(17)
@pytest.mark.parametrize("name", ["productsync", "short holds"])
@pytest.mark.parametrize("engine", ["lock", "lock=blocked"])
def test_totals_are_those_of_jfr_in_the_same_run(jdk, classes, workloads, tmp_path, name, engine):
    """Both record from the JVM's start to its end, and the threads live in between: the window is the same."""
    ours, theirs = tmp_path / "ours.jfr", tmp_path / "theirs.jfr"
    (tmp_path / "locks.jfc").write_text(SETTINGS)
    options = [f"-agentpath:{LIBRARY}={engine},file={ours}",
               f"-XX:StartFlightRecording=settings={tmp_path / 'locks.jfc'},filename={theirs}"]
    if name == "productsync":
        threads = "query-"
        run_workload(jdk, workloads, name, 1, *options)
    else:
        threads = "worker-"
        with Program(jdk, classes, "LockTruth", "sync", 100, "burn", 2, tmp_path / "truth.txt", options=options) as program:
            assert program.wait() == 0, program.errors
    by_us, by_jfr = monitors_by_us(ours, threads), monitors_by_jfr(jdk, theirs, threads)
    total, total_of_jfr = (sum(seconds for seconds, _ in of.values()) for of in (by_us, by_jfr))
    count, count_of_jfr = (sum(count for _, count in of.values()) for of in (by_us, by_jfr))
    print(f"{total:.3f} s in {count}, JFR {total_of_jfr:.3f} s in {count_of_jfr}")
    assert count_of_jfr > 50
    assert total == pytest.approx(total_of_jfr, rel=0.02)
    assert count == pytest.approx(count_of_jfr, rel=0.02)
