"""Frames that the thread's last stack had are not examined again. Here every stack is walked as if nothing were known, too,
and both ways must find the same, frame by frame."""
import subprocess

import pytest
from harness import DEADLINE, JAVA_SOURCES, LIBRARY, Program, engine, report

def agent(file):
    return f"-agentpath:{LIBRARY}=cpu,engine=fragment,interval=500us,walks=both,file={file}"


def check(file, least_known):
    counters = engine(report(file))["counters"]
    compared = counters["walks: compared with whole ones"]
    known = counters["walks: compared, with frames that were known"]
    assert counters["walks: different from whole ones"] == 0, counters
    assert known >= least_known * compared, counters
    assert compared > 100, counters


@pytest.mark.signal_path
@pytest.mark.parametrize("code", ["-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"])
def test_deep_stacks(jdk, classes, tmp_path, code):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "DeepStack", 300, 2, options=[code, agent(file)]) as program:
        assert program.wait(200) == 0
    check(file, 0.8)


@pytest.mark.since(21)
def test_virtual_threads(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "VirtualDeep", 3, 50, "gc", options=["-Xmx300m", agent(file)]) as program:
        assert program.wait() == 0, program.errors
    check(file, 0)


def record_compiler(jdk, option, file, folder):
    """Interpreted, compiled and deoptimised frames in every order."""
    sources = sorted(JAVA_SOURCES.glob("[K-W]*.java"))
    command = [jdk.tool("javac"), f"-J{option}", "-nowarn", "-d", folder / "classes", *sources]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=DEADLINE)
    assert file.exists(), done.stderr


def test_a_compiler_that_is_being_compiled(jdk, tmp_path):
    file = tmp_path / "out.jfr"
    record_compiler(jdk, agent(file), file, tmp_path)
    check(file, 0.3)
