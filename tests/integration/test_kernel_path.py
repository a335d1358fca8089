"""`--engine fragment --clock ebpf`: the kernel copies the stacks, and no signal reaches the application."""
import json
import resource
import subprocess

import pytest
from harness import (DEADLINE, LIBRARY, STOLEN, Program, descriptors_of, ebpf_allowed, engine, record_without_signals, report,
                     signal_sets, tarsier, wait_for_recording, wait_until, wait_until_ready)
from test_exit_codes import needs_root, open_folder, program_as_nobody, record_as  # noqa: F401  (a fixture)
from test_fragment import check_complete, check_edges, check_roots
from test_known_answer import METHODS, SERIAL, check_shares, waited

needs_ebpf = pytest.mark.skipif(not ebpf_allowed(), reason="no right to load eBPF programs here, or a kernel without types (BTF)")
EBPF = ("--cpu", "--engine", "fragment", "--clock", "ebpf")


def check_books(document):
    used = engine(document, "fragment")
    samples = used["samples"]
    assert used["mechanism"] == "ebpf"
    assert samples["taken"] == samples["written"] + sum(samples["dropped"].values()), samples
    assert samples["written"] >= 0.99 * samples["taken"] > 0, samples


def check_all_is_sampled(document):
    burner = next(thread for thread in document["threads"] if thread["name"] == "burner")
    assert 0.93 <= burner["sampled_ns"] / burner["cpu_ns"] <= 1.07 or STOLEN.is_much(), burner


def held(pid):
    return [name for name in descriptors_of(pid) if "bpf" in name or "perf_event" in name]


def wait_until_nothing_is_held(pid):
    wait_until(lambda: held(pid) == [], lambda: f"nothing is held, not {held(pid)}", 10)


@needs_ebpf
def test_shares_with_every_frame_found(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock=ebpf,file={file}"
    with Program(jdk, classes, "KnownAnswer", 10, options=[*SERIAL, agent]) as program:
        truth = json.loads(program.wait_for("truth ", 200))
        assert program.wait() == 0
    document = report(file)
    check_books(document)
    # A CPU's tick that falls into a switch of threads comes when that is over, and hits where the program was preempted.
    check_shares(document, truth, METHODS if waited(program, truth) else None)
    check_complete(document, 0.99)
    check_edges(document)
    check_roots(jdk, file)


@needs_ebpf
def test_all_cpu_time_is_sampled_and_no_signal_is_taken(known_answer, tmp_path):
    document = record_without_signals(known_answer.pid, tmp_path / "out.jfr", *EBPF, "--interval", "200us")
    check_books(document)
    check_all_is_sampled(document)


@needs_ebpf
def test_threads_that_live_for_a_moment_are_sampled_from_their_start_on(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    agent = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock=ebpf,interval=100us,file={file}"
    with Program(jdk, classes, "ShortThreads", 6, options=[agent]) as program:
        assert program.wait() == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    document = report(file)
    check_books(document)
    check_complete(document, 0.99)
    rows = document["threads"]
    app = [row for row in rows if row["kind"] == "app"]
    assert sum(row["name"] == "short" for row in app) > 100, "the program is no test of this"
    sampled, used = (sum(row[key] for row in app) for key in ("sampled_ns", "cpu_ns"))
    assert 0.95 <= sampled / used <= 1.07 or STOLEN.is_much(), (sampled, used)
    # Nobody's CPU time is missing, that of the threads' ends included. What the JVM uses before it starts us is.
    start_up = 1.0
    known = sum(row["cpu_ns"] for row in rows)
    assert (0.92 * spent - start_up) * 1e9 <= known <= 1.02 * spent * 1e9 or STOLEN.is_much(), (spent, known)


@needs_ebpf
def test_many_sessions_leave_nothing_in_the_kernel(known_answer, tmp_path):
    for number in range(5):
        tarsier("record", *EBPF, "-d", "300ms", "-o", tmp_path / f"{number}.jfr", known_answer.pid)
        wait_until_nothing_is_held(known_answer.pid)
    check_books(report(tmp_path / "4.jfr"))


def test_only_for_fragments(known_answer, tmp_path):
    done = tarsier("record", "--cpu", "--engine", "agct", "--clock", "ebpf", "-d", "1s", "-o", tmp_path / "x.jfr",
                   known_answer.pid, expect=2)
    assert "--engine fragment" in done.stderr


RIGHTS = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--inh-caps", "+bpf,+perfmon",
          "--ambient-caps", "+bpf,+perfmon"]


@needs_root
@needs_ebpf
@pytest.mark.parametrize("rights", [[], RIGHTS], ids=["root", "two capabilities"])
def test_a_command_with_the_rights_lends_the_program_to_a_jvm_without(jdk, open_folder, rights):  # noqa: F811
    file = open_folder / "x.jfr"
    command = [open_folder / "tarsier", "record", *EBPF, "--interval", "200us", "-d", "5s", "-o", file]
    with program_as_nobody(jdk, open_folder) as program:
        try:
            wait_until_ready(program)
            before = signal_sets(program.pid)
            done = subprocess.run([*rights, *map(str, command), str(program.pid)], capture_output=True, text=True,
                                  timeout=DEADLINE, check=False)
            assert done.returncode == 0, done.stderr
            assert signal_sets(program.pid) == before
            wait_until_nothing_is_held(program.pid)
        finally:
            program.kill()
    document = report(file)
    check_books(document)
    assert "the command has loaded it" in engine(document, "fragment")["why"]
    check_all_is_sampled(document)
    check_complete(document, 0.99)
    check_edges(document)


@needs_root
@needs_ebpf
def test_a_command_that_is_killed_takes_its_program_with_it_and_the_agent_saves(jdk, open_folder):  # noqa: F811
    file = open_folder / "x.jfr"
    with program_as_nobody(jdk, open_folder) as program:
        try:
            wait_until_ready(program)
            recorder = record_as(None, open_folder, *EBPF, "-d", "60s", "-o", file, program.pid)
            wait_for_recording(file, by=recorder, at_least=20_000)
            assert "anon_inode:bpf-map" in held(program.pid) and "anon_inode:bpf-prog" not in held(program.pid)
            recorder.kill()
            recorder.communicate()
            wait_until_nothing_is_held(program.pid)
            # The next one finds nothing in its way.
            tarsier("record", *EBPF, "-d", "300ms", "-o", open_folder / "y.jfr", program.pid)
        finally:
            program.kill()
    for recording in (file, open_folder / "y.jfr"):
        document = report(recording)
        check_books(document)
        check_complete(document, 0.99)


@needs_root
def test_where_neither_has_the_rights_it_is_said_which(jdk, open_folder):  # noqa: F811
    with program_as_nobody(jdk, open_folder) as program:
        try:
            wait_until_ready(program)
            done = record_as("nobody", open_folder, *EBPF, "-d", "1s", "-o", open_folder / "x.jfr", program.pid)
            _, errors = done.communicate(timeout=DEADLINE)
            assert done.returncode == 4, errors
            assert "CAP_BPF" in errors and "CAP_PERFMON" in errors, errors
            assert program.poll() is None
        finally:
            program.kill()


@needs_root
@needs_ebpf
def test_two_capabilities_are_all_that_a_jvm_needs(jdk, classes, open_folder):  # noqa: F811
    java = [jdk.tool("java"), "-cp", str(open_folder / "classes"), "KnownAnswer"]
    with subprocess.Popen([*RIGHTS, *java], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        try:
            wait_until_ready(program)
            file = open_folder / "x.jfr"
            tarsier("record", *EBPF, "-d", "2s", "-o", file, program.pid)
        finally:
            program.kill()
    document = report(file)
    check_books(document)
    check_complete(document, 0.99)
