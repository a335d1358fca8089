"""A JVM and a command without any right: an ordinary user, perf refused by a filter of system calls, no tracefs. What
JVMTI and procfs give is all there, and it is said what is missing and what would bring it."""
import errno
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from harness import LIBRARY, TARSIER, engine, report, tarsier, threads_of, wait_until
from test_limits import NOBODY, Limited

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user with less")

USER = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all"]
HIDE_TRACEFS = ["unshare", "--mount", "sh", "-c",
                'umount -l /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug 2>/dev/null; exec "$@"', "sh"]
ROUNDS, LENGTH, HOGS = 25, 100, 3
WAYS = {"sleeps": "sleeping", "parks": "parked", "waits": "waiting", "entersMonitor": "monitor", "readsSocket": "socket"}
EVERYTHING = ("--top", "1000000")


@pytest.fixture
def folder(classes):
    """That everybody can write to, with the command and the agent in it."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="tarsier-test-", dir="/var/tmp"))
    try:
        for file in (TARSIER, LIBRARY):
            shutil.copy(file.resolve(), made / file.name)
            (made / file.name).chmod(0o755)
        made.chmod(0o777)
        yield made
    finally:
        shutil.rmtree(made)


@pytest.fixture
def powerless(forbid_perf):
    """What a command is put behind to lose its rights."""
    return [*HIDE_TRACEFS, str(forbid_perf), str(errno.EPERM), *USER]


@pytest.fixture
def recorded(jdk, classes, folder, powerless):
    """(the file, the program's own truth), from the JVM's start to its end."""
    file = folder / "out.jfr"
    agent = (f"-agentpath:{folder / LIBRARY.name}=cpu,waits=1ms,counters=context-switches+page-faults+cycles,"
             f"lock=blocked,file={file}")
    with Limited(jdk, classes, "Waits", ROUNDS, LENGTH, HOGS, wrapper=powerless,
                 options=["-XX:+UseSerialGC", agent]) as program:
        truth = json.loads(program.wait_for("truth ", 240))
        assert program.wait() == 0, program.errors
    return file, truth


def test_what_needs_no_right_is_all_there(recorded):
    file, truth = recorded
    document = report(file, "threads,steal,waits,locks", *EVERYTHING)
    rows = {row["name"]: row for row in document["threads"]}

    # Who used the CPUs, by the kernel's account of each thread.
    hogs = [rows[f"hog-{number}"] for number in range(1, HOGS + 1)]
    for row in hogs:
        assert row["kind"] == "app" and row["cpu_by"] == "kernel" and row["sampled_ns"] > 0, row
        assert row["cpu_ns"] > 0 and row["resources"]["run_queue_ns"] > 0, row
        assert row["resources"]["involuntary_switches"] > 0, row
    assert rows["sleeps"]["resources"]["voluntary_switches"] >= ROUNDS
    assert rows["shortly"]["resources"]["voluntary_switches"] >= 10 * ROUNDS
    assert {"app", "jit", "vm", "tarsier"} <= {row["kind"] for row in document["threads"]}
    steal = document["steal"]
    assert sum(row["cpu_ns"] for row in document["threads"]) == pytest.approx(steal["process_cpu_ns"], rel=0.02, abs=20e6)
    assert steal["stolen_ns"] == steal["threads_ns"] + steal["others_ns"] + steal["remainder_ns"]
    assert all(row["steal_ns"] is not None for row in steal["threads"])

    # Who waited for what and how long, seen from outside.
    used = engine(document, "waits")
    assert used["mechanism"] == "watcher"
    unwatched = used["counters"]["longest time between two looks (ns)"]
    for way, kind in WAYS.items():
        found = [row for row in document["waits"]["rows"] if f"Waits.{way}" in row["blocked_chain"]]
        ns = sum(row["ns"] for row in found)
        doubt = truth[way]["doubt"] + rows[way]["time"]["missed_waits"]["ns"] + unwatched
        assert abs(ns - truth[way]["ns"]) < 0.05 * truth[way]["ns"] + doubt, (way, ns, truth[way], doubt)
        assert sum(row["ns"] for row in found if row["kind"] == kind) >= 0.95 * ns > 0, (way, found)

    # And by the JVM's own word: who wanted a monitor that another had.
    locks = json.dumps(document["locks"])
    assert "Waits.entersMonitor" in locks


def test_what_is_missing_is_said(recorded):
    file, _ = recorded
    document = report(file, "waits,threads")
    counters = engine(document, "counters")
    assert counters["mechanism"] == "none" and "seccomp" in counters["why"] and "doctor" in counters["why"], counters
    assert all(not row["counters"] for row in document["threads"])
    assert engine(document)["mechanism"] not in ("perf", "perf-rings", "ebpf"), "a clock that it may have"
    assert not document["waits"]["wakers_recorded"]
    text = tarsier("report", file, "--view", "waits").stdout
    assert "--waits-by ebpf" in text and "CAP_BPF" in text


def run(wrapper, folder, *arguments):
    return subprocess.run([*wrapper, str(folder / TARSIER.name), *map(str, arguments)], capture_output=True, text=True,
                          timeout=180, cwd=folder)


def test_a_command_without_rights_records_all_the_same_and_its_doctor_says_what_would_bring_the_rest(
        jdk, classes, folder, powerless):
    file = folder / "x.jfr"
    with Limited(jdk, classes, "KnownAnswer", wrapper=powerless) as program:
        program.ready()
        done = run(powerless, folder, "record", "--cpu", "--waits", "--counters", "-d", "2s", "-o", file, program.pid)
        assert done.returncode == 0, done.stderr
        assert "no counters" in done.stderr and "seccomp" in done.stderr, done.stderr
        assert "waits by watcher" in done.stderr, done.stderr
        asked = run(powerless, folder, "record", "--cpu", "--waits", "--waits-by", "ebpf", "-d", "1s", "-o", folder / "y.jfr",
                    program.pid)
        assert asked.returncode == 0 and "no waits" in asked.stderr and "CAP_BPF" in asked.stderr, asked.stderr

        document = json.loads(run(powerless, folder, "doctor", "--json", program.pid).stdout)
        text = run(powerless, folder, "doctor", program.pid).stdout
    checks = {check["name"]: check for check in document["machine"] + document["jvm"]["checks"]}
    for name in ("waits", "counters", "jvm-waits", "jvm-counters"):
        assert checks[name]["status"] == "note" and checks[name]["fix"], checks[name]
        assert checks[name]["meaning"] in text and checks[name]["fix"] in text, name
    assert "--waits works without" in checks["waits"]["meaning"] and "sudo tarsier record" in checks["waits"]["fix"]
    assert "in every recording" in checks["counters"]["meaning"] and "perf_event_open" in checks["counters"]["fix"]
    assert "bpf" in checks["jvm-waits"]["fix"] and "PERFMON" in checks["jvm-counters"]["fix"]


def test_a_command_with_rights_brings_the_wakers_into_the_same_jvm(jdk, classes, folder, powerless):
    file = folder / "x.jfr"
    with Limited(jdk, classes, "Waits", 100_000, LENGTH, 0, wrapper=powerless) as program:
        wait_until(lambda: "sleeps" in threads_of(program.pid).values(), "the program waits")
        done = run([], folder, "record", "--cpu", "--waits=1ms", "--waits-by", "ebpf", "--counters", "-d", "4s", "-o", file,
                   program.pid)
        assert done.returncode == 0, done.stderr
    document = report(file, "waits", *EVERYTHING)
    assert document["waits"]["wakers_recorded"], done.stderr
    slept = [row for row in document["waits"]["rows"] if "Waits.sleeps" in row["blocked_chain"]]
    assert any(row["woken_by"] == "interrupt" for row in slept), slept
    assert "the command has loaded" in engine(document, "waits")["why"]
    # Counters are opened in the JVM: the command's rights are no help, and that is said.
    assert "no counters" in done.stderr and "seccomp" in done.stderr, done.stderr
