"""`report --view locks` and `export --to csv`, on recordings of JFR itself and against what the JDK reads in them."""
import csv
import io
import json
import pathlib
import re
import subprocess

import harness
import pytest
from pprof_text import Profile
from test_report import validate

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.JavaMonitorEnter"><setting name="enabled">true</setting><setting name="stackTrace">true</setting>
    <setting name="threshold">0 ms</setting></event>
  <event name="jdk.ThreadPark"><setting name="enabled">true</setting><setting name="stackTrace">true</setting>
    <setting name="threshold">0 ms</setting></event>
</configuration>
"""


@pytest.fixture(scope="module")
def locks_by_jfr(tmp_path_factory):
    """A recording of LockTarget by JFR of the newest JDK here: (jdk, file)."""
    jdk = max(harness.jdks(), key=lambda each: each.major)
    folder = tmp_path_factory.mktemp("locks")
    (folder / "locks.jfc").write_text(SETTINGS)
    subprocess.run([jdk.tool("javac"), "-d", str(folder), str(HERE / "LockTarget.java")], check=True, timeout=240)
    file = folder / "locks.jfr"
    subprocess.run([jdk.tool("java"), "-cp", str(folder),
                    f"-XX:StartFlightRecording=settings={folder / 'locks.jfc'},filename={file}", "LockTarget"],
                   check=True, timeout=240, capture_output=True)
    return jdk, file


def seconds_by_jfr(jdk, file, event):
    """The sum of the durations, and how many there are, as the JDK's reader has it."""
    events = json.loads(harness.jfr(jdk, "print", file, "--json", "--events", event))["recording"]["events"]
    lengths = [re.fullmatch(r"PT(?:(\d+)M)?([\d.]+)S", each["values"]["duration"]) for each in events]
    return sum(60 * int(each[1] or 0) + float(each[2]) for each in lengths), len(lengths)


def rows_of(tarsier, file):
    return list(csv.DictReader(io.StringIO(tarsier("export", file, "--to", "csv").stdout.decode(), newline="")))


def test_totals_are_those_that_the_jdk_reads(tarsier, locks_by_jfr):
    jdk, file = locks_by_jfr
    report = json.loads(tarsier("report", file, "--json", "--view", "locks", "--by", "group", "--min-share", "0").stdout)
    validate(report)
    by_group = {row["label"]: row for row in report["locks"]["rows"]}
    monitors, entered = seconds_by_jfr(jdk, file, "jdk.JavaMonitorEnter")
    parks, parked = seconds_by_jfr(jdk, file, "jdk.ThreadPark")
    assert entered > 50 and parked > 50
    assert by_group["monitor"]["count"] == entered
    assert by_group["monitor"]["blocked_ns"] == pytest.approx(monitors * 1e9, rel=1e-4)
    assert sum(row["count"] for label, row in by_group.items() if label != "monitor") == parked
    assert report["locks"]["total_ns"] == pytest.approx((monitors + parks) * 1e9, rel=1e-4)
    assert report["locks"]["owners_recorded"] is False
    assert report["locks"]["owners"]["chain_ns"] == 0


@pytest.mark.parametrize("by", ["class,blocked-method,owner-method", "object,owner-thread,blocked-chain",
                                "after-wait,blocked-thread,owner-chain"])
def test_any_break_down_adds_up(tarsier, locks_by_jfr, by):
    report = json.loads(tarsier("report", locks_by_jfr[1], "--json", "--view", "locks", "--by", by, "--min-share", "0",
                                "--top", "1000000").stdout)
    validate(report)
    locks = report["locks"]
    assert locks["by"] == by.split(",")

    def check(rows, total, levels):
        assert sum(row["blocked_ns"] for row in rows) == total
        for row in rows:
            if levels > 1:
                check(row["children"], row["blocked_ns"], levels - 1)
            else:
                assert row["children"] == []

    check(locks["rows"], locks["total_ns"], 3)
    assert sum(locks["owners"].values()) == locks["total_ns"]


def test_the_csv_has_every_piece(tarsier, locks_by_jfr):
    jdk, file = locks_by_jfr
    rows = rows_of(tarsier, file)
    monitors = [row for row in rows if row["group"] == "monitor"]
    total, entered = seconds_by_jfr(jdk, file, "jdk.JavaMonitorEnter")
    assert len({row["contention"] for row in monitors}) == entered
    assert sum(int(row["end_ns"]) - int(row["begin_ns"]) for row in monitors) == pytest.approx(total * 1e9, rel=1e-4)
    # JFR's own threads are blocked now and then, too.
    rows = [row for row in rows if row["blocked_thread"].startswith(("worker-", "'="))]
    monitors = [row for row in rows if row["group"] == "monitor"]
    assert {row["blocked_method"] for row in monitors} == {"LockTarget.monitor"}
    assert all(re.fullmatch(r"java\.lang\.Object@[0-9a-f]+", row["lock"]) for row in monitors)
    assert {row["owner_kind"] for row in monitors} <= {"thread", "unknown"}
    locks = [row for row in rows if row["group"] == "juc"]
    assert {row["blocked_method"] for row in locks} == {"LockTarget.lock"}
    assert all("AbstractQueuedSynchronizer" in row["blocked_chain"] for row in locks)


def test_a_name_is_no_formula(tarsier, locks_by_jfr):
    names = {row["blocked_thread"] for row in rows_of(tarsier, locks_by_jfr[1])}
    assert "'=1+\"1\",2" in names
    assert not any(name.startswith(("=", "+", "-", "@")) for name in names)


def test_the_text_says_how_to_learn_who_held_them(tarsier, locks_by_jfr):
    text = tarsier("report", locks_by_jfr[1], "--view", "locks").stdout.decode()
    assert "Only who was blocked is recorded" in text
    assert "Lock waiting" in text.split("\n\n")[0]
    assert max(map(len, text.splitlines())) <= 100


def test_a_recording_with_locks_alone_is_weighted_by_them(tarsier, locks_by_jfr):
    _, file = locks_by_jfr
    document = json.loads(tarsier("report", file, "--json", "--view", "hot,tree,quality").stdout)
    validate(document)
    assert document["recording"]["profile"] == "locks"
    locks = json.loads(tarsier("report", file, "--json", "--view", "locks").stdout)["locks"]
    assert document["tree"]["weight"] == locks["total_ns"] > 0
    assert document["quality"]["samples"] == locks["count"]
    # All contentions are there: nothing is left to chance.
    assert all(row["self_ci95"] == [row["self"], row["self"]] for row in document["hot"])
    text = tarsier("report", file).stdout.decode()
    assert "Most contended classes of locks" in text and "95 %" not in text


def test_a_part_of_the_time_and_of_the_threads_is_that_of_the_view(tarsier, locks_by_jfr):
    _, file = locks_by_jfr
    blocked = json.loads(tarsier("report", file, "--json", "--view", "locks", "--by", "blocked-thread").stdout)
    thread = blocked["locks"]["rows"][0]["label"]
    sums = set()
    for arguments in ((), ("--from", "100ms", "--to", "400ms"), ("--thread", f"^{re.escape(thread)}$"),
                      ("--to", "300ms", "--thread", f"^{re.escape(thread)}$")):
        tree, locks = (json.loads(tarsier("report", file, "--json", "--view", view, "--weight", "locks", *arguments).stdout)
                       for view in ("tree", "locks"))
        assert tree["tree"]["weight"] == locks["locks"]["total_ns"], arguments
        sums.add(locks["locks"]["total_ns"])
    assert len(sums) > 2


def test_exports_have_the_time_of_the_view(tarsier, locks_by_jfr, tmp_path):
    _, file = locks_by_jfr
    total = json.loads(tarsier("report", file, "--json", "--view", "locks").stdout)["locks"]["total_ns"]
    lines = tarsier("export", file, "--weight", "locks", "--to", "collapsed").stdout.decode().splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == total
    whole = json.loads(tarsier("export", file, "--weight", "locks", "--to", "speedscope").stdout)["profiles"][0]
    assert sum(whole["weights"]) == whole["endValue"] == total
    pprof = tmp_path / "locks.pb.gz"
    tarsier("export", file, "--weight", "locks", "--to", "pprof", "-o", pprof)
    profile = Profile(pprof)
    assert profile.types == [("contentions", "count"), ("delay", "nanoseconds")]
    assert sum(profile.totals(1)[0].values()) == total


def test_without_recorded_owners_there_is_no_such_weight(tarsier, locks_by_jfr):
    refused = tarsier("report", locks_by_jfr[1], "--weight", "owners", expect=2)
    assert "it has locks" in refused.stderr.decode()
