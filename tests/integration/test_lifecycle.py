"""What a session leaves behind in the JVM: nothing but the loaded library."""
import os
import pathlib
import re
import subprocess

import pytest
from harness import (LIBRARY, Program, Recorder, descriptors_of, engine, mapped_bytes, report, signal_sets, tarsier,
                     threads_of, timers_of, wait_for_recording, wait_until)

COMPILERS = re.compile(r"^C[12] Compiler|^Sweeper")  # the JVM starts and ends these as it likes


def names_of_threads(pid):
    return sorted(name for name in threads_of(pid).values() if not COMPILERS.match(name))


def attach_once(program):
    """The first attach of anybody makes the JVM start its listener: that thread and its socket are not ours."""
    subprocess.run([program.jdk.tool("jcmd"), str(program.pid), "VM.version"], check=True, capture_output=True, timeout=60)


def our_mappings(pid):
    """The library, memory that bears our name, and perf's rings."""
    return {name: size for name, size in mapped_bytes(pid).items() if "tarsier" in name or "perf_event" in name}


def private_bytes(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Private_Dirty:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024


@pytest.mark.timeout(600)
def test_fifty_sessions_leave_nothing_behind(known_answer, tmp_path, clock):
    pid, file = known_answer.pid, tmp_path / "out.jfr"
    attach_once(known_answer)
    threads, descriptors = names_of_threads(pid), descriptors_of(pid)
    signals = signal_sets(pid)
    taken = 0
    for cycle in range(50):
        tarsier("record", "--cpu", "--clock", clock, "-d", "100ms", "-o", file, pid)
        if cycle % 10 == 4:  # on a loaded machine a single session may see no tick of a coarse clock
            taken += engine(report(file))["samples"]["taken"]
        if cycle == 4:
            mapped, anonymous, private = our_mappings(pid), mapped_bytes(pid)["anonymous"], private_bytes(pid)
    assert taken > 0
    # Our thread says that the file is finished, then ends: that takes it a moment.
    wait_until(lambda: names_of_threads(pid) == threads,
               lambda: f"the threads are {threads} again: {names_of_threads(pid)}", 10)
    wait_until(lambda: descriptors_of(pid) == descriptors, f"the descriptors are {descriptors} again", 10)
    assert timers_of(pid) == []
    after = signal_sets(pid)
    assert after["SigCgt"] <= signals["SigCgt"], "a signal handler stayed"
    assert after["SigBlk"] == signals["SigBlk"]
    assert len(after["SigIgn"] - signals["SigIgn"]) <= 1, "more than one signal is ignored now"
    ours = our_mappings(pid)
    assert any(LIBRARY.name in name for name in ours), "the library is not even loaded"
    assert ours == mapped
    # Kernels before 5.17 know no names of anonymous memory: 45 leaked rings would be hundreds of megabytes. (malloc
    # gives each new thread one of its arenas of 64 MB to use, at most eight per CPU.)
    assert mapped_bytes(pid)["anonymous"] - anonymous < (64 << 20) * 8, "45 sessions left memory mapped"
    assert private_bytes(pid) - private < 16 << 20, "45 sessions made the process grow"


# Every session has a deadline of its own. On a loaded machine one takes more than a second, since attaching waits for the
# collector again and again.
@pytest.mark.parametrize("sessions", [pytest.param(200, marks=pytest.mark.timeout(900)),
                                      pytest.param(2000, marks=[pytest.mark.long, pytest.mark.timeout(9000)])])
def test_many_sessions_in_a_jvm_that_collects_all_the_time(jdk, classes, tmp_path, sessions):
    """17 died of a corrupt heap after 20 to 70 of them, 25 after some hundred, when each disposed of its environment."""
    with Program(jdk, classes, "GcHeavy", options=["-Xmx200m"]) as program:
        program.ready()
        for _ in range(sessions):
            tarsier("record", "--cpu", "-d", "10ms", "-o", tmp_path / "out.jfr", program.pid)
        program.ask("stop")


def test_no_thread_of_ours_between_sessions(known_answer, tmp_path):
    tarsier("record", "-d", "300ms", "-o", tmp_path / "out.jfr", known_answer.pid)
    wait_until(lambda: not [name for name in threads_of(known_answer.pid).values() if "tarsier" in name.lower()],
               "our thread has ended", 10)
    assert not [what for what in descriptors_of(known_answer.pid) if "perf_event" in what or "timerfd" in what]


@pytest.mark.parametrize("how, code", [("return", 0), ("exit", 7), ("throw", 1)])
def test_the_program_ends_as_it_would_without_us(jdk, classes, tmp_path, how, code):
    def run(options):
        with Program(jdk, classes, "Exits", how, options=options) as program:
            return program.wait(), program.lines
    file = tmp_path / "out.jfr"
    assert run([f"-agentpath:{LIBRARY}=cpu,file={file}"]) == run([]) == (code, ["begin", "end", "hook"])
    assert tarsier("report", file).stdout


@pytest.mark.parametrize("how, code", [("return", 0), ("exit", 7), ("throw", 1)])
def test_the_program_ends_while_it_is_being_recorded(jdk, classes, tmp_path, how, code):
    """Attached: what was recorded until then is saved, and the program's own end is untouched."""
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Exits", how, "when-told") as program:
        program.wait_for("begin")
        with Recorder("-d", "60s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            program.tell("end")
            assert program.wait() == code
            recorder.finish()
        assert program.lines == ["begin", "end", "hook"]
    assert engine(report(file))


def jvmti_events(jdk, pid):
    """The names of the JVMTI events that some agent has enabled: the JVM's own flags, read from its memory."""
    symbols = subprocess.run(["nm", jdk.libjvm], check=True, capture_output=True, text=True, timeout=60).stdout
    flags = {name: int(address, 16) for address, name in
             re.findall(r"^([0-9a-f]+) [bBdD] _ZN11JvmtiExport\d+_should_post_(\w+)E$", symbols, re.MULTILINE)}
    if not flags:
        pytest.skip(f"{jdk}: libjvm has no symbols")
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    base = int(re.search(r"^([0-9a-f]+)-[0-9a-f]+ r\S+ 00000000 .*/libjvm\.so$", maps, re.MULTILINE)[1], 16)
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        return {name for name, address in flags.items() if os.pread(memory.fileno(), 1, base + address) != b"\0"}


def test_no_event_is_enabled_between_sessions(jdk, known_answer, tmp_path):
    file, before = tmp_path / "out.jfr", jvmti_events(jdk, known_answer.pid)
    with Recorder("--cpu", "--alloc", "--engine", "agct", "-o", file, known_answer.pid) as recorder:
        wait_for_recording(file)
        assert {"thread_life", "class_prepare"} <= jvmti_events(jdk, known_answer.pid)
        recorder.interrupt()
        recorder.finish()
    assert jvmti_events(jdk, known_answer.pid) == before
