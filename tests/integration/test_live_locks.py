"""`record --lock --live`: what threads wait for is shown while they do."""
import os
import re
import threading

import pytest
from harness import DEADLINE, Program, Recorder, report
from test_locks import need_hooks

ROW = re.compile(r"^ +[\d.]+ % +[\d,.]+\S* +(?P<lock>\S+@[0-9a-f]+) +(?P<blocked>\S+) +(?P<owner>\S.*)$")


def first_row(recorder, fits):
    """The first line of its table that fits, while it goes on."""
    guard = threading.Timer(DEADLINE, recorder.process.kill)
    guard.start()
    try:
        seen = []
        for line in recorder.process.stdout:
            seen.append(line)
            row = ROW.match(line.rstrip("\n"))
            if row and fits(row):
                return row
    finally:
        guard.cancel()
    raise AssertionError(f"no such row in {seen}")


def by_a_section(row):
    return "LockSections" in row["blocked"] and "LockSections" in row["owner"]


@pytest.mark.parametrize("mode", ["sync", "reentrant"])
def test_the_lock_who_waits_and_who_holds_it_are_shown_while_the_program_runs(jdk, classes, tmp_path, mode):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "LockTruth", mode, 1000, "sleep", 0, tmp_path / "truth.txt") as program:
        program.ready()
        with Recorder("--lock", "--live", "-o", file, program.pid) as recorder:
            row = first_row(recorder, by_a_section)
            assert program.process.poll() is None
            recorder.interrupt()
            recorder.finish()
        program.ask("stop")
    need_hooks(file)
    # The file is there as always, and tells the same.
    rows = report(file, "locks", "--by", "object,blocked-method")["locks"]["rows"]
    assert any(each["label"].endswith(row["lock"].lstrip("…")) for each in rows)


def test_without_a_file_nothing_is_left_and_the_end_has_a_verdict(jdk, classes, tmp_path):
    before = set(os.listdir())
    with Program(jdk, classes, "LockTruth", "sync", 1000, "sleep", 0, tmp_path / "truth.txt") as program:
        program.ready()
        with Recorder("--lock", "--live", program.pid) as recorder:
            first_row(recorder, lambda row: "LockSections" in row["blocked"])
            recorder.interrupt()
            stdout, _ = recorder.finish()
        assert program.ask("stop") is not None
    assert stdout.strip().splitlines()[-1].startswith("Lock waiting ")
    assert set(os.listdir()) == before


def test_live_is_about_locks():
    with Recorder("--cpu", "--live", "1") as recorder:
        _, stderr = recorder.finish(expect=2)
    assert "--lock --live" in stderr
