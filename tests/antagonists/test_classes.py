"""Class loaders thrown away while we record and while we write down what we have."""
import pathlib
import re

import pytest
from harness import Program, Recorder, engine, report, wait_for_recording, wait_until

COLLECTORS = ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC"]


def check_churn(jdk, classes, tmp_path, collector, wanted):
    options = [collector, "-Xmx512m", "-XX:MaxMetaspaceSize=256m"]
    if collector == "-XX:+UseZGC" and jdk.major < 15:
        options.insert(0, "-XX:+UnlockExperimentalVMOptions")
    with Program(jdk, classes, "ClassChurn", options=options) as program:
        program.ready()
        file = tmp_path / "x.jfr"
        before = int(program.ask("loaded"))
        with Recorder("--cpu", "--memory", "16m", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            wait_until(lambda: int(program.ask("loaded")) - before > wanted, f"{wanted} classes have come and gone", 300)
            program.ask("gc")
            recorder.interrupt()
            recorder.finish()
        program.ask("gc")
        program.tell("exit")
        assert program.wait() == 7, program.errors[-5:]
    document = report(file)
    assert engine(document)["samples"]["taken"] > 50
    churned = sum(row["self"] for row in document["hot"]
                  if re.search(r"\bChurned(?:Hidden)?(?:[/+.$]0x[0-9a-f]+)?(?:\.|$)", row["method"]) or row["method"] == "[unloaded]")
    assert churned > 0.1, [row["method"] for row in document["hot"]][:20]
    strange = [row["method"] for row in document["hot"] if not row["method"].isprintable() or not row["method"]]
    assert not strange


@pytest.mark.parametrize("collector", ["-XX:+UseSerialGC", "-XX:+UseG1GC"])
def test_loaders_thrown_away_by_the_hundred(jdk, classes, tmp_path, collector):
    check_churn(jdk, classes, tmp_path, collector, 600)


@pytest.mark.long
@pytest.mark.parametrize("collector", COLLECTORS)
def test_loaders_thrown_away_by_the_thousand(jdk, classes, tmp_path, collector):
    check_churn(jdk, classes, tmp_path, collector, 10_000)


def resident(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Private_Dirty:\s+(\d+) kB", text, re.MULTILINE)[1])


def after(program, wanted):
    """(classes, KB) when so many classes have come and those before them gone."""
    wait_until(lambda: int(program.ask("loaded")) >= wanted, f"{wanted} classes have come", 600)
    program.ask("gc")
    return int(program.ask("loaded")), resident(program.pid)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_memory_stays_bounded(jdk, classes, tmp_path):
    """What a class costs us, against the same program without us: its jmethodIDs, which the JVM does not free."""
    grown = {}
    for recorded in (False, True):
        with Program(jdk, classes, "ClassChurn", options=["-XX:+UseSerialGC", "-Xmx128m", "-Xms128m", "-XX:+AlwaysPreTouch"]) as program:
            program.ready()
            with Recorder("--cpu", "--memory", "16m", "-o", tmp_path / "x.jfr", *([program.pid] if recorded else ["no-such-jvm"])) as recorder:
                if recorded:
                    wait_for_recording(tmp_path / "x.jfr")
                else:
                    recorder.finish(expect=3)
                first, start = after(program, 2_000)
                last, end = after(program, first + 6_000)
                grown[recorded] = (end - start) * 1024 / (last - first)
    print(f"{jdk}: bytes a class: {grown[False]:.0f} without us, {grown[True]:.0f} with us")
    assert grown[True] - grown[False] < 2048, grown
