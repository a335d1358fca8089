"""`--engine fragment --clock perf-rings`: the kernel copies the stacks into rings of perf's, for JVMs without any right."""
import json

import pytest
from harness import (LIBRARY, STOLEN, Program, engine, perf_allowed, record_without_signals, report, samples_by_jfr, tarsier,
                     wait_until_ready)
from test_exit_codes import needs_root, open_folder, program_as_nobody  # noqa: F401  (a fixture)
from test_fragment import check_complete, check_edges, check_roots, walks
from test_known_answer import SERIAL, check_shares

pytestmark = pytest.mark.skipif(not perf_allowed(), reason="perf events are forbidden here")
RINGS = ("--cpu", "--engine", "fragment", "--clock", "perf-rings")


def check_books(document):
    used = engine(document, "fragment")
    samples = used["samples"]
    assert used["mechanism"] == "perf-rings"
    assert samples["taken"] == samples["written"] + sum(samples["dropped"].values()), samples
    # On a busy machine the thread that empties the rings may come too late; nothing else may be lost.
    assert samples["written"] >= 0.99 * (samples["taken"] - samples["dropped"]["perf ring full"]) > 0, samples


def test_shares_with_every_frame_found(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock=perf-rings,file={file}"
    with Program(jdk, classes, "KnownAnswer", 10, options=[*SERIAL, agent]) as program:
        truth = json.loads(program.wait_for("truth ", 200))
        assert program.wait() == 0
    document = report(file)
    check_books(document)
    check_shares(document, truth)
    check_complete(document, 0.99)
    check_edges(document)
    check_roots(jdk, file)


def test_all_cpu_time_is_sampled_and_no_signal_is_taken(known_answer, tmp_path):
    document = record_without_signals(known_answer.pid, tmp_path / "out.jfr", *RINGS, "--interval", "200us")
    check_books(document)
    burner = next(thread for thread in document["threads"] if thread["name"] == "burner")
    lost_ns = 200_000 * engine(document, "fragment")["samples"]["dropped"]["perf ring full"]
    assert 0.93 * burner["cpu_ns"] <= burner["sampled_ns"] + lost_ns or STOLEN.is_much(), (burner, lost_ns)
    assert burner["sampled_ns"] <= 1.07 * burner["cpu_ns"] or STOLEN.is_much(), burner


def test_calls_into_the_jvm_are_unwound_to_their_java_caller(jdk, classes, tmp_path):
    """Java leaves Java code in all ways that there are, and no sample tells where."""
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock=perf-rings,interval=200us,file={file}"
    with Program(jdk, classes, "JvmCalls", 5, options=[agent]) as program:
        assert program.wait() == 0, program.errors
    document = report(file)
    check_books(document)
    check_complete(document, 0.99)
    check_edges(document)
    counters = engine(document, "fragment")["counters"]
    assert counters["started by: unwound"] > counters["started by: plain"]


@pytest.mark.since(21)
def test_frozen_frames_are_missed_and_said_to_be(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock=perf-rings,file={file}"
    with Program(jdk, classes, "VirtualDeep", 3, 50, options=[agent]) as program:
        assert program.wait() == 0, program.errors
    document = report(file)
    check_books(document)
    assert walks(document)["frozen frames not copied"] > 0
    burning = [sample.frames for sample in samples_by_jfr(jdk, file, depth=100) if "VirtualDeep.burn" in sample.frames]
    unmarked = [frames for frames in burning if "VirtualDeep.task" not in frames
                and not any("[failed" in frame or "[deeper" in frame for frame in frames)]
    assert len(burning) > 100 and not unmarked, unmarked[:3]


@needs_root
def test_an_ordinary_user_needs_no_right(jdk, open_folder):  # noqa: F811
    with program_as_nobody(jdk, open_folder) as program:
        try:
            wait_until_ready(program)
            file = open_folder / "x.jfr"
            tarsier("record", *RINGS, "--interval", "100us", "-d", "3s", "-o", file, program.pid)
        finally:
            program.kill()
    document = report(file)
    check_books(document)
    check_complete(document, 0.99)


def test_only_for_fragments(known_answer, tmp_path):
    done = tarsier("record", "--cpu", "--engine", "agct", "--clock", "perf-rings", "-d", "1s", "-o", tmp_path / "x.jfr",
                   known_answer.pid, expect=2)
    assert "--engine fragment" in done.stderr
