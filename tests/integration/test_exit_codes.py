"""Every failure has its exit code, and a message that names cause and fix."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest
from harness import TARSIER, LIBRARY, Program, Recorder, tarsier, wait_for_recording, wait_until, wait_until_ready

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")


def no_such_pid():
    limit = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
    return next(pid for pid in range(limit - 1, 1, -1) if not pathlib.Path(f"/proc/{pid}").exists())


@pytest.mark.parametrize("arguments", [["record", "--nonsense"], ["record", "-d", "soon", "1"], ["record", "-d"],
                                       ["nonsense"], ["report"], ["record", "--clock", "sundial", "1"]])
def test_usage_errors_exit_2(arguments):
    done = tarsier(*arguments, expect=2)
    assert done.stdout == ""
    assert done.stderr.strip()


def test_no_such_jvm_exits_3(tmp_path):
    assert str(no_such_pid()) in tarsier("record", "-o", tmp_path / "x.jfr", no_such_pid(), expect=3).stderr
    assert "NoSuchMainClass" in tarsier("record", "-o", tmp_path / "x.jfr", "NoSuchMainClass", expect=3).stderr
    assert not (tmp_path / "x.jfr").exists()


def test_a_process_that_is_no_jvm_exits_3(tmp_path):
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            assert str(sleeper.pid) in tarsier("record", "-o", tmp_path / "x.jfr", sleeper.pid, expect=3).stderr
            assert sleeper.poll() is None, "the attempt has killed it"
        finally:
            sleeper.kill()


def test_a_file_that_is_no_recording_exits_1(tmp_path):
    for content in (b"", b"nonsense", b"FLR\0" + b"\xff" * 200):
        (tmp_path / "bad.jfr").write_bytes(content)
        assert "bad.jfr" in tarsier("report", tmp_path / "bad.jfr", expect=1).stderr
    assert "missing.jfr" in tarsier("report", tmp_path / "missing.jfr", expect=1).stderr


def test_an_unwritable_file_exits_1_and_starts_nothing(known_answer, tmp_path):
    done = tarsier("record", "-d", "1s", "-o", tmp_path / "no" / "such" / "folder.jfr", known_answer.pid, expect=1)
    assert "folder.jfr" in done.stderr


@pytest.mark.signal_path
def test_a_childs_failure_is_our_exit_code(jdk, classes, tmp_path):
    done = tarsier("record", "-o", tmp_path / "x.jfr", "--", jdk.tool("java"), "-cp", classes, "Exits", "exit", expect=7)
    assert done.stdout.startswith("begin\nend\nhook\n")
    assert tarsier("report", tmp_path / "x.jfr").stdout


@pytest.mark.signal_path
def test_a_killed_jvm_exits_5(known_answer, tmp_path):
    file = tmp_path / "x.jfr"
    with Recorder("-d", "60s", "-o", file, known_answer.pid) as recorder:
        wait_for_recording(file)
        time.sleep(1.5)
        known_answer.process.send_signal(signal.SIGKILL)
        _, errors = recorder.finish(expect=5)
    assert str(file) in errors


def check_loser(loser, winner_pid):
    """The loser's words name the winner and how long it will still take."""
    assert re.search(rf"\b{winner_pid}\b", loser), loser
    left = re.search(r"(\d+)(?:\.\d+)? ?s", loser)
    assert left and 0 < int(left[1]) <= 30, loser


def test_the_second_recorder_exits_4_and_names_the_first(known_answer, tmp_path):
    file = tmp_path / "first.jfr"
    with Recorder("-d", "30s", "-o", file, known_answer.pid) as first:
        wait_for_recording(file)
        time.sleep(1)
        check_loser(tarsier("record", "-d", "1s", "-o", tmp_path / "second.jfr", known_answer.pid, expect=4).stderr,
                    first.process.pid)
        first.interrupt()
        first.finish()
    assert tarsier("report", file).stdout
    tarsier("record", "-d", "500ms", "-o", tmp_path / "second.jfr", known_answer.pid)


@pytest.fixture
def open_folder(classes):
    """A folder that every user can read and write, with the command, the agent and the classes in it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tarsier-test-", dir="/tmp"))
    try:
        for file in (TARSIER, LIBRARY):
            shutil.copy(file.resolve(), folder / file.name)
        shutil.copytree(classes, folder / "classes")
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o777)
        yield folder
    finally:
        shutil.rmtree(folder)


def record_as(user, folder, *arguments):
    return subprocess.Popen([folder / "tarsier", "record", *map(str, arguments)], user=user, group="nogroup" if user else None,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)


def program_as_nobody(jdk, folder):
    java = [jdk.tool("java"), "-cp", str(folder / "classes"), "KnownAnswer"]
    return subprocess.Popen(java, user="nobody", group="nogroup", extra_groups=[], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, cwd=folder)


@needs_root
@pytest.mark.parametrize("winner, loser", [(None, "nobody"), ("nobody", None)], ids=["root-first", "owner-first"])
def test_root_and_the_owner_at_once(jdk, open_folder, winner, loser):
    with program_as_nobody(jdk, open_folder) as program:
        try:
            wait_until_ready(program)
            file = open_folder / "first.jfr"
            first = record_as(winner, open_folder, "-d", "30s", "-o", file, program.pid)
            wait_for_recording(file, by=first)
            time.sleep(1)
            second = record_as(loser, open_folder, "-d", "1s", "-o", open_folder / "second.jfr", program.pid)
            _, errors = second.communicate(timeout=60)
            assert second.returncode == 4, errors
            check_loser(errors, first.pid)
            first.send_signal(signal.SIGINT)
            _, errors = first.communicate(timeout=60)
            assert first.returncode == 0, errors
        finally:
            program.kill()
    assert tarsier("report", file).stdout


@needs_root
def test_root_and_the_owner_at_the_very_same_time(jdk, open_folder):
    with program_as_nobody(jdk, open_folder) as program:
        try:
            wait_until_ready(program)
            for attempt in range(5):
                both = [record_as(user, open_folder, "-d", "60s", "-o", open_folder / f"{user}{attempt}.jfr", program.pid)
                        for user in ((None, "nobody") if attempt % 2 else ("nobody", None))]
                wait_until(lambda: any(recorder.poll() is not None for recorder in both), "one of the two has lost")
                loser, winner = both if both[0].poll() is not None else reversed(both)
                _, errors = loser.communicate(timeout=60)
                assert loser.returncode == 4, errors
                assert re.search(rf"\b{winner.pid}\b", errors), errors
                winner.send_signal(signal.SIGINT)
                _, errors = winner.communicate(timeout=60)
                assert winner.returncode == 0, errors
        finally:
            program.kill()


@needs_root
def test_a_stranger_is_not_permitted(known_answer, open_folder):
    done = record_as("nobody", open_folder, "-d", "1s", "-o", open_folder / "x.jfr", known_answer.pid)
    _, errors = done.communicate(timeout=60)
    assert done.returncode == 4, errors
    assert "root" in errors, "names who may"
