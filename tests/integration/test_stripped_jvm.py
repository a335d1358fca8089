"""Owners of locks in a JVM whose library was stripped: of its symbols, of its static probes (USDT), and of the rest."""
import functools
import os
import pathlib
import re
import subprocess

import pytest
from harness import Program, Recorder, tarsier, wait_for_recording, wait_until
from libjvm_code import changed_pages, is_all_of_the_file, load_bias
from lock_truth import Truth, judge
from stripped_jdk import PROBES, SYMBOLS, UNWIND_TABLES, stripped_jdk
from test_locks import check, contend, lock_engine, need_hooks, right_at_least, wrong_at_most
from undisturbed import undisturbed

pytestmark = [pytest.mark.since(17), pytest.mark.every_jvm]

# What is taken away, and the mechanism that is left.
LEFT = {"usdt": SYMBOLS, "exports": PROBES, "condvar": UNWIND_TABLES}
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
@undisturbed
def test_blocked_time_has_its_true_owner(jdk, stripped, classes, tmp_path, mechanism, mode, work):
    entering, after_wait = judge(*contend(stripped(jdk, mechanism), classes, tmp_path, mode, work=work, mechanism=mechanism))
    check(entering, wrong_at_most(jdk, mode), right_at_least(mode, work))
    if mode == "wait":
        check(after_wait, wrong_at_most(jdk, mode), right=0.95)


@pytest.mark.parametrize("mode, work, right", [("sync", "burn", 0.7), ("wait", "sleep", 0.5)])
@undisturbed
def test_those_who_wake_up_others_are_owners_mostly(jdk, stripped, classes, tmp_path, mode, work, right):
    """The floors are modest: docs/locks.md has what was measured."""
    entering, _ = judge(*contend(stripped(jdk, "condvar"), classes, tmp_path, mode, work=work, mechanism="condvar"))
    print(entering)
    assert entering.right >= right and entering.wrong_thread <= 0.1
    assert entering.seen_share() >= 0.9 and entering.mislabelled == 0


@pytest.mark.parametrize("mechanism", ["usdt", "exports"])
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


@pytest.mark.parametrize("mechanism", ["usdt", "condvar"])
@pytest.mark.parametrize("sessions", [10, pytest.param(100, marks=pytest.mark.long)])
def test_sessions_leave_the_code_of_the_jvm_as_it_was(jdk, stripped, classes, tmp_path, sessions, mechanism):
    copy, log, file = stripped(jdk, mechanism), tmp_path / "truth.txt", tmp_path / "out.jfr"
    libjvm = copy.libjvm.resolve()
    with Program(copy, classes, "LockTruth", "wait", 500, "burn", 0, log) as program:
        pid = program.ready().pid
        before = addresses_of_condition_variables(pid, libjvm)
        with Recorder("--lock", "-o", file, pid) as recorder:  # so that the rest means something
            wait_for_recording(file, recorder.process)
            if mechanism == "condvar":  # parks are hooked as well, if their first instruction has room for a jump
                wait_until(lambda: addresses_of_condition_variables(pid, libjvm) != before, "the hooks are there")
            else:
                wait_until(lambda: changed_pages(pid, libjvm), "the hooks are there")
            recorder.interrupt()
            recorder.finish()
        for _ in range(sessions - 1):
            tarsier("record", "--lock", "-d", "20ms", "-o", file, pid)
        assert changed_pages(pid, libjvm) == [] and is_all_of_the_file(pid, libjvm)
        assert addresses_of_condition_variables(pid, libjvm) == before
        program.ask("stop")
    assert Truth.read(log)


def addresses_of_condition_variables(pid, libjvm):
    """{function: what the library calls for it, and whether that can be written to}"""
    relocations = subprocess.run(["readelf", "-rW", libjvm], check=True, capture_output=True, text=True, timeout=240).stdout
    slots = {name: int(offset, 16) for offset, name in re.findall(r"^([0-9a-f]+) .* (pthread_cond_\w+)@", relocations, re.M)}
    assert "pthread_cond_signal" in slots
    bias, found = load_bias(pid, libjvm), {}
    spans = [(*(int(word, 16) for word in line.split()[0].split("-")), line.split()[1])
             for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()]
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for name, offset in slots.items():
            rights = next(rights for begin, end, rights in spans if begin <= bias + offset < end)
            found[name] = os.pread(memory.fileno(), 8, bias + offset), rights
    return found
