"""What the command makes of agents that behave, and of those that don't."""
import pathlib
import signal
import subprocess
import time

import harness
import pytest
from harness import TARSIER


def test_options_reach_the_agent_and_nothing_else_does(with_fake_agent, tmp_path):
    done = with_fake_agent("says_options", "-d", "30s", "--interval", "2ms", "--clock", "cputimer", expect=1)
    words = done.stdout.splitlines()[0]
    for part in ("interval=2ms", "duration=30s", "cputimer", str(tmp_path / "x.jfr")):
        assert part in words


def test_names_from_the_jvm_can_not_play_with_the_terminal(with_fake_agent):
    done = with_fake_agent("says_options", expect=1)
    assert "careful" in done.stderr
    assert "\x1b" not in done.stderr + done.stdout


def test_a_jvm_that_is_being_recorded_exits_4_with_the_agents_words(with_fake_agent, tmp_path):
    done = with_fake_agent("is_busy", expect=4)
    assert "4711" in done.stderr and "12 s left" in done.stderr
    assert list(tmp_path.iterdir()) == [], "nothing may remain of a recording that did not start"


@pytest.mark.parametrize("scenario, code", [("hangs_up_at_once", 1), ("talks_nonsense", 4), ("talks_too_much", 4),
                                            ("speaks_another_version", 4), ("never_calls", 3)])
def test_an_agent_that_never_starts_leaves_no_file(with_fake_agent, tmp_path, scenario, code):
    (tmp_path / "x.jfr").write_text("old")
    assert with_fake_agent(scenario, expect=code).stderr.strip()
    assert (tmp_path / "x.jfr").read_text() == "old", "what was there before is replaced only by a recording"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_recording_without_an_end_exits_5_and_is_kept(with_fake_agent, tmp_path):
    done = with_fake_agent("hangs_up_while_recording", expect=5)
    assert "incomplete" in done.stderr
    assert (tmp_path / "x.jfr").read_bytes() == b"no recording, but something"
    assert (tmp_path / "x.jfr").stat().st_mode & 0o777 == 0o600


def test_a_recording_that_ended_before_its_first_byte_is_not_kept(with_fake_agent, tmp_path):
    with_fake_agent("hangs_up_with_an_empty_file", expect=1)
    assert list(tmp_path.iterdir()) == []


def test_what_the_agent_misses_is_said_and_exits_5(with_fake_agent):
    assert "the disk is full" in with_fake_agent("is_incomplete", expect=5).stderr


def test_a_failing_programs_own_code_wins(with_fake_agent):
    with_fake_agent("exits_with_7_after_finishing", expect=7)


def test_the_program_goes_on_after_the_recording(with_fake_agent):
    assert "went on" in with_fake_agent("goes_on_after_finishing", expect=1).stdout


def test_a_program_that_is_not_there_exits_2(tmp_path):
    done = harness.tarsier("record", "-o", tmp_path / "x.jfr", "--", "no-such-program", expect=2)
    assert "no-such-program" in done.stderr
    assert list(tmp_path.iterdir()) == []


def start_scenario(tmp_path, scenario):
    command = [str(TARSIER), "record", "-o", str(tmp_path / "x.jfr"), "--", "/usr/bin/python3",
               str(pathlib.Path(__file__).with_name("fake_agent.py")), scenario]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               stdin=subprocess.DEVNULL)
    assert process.stdout.readline() == "READY\n"
    return process


def test_sigterm_reaches_the_program(tmp_path):
    process = start_scenario(tmp_path, "ends_by_sigterm")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1, errors  # the fake recording can't be read back
    assert "incomplete" not in errors
    assert (tmp_path / "x.jfr").exists()


def test_the_second_sigint_saves_if_the_program_ignores_the_first(tmp_path):
    process = start_scenario(tmp_path, "ignores_sigint")
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "saving" in errors and "incomplete" not in errors


def test_the_third_sigint_gives_up_on_the_agent(tmp_path):
    process = start_scenario(tmp_path, "never_finishes")
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 5
    assert "incomplete" in errors


def test_nothing_of_ours_remains_in_tmp(with_fake_agent, tmp_path, monkeypatch):
    note = tmp_path / "socket"
    monkeypatch.setenv("FAKE_AGENT_NOTE", str(note))
    for scenario, code in (("is_busy", 4), ("hangs_up_while_recording", 5)):
        with_fake_agent(scenario, expect=code)
        folder = pathlib.Path(note.read_text()).parent
        assert folder.name.startswith("tarsier-") and not folder.exists()
