"""Fragments that were saved while recording are decoded again, elsewhere, to the same stacks."""
import re
import subprocess

import pytest
from harness import DEADLINE, LIBRARY, ROOT, Program, engine, jfr_counts, report, tarsier

REPLAY = ROOT / "build/release/tarsier-replay"  # reads what was saved on any architecture


def replay(*arguments, expect=0):
    done = subprocess.run([REPLAY, *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode == expect, done.stdout[-3000:] + done.stderr
    return done


def summary_of(done):
    """(fragments, those that are not as saved)"""
    return tuple(map(int, re.search(r": (\d+) fragments, (\d+) not as saved", done.stderr).groups()))


@pytest.mark.signal_path
def test_saved_fragments_are_decoded_again_to_the_same_stacks(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,savefragments=10,file={file}"
    with Program(jdk, classes, "RuntimeCalls", 2, options=[agent]) as program:
        assert program.wait() == 0, program.errors
    found = engine(report(file))
    fragments, different = summary_of(replay("--check", file))
    assert different == 0
    assert fragments == found["counters"]["fragments: saved"] >= found["samples"]["written"] / 10 - 1
    assert found["counters"]["fragments: not saved"] == 0
    # Nothing is unloaded here, so what is remembered of other samples tells no more than the memory itself.
    assert found["counters"]["fragments: decoded otherwise when alone"] <= 0.01 * fragments + 1
    stacks = replay(file).stdout
    # The rest is from before main, which takes a while in an emulator.
    assert stacks.count("RuntimeCalls.main([Ljava/lang/String;)V") > 0.7 * fragments
    if jdk.major >= 11:  # the JDK's own reader takes them as events like others
        assert jfr_counts(jdk, file)["tarsier.SavedFragment"] == fragments


def test_classes_that_are_thrown_away_are_saved_as_they_were(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "ClassChurn", options=["-Xmx64m", "-XX:+UseSerialGC"]) as program:
        program.ready()
        tarsier("record", "--cpu", "--save-fragments=3", "-d", "3s", "-o", file, program.pid)
    fragments, different = summary_of(replay("--check", file))
    assert fragments > 20
    assert different == 0


def test_what_is_not_as_saved_is_shown(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "RuntimeCalls", 1, options=[f"-agentpath:{LIBRARY}=cpu,savefragments=10,file={file}"]) as p:
        assert p.wait() == 0, p.errors
    content = file.read_bytes()
    # The saved results now speak of another class, and the memory does not.
    file.write_bytes(content.replace(b"interpreted RuntimeCalls.main", b"interpreted RuntimeHalls.main"))
    done = replay("--check", file, expect=1)
    assert summary_of(done)[1] > 0
    assert re.search(r"^- interpreted RuntimeHalls\.main", done.stdout, re.MULTILINE)
    assert re.search(r"^\+ interpreted RuntimeCalls\.main", done.stdout, re.MULTILINE)


def test_a_recording_without_fragments_is_told(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "RuntimeCalls", 1, options=[f"-agentpath:{LIBRARY}=cpu,file={file}"]) as program:
        assert program.wait() == 0, program.errors
    assert "--save-fragments" in replay("--check", file, expect=1).stderr
    done = tarsier("record", "--engine", "agct", "--cpu", "--save-fragments", "-d", "1s", "-o", tmp_path / "no.jfr", "--",
                   jdk.tool("java"), "-cp", classes, "RuntimeCalls", "1", expect=None)
    assert done.returncode != 0
    assert "fragment" in done.stderr
