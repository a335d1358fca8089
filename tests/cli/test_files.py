"""Where results go, and that nothing half-written stays."""
import subprocess

import pytest
from harness import TARSIER, Program, jdks, tarsier


@pytest.fixture(scope="module")
def recorded(classes, tmp_path_factory):
    """A JVM to record, and a recording of it."""
    file = tmp_path_factory.mktemp("recorded") / "x.jfr"
    with Program(jdks()[0], classes, "KnownAnswer") as program:
        program.ready()
        tarsier("record", "-d", "1s", "-o", file, program.pid)
        yield program, file


def test_a_recording_is_private_and_replaces_an_older_one(recorded, tmp_path):
    program, _ = recorded
    file = tmp_path / "x.jfr"
    file.write_text("old")
    file.chmod(0o644)
    done = tarsier("record", "-d", "500ms", "-o", file, program.pid)
    assert done.stdout.splitlines()[-1] == str(file), "the last line is the path"
    assert file.read_bytes().startswith(b"FLR\0") and file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.jfr"]


def test_a_symbolic_link_is_not_followed(recorded, tmp_path):
    program, file = recorded
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "x.jfr").symlink_to(tmp_path / "victim")
    for arguments in (["record", "-d", "1s", program.pid], ["export", file, "--to", "collapsed"]):
        assert "symbolic link" in tarsier(*arguments, "-o", tmp_path / "x.jfr", expect=2).stderr
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_folder_and_a_missing_folder_are_told_apart(recorded, tmp_path):
    program, _ = recorded
    assert "folder" in tarsier("record", "-d", "1s", "-o", tmp_path, program.pid, expect=2).stderr
    assert "missing" in tarsier("record", "-d", "1s", "-o", tmp_path / "missing" / "x", program.pid, expect=1).stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_the_file_is_named_after_the_jvm(recorded, tmp_path):
    program, _ = recorded
    done = subprocess.run([TARSIER, "record", "-d", "500ms", str(program.pid)], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.iterdir()
    assert file.name.startswith(f"tarsier-KnownAnswer-{program.pid}-") and file.name.endswith(".jfr")


def test_export_writes_to_stdout_or_a_whole_file(recorded, tmp_path):
    _, file = recorded
    text = tarsier("export", file, "--to", "collapsed").stdout
    assert "KnownAnswer" in text
    tarsier("export", file, "--to", "collapsed", "-o", tmp_path / "x.txt")
    assert (tmp_path / "x.txt").read_text() == text
    assert tarsier("export", file, "--to", "collapsed", "-o", "-").stdout == text
    tarsier("export", file, "--to", "html", "-o", tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text().lstrip().lower().startswith("<!doctype html>")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["x.html", "x.txt"]


def test_a_full_disk_is_told_and_leaves_nothing(recorded):
    _, file = recorded
    with open("/dev/full", "w") as full:
        for arguments in (["export", file, "--to", "collapsed"], ["report", file], ["ps", "--json"], ["help"]):
            done = subprocess.run([TARSIER, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
            assert done.returncode == 1 and "No space left" in done.stderr, arguments


def test_a_missing_or_unreadable_recording_exits_1(tmp_path):
    for command in (["report"], ["export", "--to", "collapsed"]):
        assert "missing.jfr" in tarsier(*command, tmp_path / "missing.jfr", expect=1).stderr
    (tmp_path / "text.jfr").write_text("this is no recording")
    assert "text.jfr" in tarsier("report", tmp_path / "text.jfr", expect=1).stderr
    assert "regular file" in tarsier("report", tmp_path, expect=2).stderr


def test_report_narrows_as_asked(recorded):
    _, file = recorded
    assert len(tarsier("report", file, "--view", "hot", "--top", "1").stdout) < len(
        tarsier("report", file, "--view", "hot,tree,threads,quality").stdout)
    assert "KnownAnswer" in tarsier("report", file, "--thread", "^burn", "--view", "hot").stdout
    assert "[" in tarsier("report", file, "--thread", "[", expect=2).stderr


def test_progress_and_hints_stay_off_stdout(recorded, tmp_path):
    program, _ = recorded
    done = tarsier("record", "-d", "500ms", "-o", tmp_path / "x.jfr", program.pid)
    assert "recording JVM" in done.stderr and "tarsier report" in done.stderr
    assert "recording JVM" not in done.stdout and "\x1b" not in done.stdout + done.stderr
