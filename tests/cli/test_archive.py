"""Recordings packed as .jfr.zst: made, read as if they were not packed, and what becomes of damaged ones."""
import os
import pathlib
import shutil
import subprocess

import pytest
from harness import ROOT, TARSIER, Program, jdks, tarsier

RECORDING = ROOT / "tests/fixtures/recording/all-events.jfr"


@pytest.fixture
def archive(tmp_path):
    tarsier("export", RECORDING, "--to", "jfr.zst", "-o", tmp_path / "a.jfr.zst")
    return tmp_path / "a.jfr.zst"


def same_but_for_the_name(one, other):
    texts = [tarsier("report", file, "--json", "--view", "hot,tree,threads,quality").stdout.replace(str(file), "FILE")
             for file in (one, other)]
    assert texts[0] == texts[1]


def test_an_archive_comes_back_byte_for_byte(archive, tmp_path):
    tarsier("export", archive, "--to", "jfr", "-o", tmp_path / "back.jfr")
    assert (tmp_path / "back.jfr").read_bytes() == RECORDING.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jfr.zst", "back.jfr"]
    piped = subprocess.run([TARSIER, "export", RECORDING, "--to", "jfr.zst"], capture_output=True, timeout=60)
    assert piped.stdout == archive.read_bytes()


@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd command here")
def test_the_tool_zstd_and_we_read_each_others(archive, tmp_path):
    unpacked = subprocess.run(["zstd", "-dc", archive], capture_output=True, check=True, timeout=60)
    assert unpacked.stdout == RECORDING.read_bytes()
    subprocess.run(["zstd", "-q", "-19", RECORDING, "-o", tmp_path / "by-tool"], check=True, timeout=60)
    same_but_for_the_name(RECORDING, tmp_path / "by-tool")


def test_every_command_reads_it_by_its_content_not_its_name(archive, tmp_path):
    same_but_for_the_name(RECORDING, archive)
    shutil.copy(archive, tmp_path / "misnamed.jfr")
    same_but_for_the_name(RECORDING, tmp_path / "misnamed.jfr")
    shutil.copy(RECORDING, tmp_path / "misnamed.jfr.zst")
    same_but_for_the_name(RECORDING, tmp_path / "misnamed.jfr.zst")
    assert (tarsier("export", archive, "--to", "collapsed").stdout ==
            tarsier("export", RECORDING, "--to", "collapsed").stdout)


def test_of_a_cut_archive_the_start_is_shown_and_said(archive, tmp_path):
    content = archive.read_bytes()
    archive.write_bytes(content + content[:len(content) // 2])
    done = tarsier("report", archive, "--view", "hot", expect=5)
    assert "ends within" in done.stderr and "Hot methods" in done.stdout
    done = tarsier("export", archive, "--to", "jfr", "-o", tmp_path / "back.jfr", expect=5)
    assert "ends within" in done.stderr
    assert (tmp_path / "back.jfr").read_bytes().startswith(RECORDING.read_bytes())


@pytest.mark.parametrize("content, words", [
    (b"\x28\xb5\x2f\xfd", ["a.jfr.zst", "ends within"]),
    (b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello", ["a.jfr.zst", "no JFR recording"]),
    (b"\x28\xb5\x2f\xfd" + b"\xff" * 100, ["a.jfr.zst", "damaged"]),
], ids=["cut", "text", "noise"])
def test_what_is_no_archive_of_a_recording_is_refused(tmp_path, content, words):
    (tmp_path / "a.jfr.zst").write_bytes(content)
    for command in (["report"], ["export", "--to", "collapsed"], ["export", "--to", "jfr"]):
        done = tarsier(*command, tmp_path / "a.jfr.zst", expect=1)
        assert all(word in done.stderr for word in words) and done.stdout == ""


def test_no_room_to_unpack_names_the_way_out(archive, tmp_path):
    done = subprocess.run([TARSIER, "report", archive], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, TMPDIR=str(tmp_path / "missing")))
    assert done.returncode == 1 and "TMPDIR" in done.stderr and str(tmp_path / "missing") in done.stderr


def test_a_jvm_is_recorded_into_an_archive(classes, tmp_path):
    with Program(jdks()[0], classes, "KnownAnswer") as program:
        program.ready()
        done = tarsier("record", "-d", "700ms", "-o", tmp_path / "x.jfr.zst", program.pid)
        assert done.stdout.splitlines()[-1] == str(tmp_path / "x.jfr.zst")
        assert [path.name for path in tmp_path.iterdir()] == ["x.jfr.zst"]
        assert (tmp_path / "x.jfr.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
        assert (tmp_path / "x.jfr.zst").stat().st_mode & 0o777 == 0o600
        assert "KnownAnswer" in tarsier("report", tmp_path / "x.jfr.zst").stdout
        # The .jfr that it is meanwhile must not cost anybody theirs.
        (tmp_path / "x.jfr").write_text("precious")
        done = tarsier("record", "-d", "700ms", "-o", tmp_path / "x.jfr.zst", program.pid, expect=2)
        assert "x.jfr'" in done.stderr and (tmp_path / "x.jfr").read_text() == "precious"


def test_a_recording_that_ends_early_is_packed_too(with_fake_agent, tmp_path):
    with_fake_agent("hangs_up_while_recording", expect=5, file="x.jfr.zst")
    assert [path.name for path in tmp_path.iterdir()] == ["x.jfr.zst"]


def test_an_archive_that_can_not_be_written_leaves_the_recording(tmp_path):
    """A limit on the size of files strikes when the archive is written: the agent is another process without one."""
    fake = str(pathlib.Path(__file__).with_name("fake_agent.py"))
    script = 'trap "" XFSZ; ulimit -S -f 0; exec "$0" record -o "$1" -- sh -c \'ulimit -S -f unlimited; exec "$@"\' sh ' \
             '/usr/bin/python3 "$2" hangs_up_while_recording'
    done = subprocess.run(["bash", "-c", script, str(TARSIER), str(tmp_path / "x.jfr.zst"), fake],
                          capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 5, done.stderr
    assert "stays as it is" in done.stderr and "File too large" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["x.jfr"]
    assert done.stdout.splitlines()[-1] == str(tmp_path / "x.jfr")
