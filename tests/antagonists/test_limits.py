"""Ten thousand threads, few descriptors, short queues, little locked memory, no perf: less is recorded, it is said, and the
application has what it had."""
import errno
import os
import pathlib
import re
import subprocess

import pytest
from harness import TARSIER, Program, Recorder, ebpf_allowed, engine, perf_allowed, report, tarsier, wait_for_recording

NOBODY = 65534


class Limited(Program):
    """A program with limits, or behind a wrapper."""

    def __init__(self, jdk, classes, *command, wrapper=(), **options):
        super().__init__(jdk, classes, *command, **options)
        self.command = [*map(str, wrapper), *self.command]


def limits(**values):
    return ["prlimit", *(f"--{name}={value}" for name, value in values.items())]


def record(program, tmp_path, *options):
    """(engine of the report, what was said)"""
    file = tmp_path / "x.jfr"
    for _ in range(5):  # on a loaded machine two seconds may be little CPU time
        done = tarsier("record", "--cpu", "-d", "2s", *options, "-o", file, program.pid, seconds=180)
        used = engine(report(file))
        if used["samples"]["taken"] > 0:
            break
    return used, done.stderr


def check_files_and_end(program, files):
    assert program.ask(f"files {files}") == str(files), "the application finds fewer descriptors than it had"
    program.tell("exit")
    assert program.wait() == 7, program.errors[-5:]


def check_few_descriptors(jdk, classes, tmp_path, threads):
    with Limited(jdk, classes, "ManyThreads", threads, wrapper=limits(nofile="1024:1024")) as program:
        program.ready()
        assert program.ask("files 800") == "800"
        used, said = record(program, tmp_path)
        assert used["samples"]["taken"] > 0 and used["counters"]["threads without a clock"] == 0
        if used["mechanism"] == "perf":
            assert used["counters"]["threads by the spare clock"] > threads / 2
            assert "sampled by the clock timekeeper" in said
        with_us = subprocess.Popen([str(TARSIER), "record", "--cpu", "-o", str(tmp_path / "y.jfr"), str(program.pid)],
                                   stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while "fragment by" not in with_us.stderr.readline():
            assert with_us.poll() is None
        assert program.ask("files 800") == "800", "the application finds fewer descriptors than it had"
        with_us.send_signal(2)
        with_us.communicate(timeout=120)
        assert with_us.returncode == 0
        check_files_and_end(program, 800)


def test_few_descriptors(jdk, classes, tmp_path):
    check_few_descriptors(jdk, classes, tmp_path, 600)


@pytest.mark.long
def test_ten_thousand_threads_with_few_descriptors(jdk, classes, tmp_path):
    check_few_descriptors(jdk, classes, tmp_path, 10_000)


def check_short_queue(jdk, classes, tmp_path, threads, pending):
    """Timers hold places in the queue of pending signals: half of it stays the application's."""
    with Limited(jdk, classes, "ManyThreads", threads, wrapper=limits(sigpending=f"{pending}:{pending}")) as program:
        program.ready()
        used, said = record(program, tmp_path, "--clock", "cputimer")
        assert used["samples"]["taken"] > 0 and used["counters"]["threads without a clock"] == 0
        assert used["counters"]["threads by the spare clock"] >= threads - pending / 2
        assert "sampled by the clock timekeeper" in said
        for clock in ("timekeeper", *(["perf"] if perf_allowed() else [])):
            used, _ = record(program, tmp_path, "--clock", clock)
            assert used["samples"]["taken"] > 0
        check_files_and_end(program, 500)


def test_a_short_queue_of_pending_signals(jdk, classes, tmp_path):
    check_short_queue(jdk, classes, tmp_path, 300, 100)


@pytest.mark.long
def test_ten_thousand_threads_with_a_queue_of_a_thousand(jdk, classes, tmp_path):
    check_short_queue(jdk, classes, tmp_path, 10_000, 1000)


@pytest.mark.long
@pytest.mark.parametrize("clock", ["perf", "cputimer", "timekeeper", "ebpf", "itimer", "wall"])
def test_ten_thousand_threads(jdk, classes, tmp_path, clock):
    if clock == "ebpf" and not ebpf_allowed():
        pytest.skip("no right to load eBPF programs here")
    engine = "fragment" if clock == "ebpf" else "agct"
    with Limited(jdk, classes, "ManyThreads", 10_000) as program:
        program.ready()
        tarsier("record", "--cpu", "--engine", engine, "--clock", clock, "-d", "5s", "-o", tmp_path / "x.jfr", program.pid,
                seconds=180)
        assert report(tmp_path / "x.jfr")["recording"]["engines"][0]["samples"]["taken"] > 0
        check_files_and_end(program, 800)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user with less")
def test_little_locked_memory(jdk, classes, tmp_path):
    """perf's rings count as locked memory; without one a thread is sampled without its kernel frames."""
    wrapper = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *limits(memlock="65536:65536")]
    with Limited(jdk, classes, "ManyThreads", 600, wrapper=wrapper) as program:
        program.ready()
        used, _ = record(program, tmp_path)
        assert used["samples"]["taken"] > 0 and used["counters"]["threads without a clock"] == 0
        check_files_and_end(program, 500)


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=["EPERM", "ENOSYS"])
def test_perf_forbidden_by_seccomp(jdk, classes, tmp_path, forbid_perf, error):
    with Limited(jdk, classes, "ManyThreads", 50, wrapper=[forbid_perf, error]) as program:
        program.ready()
        used, said = record(program, tmp_path)
        assert used["mechanism"] != "perf" and "perf_event_open" in used["why"] and "perf_event_open" in said
        assert used["samples"]["taken"] > 0
        refused = tarsier("record", "--cpu", "--clock", "perf", "-d", "1s", "-o", tmp_path / "y.jfr", program.pid, expect=4)
        assert os.strerror(error) in refused.stderr and "seccomp" in refused.stderr
        check_files_and_end(program, 500)


def kernel_version():
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


@pytest.mark.skipif(kernel_version() < (5, 16), reason="before 5.16 a child that dies takes us along: nothing is tried")
def test_a_filter_that_kills(jdk, classes, tmp_path, forbid_perf):
    with Limited(jdk, classes, "ManyThreads", 50, wrapper=[forbid_perf, "kill"]) as program:
        program.ready()
        used, said = record(program, tmp_path)
        assert used["mechanism"] != "perf" and "kills" in used["why"] and "seccomp" in said
        assert used["samples"]["taken"] > 0
        for clock in "perf", "ebpf", "perf-rings":
            refused = tarsier("record", "--cpu", "--engine", "fragment", "--clock", clock, "-d", "1s", "-o", tmp_path / "y.jfr",
                              program.pid, expect=4)
            assert "seccomp" in refused.stderr or os.strerror(errno.EPERM) in refused.stderr, refused.stderr
        check_files_and_end(program, 500)


def test_memory_that_runs_out(jdk, classes, tmp_path):
    """In the midst of a recording whose tables grow all the time: it ends, with the reason, and the application does not."""
    options = ["-Xint", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"]
    with Program(jdk, classes, "ManyStacks", options=options) as program:
        program.ready()
        file = tmp_path / "x.jfr"
        with Recorder("--cpu", "--interval", "100us", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            size = int(re.search(r"VmSize:\s+(\d+)", pathlib.Path(f"/proc/{program.pid}/status").read_text())[1]) << 10
            subprocess.run(["prlimit", "--pid", str(program.pid), f"--as={size + (4 << 20)}:"], check=True, timeout=60)
            before = int(program.ask("progress"))
            _, errors = recorder.finish(expect=None)
            assert recorder.process.returncode not in (0, None) and "no memory" in errors, errors
        assert int(program.ask("progress")) > before
        subprocess.run(["prlimit", "--pid", str(program.pid), "--as=unlimited:"], check=True, timeout=60)
        used, _ = record(program, tmp_path)
        assert used["samples"]["taken"] > 0
        program.tell("exit")
        assert program.wait() == 7, program.errors[-5:]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without another process")
def test_not_one_more_thread(jdk, classes, tmp_path):
    """RLIMIT_NPROC reached: we can't have our thread, and say so."""
    user = 1_310_000  # nobody else's
    wrapper = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    options = ["-XX:+StartAttachListener"] if jdk.major >= 9 else []
    with Limited(jdk, classes, "ManyThreads", 20, wrapper=wrapper, options=[*options, "-XX:-UseDynamicNumberOfCompilerThreads"]) as program:
        program.ready()
        subprocess.run([jdk.tool("jcmd"), str(program.pid), "VM.version"], check=True, capture_output=True, timeout=60)
        subprocess.run([*wrapper, "prlimit", "--pid", str(program.pid), "--nproc=1:1"], check=True, timeout=60)
        refused = tarsier("record", "--cpu", "-d", "1s", "-o", tmp_path / "x.jfr", program.pid, expect=4)
        assert "one more thread" in refused.stderr
        assert not (tmp_path / "x.jfr").exists()
        check_files_and_end(program, 500)
