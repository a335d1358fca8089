"""A full, read-only, blocked or vanishing disk: the application does not notice, and the command says what is missing."""
import pathlib
import re
import time

import pytest
from disk import Disk, FreezableDisk
from harness import LIBRARY, Program, jdks, jfr, tarsier, wait_until

EXITS = (7, ["begin", "end", "hook"])


def until_it_grows(disk, name, more_than=0):
    wait_until(lambda: int(disk.call("stat", "-c", "%s", disk.path / name, check=False).stdout or 0) > more_than,
               f"{name} grows beyond {more_than} bytes")


def run_exits(disk, jdk, classes, *options):
    """The program whose whole output and exit code are known, in the disk's namespace."""
    process = disk.popen(jdk.tool("java"), *options, "-cp", classes, "Exits", "exit")
    output, errors = process.communicate(timeout=120)
    return process.returncode, output.splitlines(), errors


def test_a_full_disk_while_attached(jdk, classes, tmp_path):
    # Room for the recording's start and a little more.
    with Disk(tmp_path / "disk", "-t", "tmpfs", "-o", "size=160k", "none") as disk, \
            Program(jdk, classes, "Exits", "exit", "when-told") as program:
        program.wait_for("begin")
        recorder = disk.record("--cpu", "-i", "100us", "-o", disk.path / "x.jfr", program.pid)
        output, errors = recorder.communicate(timeout=120)
        assert recorder.returncode == 5, errors
        assert "incomplete" in errors and "No space left" in errors
        assert re.search(r"[1-9]\d* events are not in", errors)
        saved = disk.fetch("x.jfr", tmp_path / "saved.jfr")
        program.tell("end")
        assert (program.wait(), program.lines) == EXITS
    assert "Recorded" in tarsier("report", saved).stdout
    for reader in jdks():
        jfr(reader, "summary", saved)


def test_a_full_disk_in_the_agents_own_mode_beside_jfr(jdk, classes, tmp_path, record_property):
    """The same program with JFR, whose answer to a full disk is the JVM's end (as of 17 and 25)."""
    with Disk(tmp_path / "disk", "-t", "tmpfs", "-o", "size=32k", "none") as disk:
        code, lines, errors = run_exits(disk, jdk, classes, f"-agentpath:{LIBRARY}=cpu,interval=100us,file={disk.path}/x.jfr")
        assert (code, lines) == EXITS, errors
        assert "No space left" in errors
        saved = disk.fetch("x.jfr", tmp_path / "saved.jfr")
    assert "Recorded" in tarsier("report", saved).stdout
    with Disk(tmp_path / "disk", "-t", "tmpfs", "-o", "size=160k", "none") as disk:
        code, lines, _ = run_exits(disk, jdk, classes, f"-XX:FlightRecorderOptions=repository={disk.path}",
                                   f"-XX:StartFlightRecording=filename={disk.path}/jfr.jfr,settings=profile")
    record_property("jfr_on_a_full_disk", f"{jdk}: code {code}, said {lines}")
    print(f"{jdk}: with JFR the same program ended with {code} and said {lines}")


def test_a_read_only_disk_is_refused_before_anything_starts(jdk, classes, tmp_path):
    with Disk(tmp_path / "disk", "-t", "tmpfs", "-o", "ro", "none") as disk:
        code, lines, errors = run_exits(disk, jdk, classes, f"-agentpath:{LIBRARY}=cpu,file={disk.path}/x.jfr")
        assert (code, lines) == EXITS
        assert "Read-only file system" in errors and "runs on without being recorded" in errors
        with Program(jdk, classes, "Exits", "exit", "when-told") as program:
            program.wait_for("begin")
            recorder = disk.record("-d", "1s", "-o", disk.path / "x.jfr", program.pid)
            _, errors = recorder.communicate(timeout=60)
            assert recorder.returncode == 1 and "Read-only file system" in errors and "-o FILE" in errors
            program.tell("end")
            assert (program.wait(), program.lines) == EXITS


def test_a_disk_that_blocks_every_writer_does_not_block_the_application(jdk, classes, tmp_path):
    """Threads start and end all the while, which is where the application meets our locks."""
    with FreezableDisk(tmp_path / "disk", tmp_path / "image") as disk, Program(jdk, classes, "Threads") as program:
        program.ready()
        recorder = disk.record("--cpu", "-o", disk.path / "x.jfr", program.pid)
        until_it_grows(disk, "x.jfr")
        disk.freeze()
        our_thread = wait_until(lambda: [task for task in pathlib.Path(f"/proc/{program.pid}/task").iterdir()
                                         if (task / "comm").read_text() == "tarsier\n"], "our thread is there")[0]
        wait_until(lambda: (our_thread / "stat").read_text().rpartition(")")[2].split()[0] == "D", "the disk blocks it")
        ended = program.ask_json("count")["ended"]
        wait_until(lambda: program.ask_json("count")["ended"] > ended + 20, "threads come and go while the disk is blocked")
        assert (our_thread / "stat").read_text().rpartition(")")[2].split()[0] == "D"
        disk.thaw()
        recorder.send_signal(2)
        _, errors = recorder.communicate(timeout=60)
        assert recorder.returncode == 0, errors
        saved = disk.fetch("x.jfr", tmp_path / "saved.jfr")
    assert "Recorded" in tarsier("report", saved).stdout


@pytest.mark.long
def test_the_end_of_a_jvm_waits_for_a_blocked_disk_no_longer_than_promised(jdk, classes, tmp_path):
    """5 s (docs/reliability.md); then the process ends, as far as the kernel lets one end whose thread it holds."""
    with FreezableDisk(tmp_path / "disk", tmp_path / "image") as disk:
        process = disk.popen(jdk.tool("java"), f"-agentpath:{LIBRARY}=cpu,file={disk.path}/x.jfr", "-cp", classes,
                             "Exits", "exit", "when-told")
        assert process.stdout.readline() == "begin\n"
        until_it_grows(disk, "x.jfr")
        disk.freeze()
        time.sleep(2)
        began = time.monotonic()
        process.stdin.write("end\n")
        process.stdin.flush()
        assert process.stdout.readline() == "end\n" and process.stdout.readline() == "hook\n"
        # All that is left of it is the thread in the kernel's hands.
        wait_until(lambda: not any((task / "comm").read_text() == "java\n" and (task / "stat").read_text().rpartition(")")[2].split()[0] == "S"
                                   for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*")), "the JVM has ended", 30)
        waited = time.monotonic() - began
        disk.thaw()
        assert process.wait(60) == 7
    print(f"{jdk}: the exit took {waited:.1f} s")


@pytest.mark.parametrize("how", ["unmounted", "deleted", "cut"])
def test_a_file_that_goes_away_while_it_is_written(jdk, classes, tmp_path, how):
    with Disk(tmp_path / "disk", "-t", "tmpfs", "none") as disk, Program(jdk, classes, "Exits", "exit", "when-told") as program:
        program.wait_for("begin")
        disk.call("mkdir", disk.path / "folder")
        file = disk.path / "folder/x.jfr"
        recorder = disk.record("--cpu", "-o", file, program.pid)
        until_it_grows(disk, "folder/x.jfr")
        disk.call(*{"unmounted": ["umount", "-l", disk.path], "deleted": ["rm", "-r", disk.path / "folder"],
                    "cut": ["truncate", "-s", "0", file]}[how])
        time.sleep(1.5)  # at least one flush
        if how != "cut":  # that one ends by itself
            recorder.send_signal(2)
        _, errors = recorder.communicate(timeout=60)
        assert recorder.returncode == 5, errors
        assert {"cut": "somebody has cut the file"}.get(how, "somebody removed, replaced or unmounted it") in errors
        program.tell("end")
        assert (program.wait(), program.lines) == EXITS
