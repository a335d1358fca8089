"""`--waits-by ebpf` where the command has the rights and the JVM has none: what finds waits is lent, and everything is
there: who waits, how long, and who ends it."""
import subprocess

import pytest
from harness import DEADLINE, engine, forget_socket, report, tarsier, threads_of, wait_for_recording, wait_until
from test_exit_codes import needs_root, open_folder, record_as  # noqa: F401  (a fixture)
from test_kernel_path import RIGHTS, wait_until_nothing_is_held
from test_waits import kernel_finds_waits
from test_wakers import BY_THREADS

pytestmark = [needs_root,
              pytest.mark.skipif(not kernel_finds_waits(), reason="eBPF is not permitted here, or the kernel is too old")]
WAITS = ("--cpu", "--waits=100us", "--waits-by", "ebpf")
LENGTH = 50  # ms
# In which method who waits is ended how, and by which threads.
OTHERS = {"joins": ("thread", {"joined"}), "sleeps": ("interrupt", {None}), "asksProcess": ("process", {"sh", "dash"})}


class Waiters:
    """Wakers, as nobody, which waits for longer than any test takes."""

    def __init__(self, jdk, folder, wrapper=()):
        for name in ("read", "mapped"):
            (folder / name).write_bytes(bytes(1 << 20))
            (folder / name).chmod(0o666)
        self.command = [*map(str, wrapper), jdk.tool("java"), "-XX:+UseSerialGC", "-cp", str(folder / "classes"), "Wakers",
                        "100000", str(LENGTH), str(folder / "read"), str(folder / "mapped")]
        self.folder = folder

    def __enter__(self):
        self.process = subprocess.Popen(self.command, user="nobody", group="nogroup", extra_groups=[], cwd=self.folder,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        wait_until(lambda: "asksProcess" in threads_of(self.pid).values(), "the program waits")
        forget_socket(self.pid)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(DEADLINE)


def ended_rows(document, method):
    """Those that were seen to begin and to end."""
    return [row for row in document["waits"]["rows"] if f"Wakers.{method}" in row["blocked_chain"]
            and row["woken_by"] not in ("ongoing", "unknown")]


def check_share(rows, right):
    total = sum(row["ns"] for row in rows)
    assert sum(row["count"] for row in rows) >= 5, rows
    assert sum(row["ns"] for row in rows if right(row)) >= 0.9 * total, rows


def check_wakers(document, sees_kernel):
    used = engine(document, "waits")
    assert used["mechanism"] == "ebpf" and "the command has loaded" in used["why"], used
    assert document["waits"]["wakers_recorded"]
    for method, (kind, waker, ended_in, _) in BY_THREADS.items():
        if kind == "socket" and not sees_kernel:
            continue  # whether the kernel delivers for the sender is told by where its functions are
        # JVMs let a thread that wants a monitor look by itself now and then.
        rows = [row for row in ended_rows(document, method) if kind != "monitor" or row["woken_by"] != "interrupt"]
        check_share(rows, lambda row, kind=kind, waker=waker, ended_in=ended_in:
                    row["kind"] == kind and row["woken_by"] == "thread" and row["waker"] == waker
                    and f"Wakers.{ended_in}" in row["waker_chain"])
    for method, (by, who) in OTHERS.items():
        check_share(ended_rows(document, method), lambda row, by=by, who=who: row["woken_by"] == by and row["waker"] in who)
    # The chain from the one that waits over the one that ends it to the timer of a third.
    chains = [[hop["waker"] for hop in row["hops"]] for row in ended_rows(document, "awaitsB")]
    assert ["B", "C", None] in chains, chains


def check_books(document, was_open=0):
    """`was_open`: so many waits went on when the programs began or ended, and were over when that was noticed."""
    samples = engine(document, "waits")["samples"]
    assert samples["taken"] == samples["written"] + sum(samples["dropped"].values()) > 0, samples
    assert samples["dropped"]["over before the stack was read"] <= 0.01 * samples["taken"] + was_open, samples
    assert samples["written"] >= 0.99 * samples["taken"] - was_open, samples


@pytest.mark.every_jvm
@pytest.mark.parametrize("rights", [[], RIGHTS], ids=["root", "two capabilities"])
def test_everything_is_there_if_the_command_has_the_rights(jdk, open_folder, rights):  # noqa: F811
    file = open_folder / "x.jfr"
    command = [open_folder / "tarsier", "record", *WAITS, "-d", "6s", "-o", file]
    with Waiters(jdk, open_folder) as program:
        done = subprocess.run([*rights, *map(str, command), str(program.pid)], capture_output=True, text=True,
                              timeout=DEADLINE, check=False)
        assert done.returncode == 0, done.stderr
        wait_until_nothing_is_held(program.pid)
    document = report(file, "waits,threads", "--top", "1000")
    check_books(document)
    check_wakers(document, sees_kernel=not rights)
    # Nothing of a thread's life is missing.
    time = next(thread["time"] for thread in document["threads"] if thread["name"] == "sleeps")
    assert time["waits"]["ns"] + time["run_queue_ns"] >= 0.8 * time["life_ns"] > 0, time


def test_samples_and_waits_are_lent_together_and_again(jdk, open_folder):  # noqa: F811
    with Waiters(jdk, open_folder) as program:
        for number in range(2):
            file = open_folder / f"{number}.jfr"
            tarsier("record", *WAITS, "--engine", "fragment", "--clock", "ebpf", "-d", "3s", "-o", file, program.pid)
            wait_until_nothing_is_held(program.pid)
            document = report(file, "waits,hot", "--top", "1000")
            check_books(document)
            assert document["waits"]["wakers_recorded"]
            for name in ("fragment", "waits"):
                used = engine(document, name)
                assert used["mechanism"] == "ebpf" and "the command has loaded" in used["why"], used


def test_a_command_that_is_killed_takes_its_programs_with_it_and_the_agent_saves(jdk, open_folder):  # noqa: F811
    file = open_folder / "x.jfr"
    with Waiters(jdk, open_folder) as program:
        recorder = record_as(None, open_folder, *WAITS, "-d", "60s", "-o", file, program.pid)
        wait_for_recording(file, by=recorder, at_least=30_000)
        recorder.kill()
        recorder.communicate()
        wait_until_nothing_is_held(program.pid)
        tarsier("record", *WAITS, "-d", "1s", "-o", open_folder / "y.jfr", program.pid)
    for recording in (file, open_folder / "y.jfr"):
        document = report(recording, "waits")
        check_books(document, was_open=20)  # the other is of one second: each of its threads may have two of these
        assert document["waits"]["wakers_recorded"]


def test_where_neither_has_the_rights_the_rest_is_recorded_and_it_is_said_what_is_missing(jdk, open_folder):  # noqa: F811
    with Waiters(jdk, open_folder) as program:
        done = record_as("nobody", open_folder, *WAITS, "-d", "4s", "-o", open_folder / "x.jfr", program.pid)
        _, errors = done.communicate(timeout=DEADLINE)
        assert done.returncode == 0, errors
        assert program.process.poll() is None
    assert "no waits" in errors and "CAP_BPF" in errors and "CAP_PERFMON" in errors, errors
    assert "--waits-by watcher" in errors, "what does without"
    document = report(open_folder / "x.jfr", "threads", "--top", "1000")
    assert engine(document, "waits")["mechanism"] == "none"
    # Of whoever has used a few milliseconds the kernel's account is there.
    busiest = max((row for row in document["threads"] if row["kind"] == "app"), key=lambda row: row["cpu_ns"])
    assert busiest["cpu_by"] == "kernel" and busiest["resources"]["voluntary_switches"] > 0, busiest
