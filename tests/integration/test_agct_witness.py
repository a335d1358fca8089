"""AsyncGetCallTrace is asked about the very moments whose stacks are decoded from fragments: wherever it can tell, both must say
the same, but for what docs/evaluation.md explains."""
import pytest
from harness import LIBRARY, Program, engine, report
from test_incremental import record_compiler

BEFORE = "beside AsyncGetCallTrace: "


def agent(file):
    return f"-agentpath:{LIBRARY}=cpu,engine=fragment,interval=500us,walks=agct,file={file}"


# Where it is known to be wrong: it reads the bytecode of interpreted frames where it was saved last, moves on from a call that a
# thread is in, and does not know C functions that Java calls directly nor the first and last instructions of methods.
ITS_MISTAKES = {("other bytecode (interpreted)", "plain"), ("other bytecode (interpreted)", "anchor"),
                ("other bytecode (compiled)", "anchor"), ("other innermost frames", "anchor")}
ITS_BLIND_SPOTS = {"native leaf", "half-built frame", "stub", "adapter"}


def check(file, least):
    counts = {}
    for name, count in engine(report(file))["counters"].items():
        if name.startswith(BEFORE):
            kind, start = name.removeprefix(BEFORE).split(", ")
            counts[kind, start] = count
    known = sum(count for (kind, _), count in counts.items() if not kind.startswith(("AsyncGetCallTrace failed", "ours is")))
    same = sum(count for (kind, _), count in counts.items() if kind in ("same", "other bytecode (interpreted)"))
    unexplained = {key: count for key, count in counts.items()
                   if count > 0 and key[0] not in ("same", "AsyncGetCallTrace failed", "ours is unloaded", "its ends early")
                   and key not in ITS_MISTAKES and key[1] not in ITS_BLIND_SPOTS}
    assert known > 200, counts
    assert same >= least * known, counts
    assert sum(unexplained.values()) <= 1 + 0.005 * known, unexplained


@pytest.mark.parametrize("code", ["-Xint", "-XX:TieredStopAtLevel=1", "-XX:+TieredCompilation"])
def test_deep_stacks(jdk, classes, tmp_path, code):
    file = tmp_path / "out.jfr"
    # They fit into what is copied of a stack when our thread comes by late.
    with Program(jdk, classes, "DeepStack", 200, 2, options=[code, agent(file)]) as program:
        assert program.wait(200) == 0
    check(file, 0.98)


def test_a_compiler_that_is_being_compiled(jdk, tmp_path):
    file = tmp_path / "out.jfr"
    record_compiler(jdk, agent(file), file, tmp_path)
    check(file, 0.93)


def test_only_with_signals(jdk, classes, tmp_path):
    options = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock=ebpf,walks=agct,file={tmp_path / 'out.jfr'}"
    with Program(jdk, classes, "DeepStack", 10, 1, options=[options]) as program:
        program.wait(200)
    assert any("is asked by the CPU engine 'fragment' with a clock that signals" in line for line in program.errors)
