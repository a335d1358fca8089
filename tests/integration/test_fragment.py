"""The engine `fragment`: what the interrupted thread has copied is decoded later, and right."""
import json

import other_arch
import pytest
from harness import LIBRARY, Program, engine, report, samples_by_jfr
from test_known_answer import SERIAL, check_shares, check_sleeper

pytestmark = [pytest.mark.signal_path, pytest.mark.every_jvm]


def walks(document):
    counters = engine(document, "fragment")["counters"]
    return {name.removeprefix("walks: "): count for name, count in counters.items() if name.startswith("walks: ")}


def check_complete(document, share):
    ends = walks(document)
    incomplete = {name: count for name, count in ends.items() if count and name not in ("complete", "no Java frame")}
    assert sum(incomplete.values()) <= (1 - share) * sum(ends.values()), ends


def check_edges(document):
    """Bytecodes are independent witnesses of who called whom."""
    counters = engine(document, "fragment")["counters"]
    right, wrong, unknown = (counters[f"edges: {kind}"] for kind in ("right", "wrong", "uncheckable"))
    assert wrong <= 1e-3 * right and right >= 0.5 * (right + wrong + unknown) > 0, counters


def check_roots(jdk, file):
    """By the JDK's reader: stacks end where their threads began."""
    samples = samples_by_jfr(jdk, file, depth=64)
    check_sleeper(samples, starts=True)
    burning = [sample for sample in samples if "KnownAnswer.burn" in sample.frames]
    rooted = [sample for sample in burning if sample.frames[-1] in ("KnownAnswer.main", "java.lang.Thread.run")]
    assert len(rooted) >= 0.995 * len(burning) > 0, [s.frames for s in burning if s not in rooted][:5]


def record_known_answer(jdk, classes, file, engine_name, clock):
    """The report, and the program's own truth."""
    if clock == "perf" and other_arch.is_asked_for():
        pytest.skip("no perf events under qemu-user")
    agent = f"-agentpath:{LIBRARY}=cpu,engine={engine_name},clock={clock},file={file}"
    with Program(jdk, classes, "KnownAnswer", 10, options=[*SERIAL, agent]) as program:
        truth = json.loads(program.wait_for("truth ", 200))
        assert program.wait() == 0
    return report(file), truth


@pytest.mark.parametrize("clock", ["perf", "cputimer"])
def test_agct_finds_the_same_shares(jdk, classes, tmp_path, clock):
    """The other engine, which is not the default."""
    document, truth = record_known_answer(jdk, classes, tmp_path / "out.jfr", "agct", clock)
    assert engine(document, "agct")["samples"]["written"] > 0
    check_shares(document, truth)


@pytest.mark.parametrize("clock", ["perf", "cputimer"])
def test_shares_with_every_frame_found(jdk, classes, tmp_path, clock):
    file = tmp_path / "out.jfr"
    document, truth = record_known_answer(jdk, classes, file, "fragment", clock)
    check_shares(document, truth)
    check_complete(document, 0.995)
    check_edges(document)
    check_roots(jdk, file)


@pytest.mark.parametrize("mode", ["hash", "search", "null", "overflow"])
@pytest.mark.parametrize("clock", ["perf", "ebpf"])
def test_code_in_which_stacks_are_hard_to_tell(jdk, classes, tmp_path, mode, clock):
    """Stubs that go round in loops, words that are pushed within a method, signal handlers of the JVM."""
    if other_arch.is_asked_for():
        pytest.skip("no perf events under qemu-user")
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock={clock},interval=500us,file={file}"
    # The second compiler asks for null once that has happened; the first one leaves it to the signal, and to a stub
    # (forward_exception) whose caller is not found.
    compiler = ["-XX:TieredStopAtLevel=1"] if mode == "null" else []
    with Program(jdk, classes, "HardCode", 3, mode, options=[*SERIAL, "-Xss320k", *compiler, agent]) as program:
        assert program.wait() == 0, program.errors
    document = report(file)
    if engine(document, "fragment")["mechanism"] != clock:
        pytest.skip(engine(document, "fragment")["why"])
    assert sum(walks(document).values()) > 1000, document["verdict"]
    ends = walks(document)
    # So many of such deep stacks are cut, for lack of room, or where more frames would come than are asked for.
    fine = ("complete", "no Java frame", *(("too deep", "fragment too short") if mode == "overflow" else ()))
    failed = {end: n for end, n in ends.items() if n and end not in fine}
    assert sum(failed.values()) <= (0.01 if mode == "null" else 0.005) * sum(ends.values()), ends
    check_edges(document)
    # Is it what it is meant to be? Signals of ours wait until the JVM's handler is over; 8 and 11 have fewer stubs.
    started = {name: n for name, n in engine(document, "fragment")["counters"].items() if name.startswith("started by")}
    if mode == "null" and clock == "ebpf":
        assert started["started by: signal"] >= 0.05 * sum(started.values()), started
    if mode == "hash" and jdk.major >= 17:
        assert started["started by: stub"] >= 0.05 * sum(started.values()), started
