"""Stacks that run out, and how much of one a handler needs."""
import json
import re
import subprocess

import pytest
from harness import Program, Recorder, ebpf_allowed, report, tarsier, wait_for_recording
from test_coexistence import counters


def smallest_stack(jdk):
    """The smallest -Xss that this JVM takes, by its own word."""
    said = subprocess.run([jdk.tool("java"), "-Xss1k", "-version"], capture_output=True, text=True, timeout=60)
    return re.search(r"at least (\d+k)", said.stdout + said.stderr)[1]


def check_overflows(jdk, classes, tmp_path, clock, seconds):
    if clock == "ebpf" and not ebpf_allowed():
        pytest.skip("no right to load eBPF programs here")
    engine = "fragment" if clock == "ebpf" else "agct"
    with Program(jdk, classes, "DeepStacks", options=[f"-Xss{smallest_stack(jdk)}"]) as program:
        program.ready()
        before = json.loads(program.ask("overflows"))
        file = tmp_path / "x.jfr"
        # SIGALRM and waiting threads included: whoever is interrupted may be at the end of its stack.
        tarsier("record", "--cpu", "--engine", engine, "--clock", clock, "-d", f"{seconds}s", "-o", file, program.pid)
        after = json.loads(program.ask("overflows"))
        assert all(b > a for a, b in zip(before, after)), (before, after)
        assert report(file)["recording"]["engines"][0]["samples"]["taken"] > 1
        program.tell("exit")
        assert program.wait() == 7, program.errors[-5:]


@pytest.mark.parametrize("clock", ["perf", "timekeeper", "ebpf", "wall"])
def test_stack_overflows_and_the_smallest_stacks(jdk, classes, tmp_path, clock):
    check_overflows(jdk, classes, tmp_path, clock, 2)


@pytest.mark.long
@pytest.mark.parametrize("clock", ["perf", "cputimer", "timekeeper", "ebpf", "itimer", "real", "wall"])
def test_stack_overflows_for_half_a_minute(jdk, classes, tmp_path, clock):
    check_overflows(jdk, classes, tmp_path, clock, 30)


def test_the_handler_needs_less_than_8_kb_of_stack(antagonist, jdk, tmp_path, record_property):
    """AsyncGetCallTrace included. The handler is made to run on a painted stack."""
    file = tmp_path / "x.jfr"
    with Recorder("--cpu", "-i", "100us", "-o", file, antagonist.pid) as recorder:
        wait_for_recording(file)
        frame = int(antagonist.ask("paint 16"))
        antagonist.ask("exec 50")
        used = int(antagonist.ask("painted"))
        recorder.interrupt()
        recorder.finish()
    assert counters(file)["signal"] == 16
    assert used > frame > 0, "the handler did not run there"
    record_property("handler_stack_bytes", used - frame)
    print(f"{jdk}: the kernel's frame {frame} bytes, the handler {used - frame}")
    assert used - frame < 8192
