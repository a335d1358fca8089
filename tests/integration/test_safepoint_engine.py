"""The engines that see threads only at safepoint polls: `safepoint`, which stops all for that, and what both get wrong."""
import json

import pytest
from harness import LIBRARY, Program, engine, report, tarsier
from test_known_answer import SERIAL, true_shares

# A poll in every turn of every loop: then a thread is found where it is.
POLLS_EVERYWHERE = [*SERIAL, "-XX:+UseCountedLoopSafepoints", "-XX:+IgnoreUnrecognizedVMOptions",
                    "-XX:LoopStripMiningIter=1"]  # 8 has no such option
NO_POLLS = [*SERIAL, "-XX:CompileCommand=quiet", "-XX:CompileCommand=inline,NoPolls::hot",
            "-XX:CompileCommand=dontinline,NoPolls::cold", "-XX:CompileCommand=dontinline,NoPolls::round"]
FIRST_WITH_HANDSHAKES = 16


def share_of_hot(jdk, classes, file, engine_name):
    """(what we say, the truth): the share of the loop without polls in the time of it and of what comes after it."""
    agent = f"-agentpath:{LIBRARY}=cpu,engine={engine_name},file={file}"
    with Program(jdk, classes, "NoPolls", 8, options=[*NO_POLLS, agent]) as program:
        truth = json.loads(program.wait_for("truth "))
        assert program.wait() == 0
    measured = report(file, "tree,hot", "--min-share", 0)
    assert engine(measured, engine_name)["samples"]["written"] > 100
    found = {"NoPolls.hot": 0, "NoPolls.cold": 0}

    def add(node, inside):
        inside = inside or node["method"] == "NoPolls.measure"
        if inside and node["method"] in found:
            found[node["method"]] += node["self"]
        for child in node["children"]:
            add(child, inside)

    add(measured["tree"], False)
    # Whoever sees the loop nowhere gives it nothing.
    return found["NoPolls.hot"] / max(sum(found.values()), 1), truth["hot"] / sum(truth.values())


def check_within_intervals(document, truth):
    """The shares of the three methods among themselves, to two points and what the report itself says of its noise: samples
    weigh what a thread has used since its last one, which is much when the machine has no CPU for us. A thread that has
    lost its CPU is found where it lost it, which is where it asks for the time: that part is left out."""
    hot = {row["method"]: row for row in document["hot"]}
    shares = true_shares(truth)
    rows = {method: hot["Work.leaf" if method == "Work.twenty" else method] for method in shares}  # the leaf does twenty's work
    burned, wrong = sum(row["self"] for row in rows.values()), {}
    for method, share in shares.items():
        row = rows[method]
        low, high = row["self_ci95"]
        if abs(row["self"] / burned - share) > 0.02 + (high - low):
            wrong[row["method"]] = f"{row['self'] / burned:.4f} instead of {share:.4f}, {low:.4f} .. {high:.4f}"
    assert not wrong, (wrong, document["verdict"])


@pytest.mark.parametrize("engine_name", ["fragment", "agct"])
def test_a_loop_without_polls_is_found_by_engines_that_interrupt(jdk, classes, tmp_path, engine_name):
    said, truth = share_of_hot(jdk, classes, tmp_path / "out.jfr", engine_name)
    assert truth > 0.9, "the program's own account: nearly all of its time is in the loop"
    assert said == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("engine_name", ["safepoint", "handshake"])
def test_a_loop_without_polls_is_blamed_on_what_comes_after_it(jdk, classes, tmp_path, engine_name):
    """The safepoint bias: what follows the loop has some hundredths of the time, and gets nearly all the blame."""
    if engine_name == "handshake" and jdk.major < FIRST_WITH_HANDSHAKES:
        pytest.skip(f"{jdk} has no handshakes")
    said, truth = share_of_hot(jdk, classes, tmp_path / "out.jfr", engine_name)
    assert truth > 0.9
    assert said < 0.3
    verdict = tarsier("report", tmp_path / "out.jfr").stdout
    assert f"the engine {engine_name} is biased by design" in " ".join(verdict.split())


def test_shares_where_there_are_polls_everywhere(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=safepoint,file={file}"
    with Program(jdk, classes, "KnownAnswer", 10, options=[*POLLS_EVERYWHERE, agent]) as program:
        truth = json.loads(program.wait_for("truth "))
        assert program.wait() == 0
    document = report(file)
    check_within_intervals(document, truth)
    found = engine(document, "safepoint")
    assert found["mechanism"] == "GetAllStackTraces"
    # The JVM's own threads that sleep in native code (since 9) are runnable for JVMTI: no CPU time of theirs is made up.
    assert jdk.major == 8 or found["counters"]["runnable for the JVM, but had not run"] > 0
    threads = {row["name"]: row for row in document["threads"]}
    assert threads["main"]["sampled_ns"] > 0.9 * threads["main"]["cpu_ns"]
    assert threads.get("Reference Handler", {"sampled_ns": 0})["sampled_ns"] < 0.01 * threads["main"]["sampled_ns"]
