"""Class loaders thrown away while we record and while we write down what we have."""
import contextlib
import pathlib
import re
import subprocess
import zipfile

import pytest
from held_back import HeldBack
from harness import Program, Recorder, engine, report, tarsier, wait_for_recording, wait_until

COLLECTORS = ["Serial", "Parallel", "G1", "Z", "Shenandoah"]
DECODER = "tarsier"  # the name of the agent's thread


def collector_options(jdk, collector):
    """Skips the test where the JVM has no such collector."""
    options = [f"-XX:+Use{collector}GC"]
    if collector in ("Z", "Shenandoah") and jdk.major < 15:
        options.insert(0, "-XX:+UnlockExperimentalVMOptions")
    known = subprocess.run([jdk.tool("java"), *options, "-version"], capture_output=True, timeout=120)
    if known.returncode != 0:
        pytest.skip(f"{jdk} has no {collector} collector")
    return options


def check_stacks(document, late):
    """Right, or said not to be: no frame has a wrong caller, and every name is one. Late, most of what was there is gone, and
    said to be; compiled code may be another's by then, which is not always noticed (docs/fragments.md)."""
    quality = document["quality"]
    assert late or quality["edges_checked"] > 50
    assert quality["bad_edges"] <= (2e-3 if late else 1e-4) * quality["edges_checked"], quality
    strange = [row["method"] for row in document["hot"] if not row["method"].isprintable() or not row["method"]]
    assert not strange


def check_churn(jdk, classes, tmp_path, collector, wanted, late=False):
    options = [*collector_options(jdk, collector), "-Xmx512m", "-XX:MaxMetaspaceSize=256m"]
    with Program(jdk, classes, "ClassChurn", options=options) as program:
        program.ready()
        file = tmp_path / "x.jfr"
        before = int(program.ask("loaded"))
        with Recorder("--cpu", "--memory", "64m" if late else "16m", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            with HeldBack(program.pid, DECODER) if late else contextlib.nullcontext() as held:
                wait_until(lambda: int(program.ask("loaded")) - before > wanted, f"{wanted} classes have come and gone", 300)
            assert not late or held.times > 0
            program.ask("gc")
            recorder.interrupt()
            recorder.finish()
        program.ask("gc")
        program.tell("exit")
        assert program.wait() == 7, program.errors[-5:]
    document = report(file)
    assert engine(document)["samples"]["taken"] > 50
    churned = sum(row["self"] for row in document["hot"]
                  if re.search(r"\bChurned(?:Hidden)?(?:[/+.$]0x[0-9a-f]+)?(?:\.|$)|\[unloaded\]|\[failed: no method\]", row["method"]))
    assert churned > 0.05, [row["method"] for row in document["hot"]][:20]
    check_stacks(document, late)


@pytest.mark.parametrize("collector", ["Serial", "G1"])
def test_loaders_thrown_away_by_the_hundred(jdk, classes, tmp_path, collector):
    check_churn(jdk, classes, tmp_path, collector, 600)


def test_loaders_thrown_away_before_their_samples_are_decoded(jdk, classes, tmp_path):
    check_churn(jdk, classes, tmp_path, "Serial", 600, late=True)


@pytest.mark.long
@pytest.mark.parametrize("late", [False, True], ids=["in-time", "late"])
@pytest.mark.parametrize("collector", COLLECTORS)
def test_loaders_thrown_away_by_the_thousand(jdk, classes, tmp_path, collector, late):
    check_churn(jdk, classes, tmp_path, collector, 10_000, late)


@pytest.fixture
def redefiner(classes, tmp_path):
    """A jar that is both the program and the agent that may redefine its classes."""
    jar = tmp_path / "redefiner.jar"
    with zipfile.ZipFile(jar, "w") as out:
        out.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nPremain-Class: Redefiner\nCan-Redefine-Classes: true\n")
        for file in classes.glob("*.class"):
            out.write(file, file.name)
    return jar


# Whom Redefiner's thread calls, and who is called by that.
CALLS = ["Redefiner.lambda$main$0", "Redefined.outer", "Redefined.middle", "Redefined.inner"]


def is_wrong(frames):
    """Has a method of Redefined where it can't be: one that never runs, with a caller that does not call it, or not as
    deep as it is. What is [unloaded] has its place all the same."""
    for depth, frame in enumerate(frames):
        if not frame.startswith("Redefined."):
            continue
        if frame not in CALLS:
            return True
        place = CALLS.index(frame)
        caller = frames[depth - 1] if depth > 0 else "["
        if not caller.startswith("[") and caller != CALLS[place - 1]:
            return True
        if CALLS[0] in frames and depth - frames.index(CALLS[0]) != place:
            return True
    return False


@pytest.mark.parametrize("late", [False, True], ids=["in-time", "late"])
def test_classes_redefined_by_the_hundred(jdk, classes, redefiner, tmp_path, late):
    """Old versions of methods are freed without being counted as unloaded. What can't be told is not told wrong."""
    if jdk.major < 11:
        pytest.skip(f"{jdk} does not tell that it redefines classes: docs/jdk-ledger.md")
    file = tmp_path / "x.jfr"
    with Program(jdk, redefiner, "Redefiner", options=[f"-javaagent:{redefiner}", "-Xmx256m"]) as program:
        program.ready()
        before = int(program.ask("redefined"))
        with Recorder("--cpu", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            with HeldBack(program.pid, DECODER) if late else contextlib.nullcontext():
                wait_until(lambda: int(program.ask("redefined")) - before > 200, "200 redefinitions", 300)
            recorder.interrupt()
            recorder.finish()
        program.tell("exit")
        assert program.wait() == 7, program.errors[-5:]
    stacks = [line.rpartition(" ")[0].split(";") for line in tarsier("export", "--to", "collapsed", file).stdout.splitlines()]
    assert any(re.match(r"Redefined\.|\[unloaded|\[failed: no method", frame) for frames in stacks for frame in frames)
    wrong = [frames[-6:] for frames in stacks if is_wrong(frames)]
    assert not wrong


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
