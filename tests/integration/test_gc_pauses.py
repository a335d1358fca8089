"""Pauses of collections and safepoints, against what the JVM itself has logged and counted."""
import json
import re

import pytest
from harness import (LIBRARY, Program, Recorder, books_by_jfr, engine, jfr, jfr_counts, report, tarsier,
                     wait_for_recording)

COLLECTIONS = 6
LOGS_STOPS = 17  # 11 logs safepoints in another way
COLLECTORS = ("Serial", "Parallel", "G1", "Shenandoah", "Z")
# Those that stop the world for all of it.
STOPPING = ("Serial", "Parallel", "G1")


class Stop:
    """A safepoint, as the log tells of it; times in ns."""
    # What its operation is called if it is a collector's.
    COLLECTS = re.compile(r"(G1|Gen|Serial|Parallel|Shenandoah|Z|X)[A-Z]")

    def __init__(self, line):
        times = {name.strip(): int(ns) for name, ns in re.findall(r"([\w ]+): +(\d+) ns", line)}
        self.is_collection = self.COLLECTS.match(re.search(r'Safepoint "(\w+)"', line)[1]) is not None
        self.total = times["Total"]
        # 17 has a cleanup between the two, which its counters leave out.
        self.counted = times["Reaching safepoint"] + times["At safepoint"] + times.get("Leaving safepoint", 0)


class Truth:
    """What the JVM logs about its pauses and safepoints."""

    def __init__(self, file):
        self.file = file

    def options(self, collector):
        # Nothing but System.gc() shall collect.
        return [f"-XX:+Use{collector}GC", "-XX:+UnlockExperimentalVMOptions", "-XX:MetaspaceSize=128m", "-Xms400m",
                "-Xmx400m", f"-Xlog:gc*=info,safepoint=info:file={self.file}:tags"]

    def lines(self):
        return self.file.read_text().splitlines()

    def pause_ns(self):
        """What the collectors say about their pauses; several of them may be in one stop."""
        found = [re.search(r"\bPause [A-Z].* ([\d.]+)ms$", line) for line in self.lines()]
        return [float(each[1]) * 1e6 for each in found if each]

    def stops(self):
        return [Stop(line) for line in self.lines() if 'Safepoint "' in line]


def has(jdk, collector):
    with Program(jdk, "", "-version", options=["-XX:+UnlockExperimentalVMOptions", f"-XX:+Use{collector}GC"]) as java:
        return java.wait() == 0


@pytest.fixture(params=COLLECTORS)
def collecting(request, jdk, classes, tmp_path):
    """(collector, the program, what its JVM logs)"""
    if not has(jdk, request.param):
        pytest.skip(f"{jdk} has no {request.param}")
    truth = Truth(tmp_path / "gc.log")
    with Program(jdk, classes, "Collects", COLLECTIONS, options=truth.options(request.param)) as program:
        yield request.param, program.ready(), truth


class Recorded:
    """What the program and its JVM said while it collected and was recorded."""

    def __init__(self, program, truth, file, *arguments):
        def logged(what):
            program.ask("SETTLE")
            return what()

        outside = len(logged(truth.stops))
        with Recorder("-o", file, *arguments, program.pid) as recorder:
            wait_for_recording(file, recorder.process)  # it has its name once all has started
            pauses, inside = len(truth.pause_ns()), len(logged(truth.stops))
            self.counted = program.ask_json("COLLECT")
            self.collections = [stop for stop in logged(truth.stops)[inside:] if stop.is_collection]
            self.pause_ns = truth.pause_ns()[pauses:]
            recorder.interrupt()
            recorder.finish()
        self.stops_around = logged(truth.stops)[outside:]


def check(jdk, collector, file, recorded):
    document = report(file, "pauses")
    gc, safepoints = document["pauses"]["gc"], document["pauses"]["safepoints"]
    assert gc["count"] == len(recorded.collections) >= COLLECTIONS, gc
    # The log's timers and JVMTI's events lie in the same stop, in either order. ZGC has timers within timers.
    at_least = 0.25 if collector == "Z" else 0.5
    assert gc["total_ns"] >= sum(recorded.pause_ns) * at_least
    assert gc["total_ns"] <= sum(stop.total for stop in recorded.collections)
    # Pauses of microseconds: that the log's begins a little earlier, and lost its CPU just then, may be most of it.
    assert max(recorded.pause_ns) * at_least - 100_000 <= gc["longest_ns"] <= max(stop.total for stop in recorded.collections)
    if collector in STOPPING:
        assert gc["count"] == COLLECTIONS <= recorded.counted["count"]
        # The beans count whole milliseconds.
        assert gc["total_ns"] >= (recorded.counted["ms"] - COLLECTIONS) * 1e6 * at_least
    assert sum(row["count"] for row in gc["by_name"]) == gc["count"]
    assert sum(row["total_ns"] for row in gc["by_name"]) == gc["total_ns"]
    assert all(re.fullmatch(f"{collector}.* pause \\(System.gc\\(\\)\\)", row["name"]) for row in gc["by_name"]), gc

    # Of the JVM's counters we have those of a time that begins before the collections and ends after them.
    assert len(recorded.collections) <= safepoints["count"] <= len(recorded.stops_around)
    assert sum(stop.counted for stop in recorded.collections) <= safepoints["total_ns"]
    assert safepoints["total_ns"] <= sum(stop.total for stop in recorded.stops_around)
    assert 0 < safepoints["to_stop_ns"] < safepoints["total_ns"]
    assert f"GC: {gc['count']} pauses" in " ".join(document["verdict"])

    used = engine(document, "pauses")
    assert used["mechanism"] == "jvmti, perf counters"
    assert used["samples"]["written"] == gc["count"] and not any(used["samples"]["dropped"].values())
    taken, written, dropped = books_by_jfr(jdk, file, "pauses")
    assert taken == written == gc["count"] and not any(dropped.values())
    assert jfr_counts(jdk, file)["jdk.GCPhasePause"] == gc["count"]
    events = json.loads(jfr(jdk, "print", file, "--json", "--events", "jdk.GCPhasePause"))["recording"]["events"]
    assert [each["values"]["gcId"] for each in events] == list(range(gc["count"]))
    assert {each["values"]["eventThread"]["osName"] for each in events} == {"VM Thread"}
    assert "timeToStop" in jfr(jdk, "print", file, "--events", "tarsier.Safepoints")


@pytest.mark.every_jvm
@pytest.mark.since(LOGS_STOPS)
def test_pauses_and_safepoints_are_those_of_the_log_whenever_one_attaches(jdk, collecting, tmp_path):
    collector, program, truth = collecting
    for turn in (1, 2):
        program.ask("NOT-RECORDED")
        file = tmp_path / f"{turn}.jfr"
        check(jdk, collector, file, Recorded(program, truth, file, "--cpu"))


@pytest.mark.since(LOGS_STOPS)
def test_a_recording_from_the_start_has_all_pauses(jdk, classes, tmp_path):
    file, truth = tmp_path / "out.jfr", Truth(tmp_path / "gc.log")
    agent = f"-agentpath:{LIBRARY}=cpu,file={file}"
    with Program(jdk, classes, "Collects", COLLECTIONS, options=[*truth.options("Serial"), agent]) as program:
        program.ready().ask("COLLECT")
        program.ask("COLLECT")
        program.tell("END")
        assert program.wait() == 0
    document = report(file, "pauses")
    stops = sum(stop.is_collection for stop in truth.stops())
    assert document["pauses"]["gc"]["count"] == stops == 2 * COLLECTIONS
    engine(document, "pauses")


@pytest.mark.since(LOGS_STOPS)
def test_the_bare_record_has_them_and_a_range_of_time_has_its_part(jdk, classes, tmp_path):
    file, truth = tmp_path / "out.jfr", Truth(tmp_path / "gc.log")
    with Program(jdk, classes, "Collects", COLLECTIONS, options=truth.options("G1")) as program:
        program.ready()
        recorded = Recorded(program, truth, file)
    whole = report(file, "pauses")["pauses"]
    assert whole["gc"]["count"] == len(recorded.collections) == COLLECTIONS
    duration = report(file, "pauses")["recording"]["duration_s"]
    half = duration / 2
    parts = [report(file, "pauses", *arguments)["pauses"] for arguments in
             (("--to", f"{half:.3f}s"), ("--from", f"{half:.3f}s"))]
    assert sum(part["gc"]["total_ns"] for part in parts) == whole["gc"]["total_ns"]
    # One that lies across is in both.
    assert whole["gc"]["count"] <= sum(part["gc"]["count"] for part in parts) <= whole["gc"]["count"] + 1
    assert sum(part["safepoints"]["total_ns"] for part in parts) == pytest.approx(whole["safepoints"]["total_ns"], abs=2)


@pytest.mark.every_jvm
@pytest.mark.since(LOGS_STOPS)
def test_without_perf_data_there_are_pauses_and_the_quality_says_what_is_missing(jdk, classes, tmp_path):
    file, truth = tmp_path / "out.jfr", Truth(tmp_path / "gc.log")
    options = [*truth.options("Serial"), "-XX:-UsePerfData"]
    with Program(jdk, classes, "Collects", COLLECTIONS, options=options) as program:
        program.ready()
        recorded = Recorded(program, truth, file, "--cpu")
    document = report(file, "pauses")
    assert document["pauses"]["gc"]["count"] == COLLECTIONS == len(recorded.collections)
    assert document["pauses"]["safepoints"] is None
    assert [row["name"] for row in document["pauses"]["gc"]["by_name"]] == ["GC pause"]
    used = engine(document, "pauses")
    assert used["mechanism"] == "jvmti" and "no safepoints" in used["why"] and "-XX:-UsePerfData" in used["why"]
    words = " ".join(tarsier("report", file, "--view", "quality").stdout.split())
    assert f"Pauses: {COLLECTIONS} taken, {COLLECTIONS} written, 0 dropped" in words and "-XX:-UsePerfData" in words
