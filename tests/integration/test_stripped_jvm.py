"""Owners of locks in a JVM whose library was stripped: of its symbols, and of its static probes (USDT) as well."""
import functools
import re
import subprocess

import pytest
from harness import Program, Recorder, tarsier, wait_for_recording, wait_until
from libjvm_code import changed_pages, is_all_of_the_file
from lock_truth import Truth, judge
from stripped_jdk import PROBES, SYMBOLS, stripped_jdk
from test_locks import check, contend, lock_engine, need_hooks, right_at_least, wrong_at_most

pytestmark = [pytest.mark.since(17), pytest.mark.every_jvm]

# What is taken away, and the mechanism that is left.
LEFT = {"usdt": SYMBOLS, "exports": PROBES}
CONTENTIONS = [("usdt", "sync", "burn"), ("usdt", "wait", "sleep"), ("usdt", "barging", "sleep"), ("usdt", "reentrant", "sleep"),
               ("exports", "sync", "burn"), ("exports", "wait", "sleep")]


@pytest.fixture(scope="session")
def stripped(tmp_path_factory):
    """stripped(jdk, mechanism): a copy for which that mechanism is the best."""
    @functools.cache
    def make(jdk, mechanism):
        return stripped_jdk(jdk, tmp_path_factory.mktemp(f"{jdk}-{mechanism}"), LEFT[mechanism])
    return make


@pytest.mark.parametrize("mechanism, mode, work", CONTENTIONS)
def test_blocked_time_has_its_true_owner(jdk, stripped, classes, tmp_path, mechanism, mode, work):
    entering, after_wait = judge(*contend(stripped(jdk, mechanism), classes, tmp_path, mode, work=work, mechanism=mechanism))
    check(entering, wrong_at_most(jdk, mode), right_at_least(mode, work))
    if mode == "wait":
        check(after_wait, wrong_at_most(jdk, mode), right=0.95)


@pytest.mark.parametrize("mechanism", LEFT)
def test_the_functions_that_are_hooked_are_those_that_symbols_name(jdk, stripped, classes, tmp_path, mechanism):
    """By the symbols of the library before it was stripped."""
    symbols = subprocess.run(["nm", "--demangle", jdk.libjvm], check=True, capture_output=True, text=True, timeout=240).stdout
    if "ObjectMonitor::exit" not in symbols:
        pytest.skip(f"{jdk.libjvm} is stripped itself")
    names = {}
    for line in symbols.splitlines():
        if match := re.fullmatch(r"([0-9a-f]{16}) [tT] (?:\w+::)*(\w+)(?:\(.*)?", line):
            names.setdefault(int(match[1], 16), set()).add(match[2])
    file = tmp_path / "out.jfr"
    with Program(stripped(jdk, mechanism), classes, "LockTruth", "sync", 1000, "sleep", 0, tmp_path / "truth.txt") as program:
        tarsier("record", "--lock", "-d", "20ms", "-o", file, program.ready().pid)
    need_hooks(file, mechanism)
    why = lock_engine(file)["why"]
    hooked = {role: names.get(int(address, 16), set()) for role, address in re.findall(r"([\w:]+) at 0x([0-9a-f]+)", why)}
    expected = {"ObjectMonitor::exit": "exit", "ObjectMonitor::wait": "wait", "complete_monitor_unlocking_C":
                "complete_monitor_unlocking_C", "Runtime1::monitorexit": "monitorexit", "Unsafe_Park": "Unsafe_Park",
                "Unsafe_Unpark": "Unsafe_Unpark", "INotify": "notify_internal" if jdk.major >= 24 else "INotify",
                "ReenterI": "reenter_internal" if jdk.major >= 24 else "ReenterI"}
    assert hooked.keys() == expected.keys(), why
    assert all(expected[role] in found for role, found in hooked.items()), (why, hooked)


@pytest.mark.parametrize("sessions", [10, pytest.param(100, marks=pytest.mark.long)])
def test_sessions_leave_the_code_of_the_jvm_as_it_was(jdk, stripped, classes, tmp_path, sessions):
    copy, log, file = stripped(jdk, "usdt"), tmp_path / "truth.txt", tmp_path / "out.jfr"
    libjvm = copy.libjvm.resolve()
    with Program(copy, classes, "LockTruth", "wait", 500, "burn", 0, log) as program:
        program.ready()
        with Recorder("--lock", "-o", file, program.pid) as recorder:  # so that the rest means something
            wait_for_recording(file, recorder.process)
            wait_until(lambda: changed_pages(program.pid, libjvm), "the hooks are there")
            recorder.interrupt()
            recorder.finish()
        for _ in range(sessions - 1):
            tarsier("record", "--lock", "-d", "20ms", "-o", file, program.pid)
        assert changed_pages(program.pid, libjvm) == []
        assert is_all_of_the_file(program.pid, libjvm)
        program.ask("stop")
    assert Truth.read(log)
