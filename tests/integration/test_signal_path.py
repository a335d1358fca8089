"""What the signal path must do on every architecture, also where there are no perf events."""
import pytest
from harness import LIBRARY, Program, engine, perf_allowed, report, samples_by_jfr, tarsier

pytestmark = pytest.mark.signal_path


@pytest.mark.parametrize("depth", [40, 1500])
def test_deep_stacks_are_whole_and_deeper_ones_are_marked(jdk, classes, tmp_path, depth):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,maxdepth=1000,file={file}"
    with Program(jdk, classes, "DeepStack", depth, 2, options=[agent]) as program:
        assert program.wait(200) == 0
    engine(report(file))
    burning = [s for s in samples_by_jfr(jdk, file, depth=2000) if "DeepStack.burn" in s.frames[:2]]
    assert len(burning) > 50
    frames = depth + 1  # descend() calls itself `depth` times
    whole = [s for s in burning if s.frames.count("DeepStack.descend") == frames]
    cut = [s for s in burning if s.frames.count("DeepStack.descend") < frames and len(s.frames) >= 1000]
    # On a machine that leaves our thread no CPU the ring fills, and less is copied of stacks that are so deep: that is said.
    marked = [s for s in burning if len(s.frames) < 1000 and s.frames[-1] == "[deeper]"]
    told = f"{len(whole)} whole, {len(cut)} cut, {len(marked)} marked, of {len(burning)}"
    if depth < 1000:
        assert len(whole) > 0.98 * len(burning), told
    else:
        assert len(cut) + len(marked) > 0.98 * len(burning), told
        assert len(cut) > 0.8 * len(burning), told


def test_without_perf_the_next_clock_is_taken_and_the_reason_is_told(jdk, classes, tmp_path):
    if perf_allowed():
        pytest.skip("perf events work here")
    file = tmp_path / "out.jfr"
    done = tarsier("record", "-o", file, "--", jdk.tool("java"), "-cp", classes, "KnownAnswer", 2, seconds=240)
    used = engine(report(file))
    assert not used["mechanism"].startswith("perf")
    assert "perf" in used["why"], used
    assert used["samples"]["written"] > 0, done.stderr
