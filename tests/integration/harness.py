"""Starts real JVMs, records them with ./tarsier, and reads what came out: by our own report, by the JDK's jfr tool, and
by looking at the process in /proc. Every wait has a deadline and says what it waited for."""
import ctypes
import datetime
import functools
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import other_arch  # noqa: E402  (lies there)
from jdks import Jdk, in_turn, javac, jdks  # noqa: E402,F401  (tests take these from here)

# A shell starts what it puts into the background with SIGINT ignored, programs inherit that, and rightly keep to it. The
# tests send SIGINT, so nothing may be inherited here.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARSIER = other_arch.FOLDER / "tarsier" if other_arch.is_asked_for() else ROOT / "tarsier"
LIBRARY = ROOT / ("build/cross/libtarsier.so" if other_arch.is_asked_for() else "libtarsier.so")
JAVA_SOURCES = ROOT / "tests/java"
# Seconds; for everything that takes a moment on an idle machine.
DEADLINE = 240


def compile_programs(folder):
    """Compiles tests/java for every JVM from 8 on."""
    subprocess.run([*javac(), "-d", str(folder), *map(str, sorted(JAVA_SOURCES.glob("*.java")))], check=True,
                   timeout=DEADLINE)


def jvmti_library(source, folder, since=8):
    """A source in C, of this folder, that uses JNI or JVMTI as a JDK from `since` on has it, as a library."""
    headers = [home for jdk in jdks() for home in [pathlib.Path(jdk.tool("java")).resolve().parents[1] / "include"]
               if (home / "jvmti.h").exists() and jdk.major >= since]
    if not headers:
        pytest.skip("no jvmti.h here")
    library = folder / f"lib{pathlib.Path(source).stem}.so"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{headers[0]}", f"-I{headers[0]}/linux",
                    pathlib.Path(__file__).with_name(source), "-o", library], check=True, timeout=60)
    return library


# What a JVM (or a command of ours) ends with that finds itself broken, or doesn't get that far; and who started it, too.
_FATAL = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)
CRASHES = [code for number in _FATAL for code in (-number, 128 + number)]


FATAL_ERROR = "A fatal error has been detected by the Java Runtime Environment"


class JvmCrashed(Exception):
    """Never by chance: script/test gives it no second try."""


def forget_socket(pid):
    """A JVM that was killed leaves the socket by which it could be attached to, and its pid may come back as another
    user's: then nobody can attach to that one."""
    pathlib.Path(f"/tmp/.java_pid{pid}").unlink(missing_ok=True)


class Program:
    """A Java program of tests/java. Use it in a `with`; it is killed at the end if it still runs."""

    def __init__(self, jdk, classes, *command, options=()):
        self.jdk = jdk
        self.command = [jdk.tool("java"), *options, "-cp", str(classes), *map(str, command)]
        self.lines = []  # all of stdout so far
        self._fresh = queue.Queue()

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.errors = []
        self._readers = [threading.Thread(target=self._read, args=arguments, daemon=True) for arguments in
                         ((self.process.stdout, self.lines, self._fresh), (self.process.stderr, self.errors, None))]
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE)
        forget_socket(self.pid)
        for reader in self._readers:
            reader.join(DEADLINE)
        if self.process.returncode in CRASHES or any(FATAL_ERROR in line for line in self.lines + self.errors):
            raise JvmCrashed(f"{self.command} ended with {self.process.returncode}; stdout {self.lines[-40:]}, "
                             f"stderr {self.errors[-20:]}")

    @staticmethod
    def _read(stream, lines, fresh):
        for line in stream:
            lines.append(line.rstrip("\n"))
            if fresh is not None:
                fresh.put(lines[-1])

    def wait_for(self, prefix, seconds=DEADLINE):
        """The rest of the next line of stdout that begins with `prefix`."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._fresh.get(timeout=max(0.0, min(0.5, deadline - time.monotonic())))
            except queue.Empty:
                if self.process.poll() is not None and not any(reader.is_alive() for reader in self._readers):
                    if not self._fresh.empty():
                        continue  # its last words came after we had looked
                    raise AssertionError(f"{self.command[-1]} ended with {self.process.returncode} before it said "
                                         f"{prefix!r}; stdout {self.lines[-5:]}, stderr {self.errors[-20:]}") from None
                if time.monotonic() >= deadline:
                    raise AssertionError(f"no line {prefix!r} within {seconds} s; stdout {self.lines[-5:]}, "
                                         f"stderr {self.errors[-20:]}") from None
                continue
            if line.startswith(prefix):
                return line[len(prefix):].strip()

    def ready(self):
        self.wait_for("READY")
        return self

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def ask(self, word):
        self.tell(word)
        return self.wait_for(word + " ")

    def ask_json(self, word):
        return json.loads(self.ask(word))

    def wait(self, seconds=DEADLINE):
        """The exit code of a program that ends by itself."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.command} has not ended after {seconds} s; stdout {self.lines[-5:]}") from None
        for reader in self._readers:
            reader.join(DEADLINE)
        return code


def tarsier(*arguments, seconds=DEADLINE, expect=0):
    """Runs ./tarsier to its end. `expect`: the exit code that must come, None for any."""
    assert TARSIER.exists(), f"no {TARSIER}; run script/build"
    command = [str(TARSIER), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, NO_COLOR="1"))
    if done.returncode in CRASHES and done.returncode != expect:
        raise JvmCrashed(f"{' '.join(command)} ended with {done.returncode}\nstdout: {done.stdout}\nstderr: {done.stderr}")
    if expect is not None:
        assert done.returncode == expect, (f"{' '.join(command)} ended with {done.returncode}, not {expect}\n"
                                           f"stdout: {done.stdout}\nstderr: {done.stderr}")
    return done


class Recorder:
    """`tarsier record` in the background."""

    def __init__(self, *arguments):
        self.command = [str(TARSIER), "record", *map(str, arguments)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=dict(os.environ, NO_COLOR="1"))
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self, seconds=DEADLINE, expect=0):
        """(stdout, stderr) once it has ended."""
        try:
            stdout, stderr = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            stdout, stderr = self.process.communicate()
            raise AssertionError(f"{self.command} has not ended after {seconds} s\n{stdout}\n{stderr}") from None
        if self.process.returncode in CRASHES and self.process.returncode != expect:
            raise JvmCrashed(f"{self.command} ended with {self.process.returncode}\nstdout: {stdout}\nstderr: {stderr}")
        if expect is not None:
            assert self.process.returncode == expect, (f"{self.command} ended with {self.process.returncode}, not "
                                                       f"{expect}\nstdout: {stdout}\nstderr: {stderr}")
        return stdout, stderr


def wait_until(condition, what, seconds=DEADLINE):
    """The first true value of `condition()`. `what`: a text, or a function that makes one when it is needed."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {seconds} s: {what if isinstance(what, str) else what()}"
        time.sleep(0.05)


def wait_for_recording(file, by=None, at_least=1):
    """Waits until `file` has been begun; the agent writes its header first. `by`: the process that records."""
    def begun():
        if file.exists() and file.stat().st_size >= at_least:
            return True
        assert by is None or by.poll() is None, f"ended with {by.returncode}: {by.stderr.read()}"
        return False

    wait_until(begun, f"{file} has {at_least} bytes")


def wait_until_ready(program):
    """Reads the line with which our programs say that they have begun; nobody has attached to them yet."""
    assert program.stdout.readline() == "READY\n"
    forget_socket(program.pid)


def report(file, view="hot,threads,quality", *arguments):
    return json.loads(tarsier("report", file, "--json", "--view", view, "--top", 1_000_000, *arguments).stdout)


def engine(document, name="fragment"):
    """The engine of a report on a finished recording; its books must balance.

    The report settles a gap by naming it ("in flight", "not in the file"), so that no such name may be there is the
    real test; and books_by_jfr() reads the agent's own numbers.
    """
    found = [e for e in document["recording"]["engines"] if e["name"] == name]
    assert len(found) == 1, f"engines: {document['recording']['engines']}"
    samples = found[0]["samples"]
    assert samples["taken"] == samples["written"] + sum(samples["dropped"].values()), samples
    assert not {"in flight", "not in the file"} & set(samples["dropped"]), samples
    assert not document["recording"]["problems"]
    return found[0]


# ---- the JDK's own reader


def jfr(jdk, command, file, *arguments, expect=0):
    done = subprocess.run([jdk.tool("jfr"), command, *map(str, arguments), str(file)], capture_output=True, text=True,
                          timeout=240)
    assert done.returncode == expect, (f"{jdk}: jfr {command} {file} ended with {done.returncode}\n"
                                       f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def jfr_counts(jdk, file):
    """Events by type, as `jfr summary` counts them."""
    return {name: int(count) for name, count in
            re.findall(r"^ ([\w.]+) +(\d+) +\d+ *$", jfr(jdk, "summary", file), re.MULTILINE)}


def books_by_jfr(jdk, file, engine="fragment"):
    """The last numbers that the agent itself wrote: (taken, written, {cause: dropped})."""
    text = jfr(jdk, "print", file, "--json", "--events", "tarsier.EngineSamples,tarsier.EngineDropped")
    taken = written = 0
    dropped = {}
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        if values["engine"] != engine:
            continue
        if event["type"] == "tarsier.EngineSamples":
            taken, written = values["taken"], values["written"]
        else:
            dropped[values["cause"]] = values["count"]
    return taken, written, dropped


class Sample:
    """One jdk.ExecutionSample, tarsier.WallSample or tarsier.Wait as `jfr print --json` shows it."""

    def __init__(self, values):
        thread = values.get("sampledThread") or {}
        self.thread = thread.get("javaName") or thread.get("osName")
        self.os_thread_id = thread.get("osThreadId")
        self.is_virtual = thread.get("virtual")
        self.carrier = (values.get("carrier") or {}).get("javaName")
        trace = values.get("stackTrace") or {}
        self.frames = [frame_name(frame) for frame in trace.get("frames") or ()]
        self.types = [frame["type"] for frame in trace.get("frames") or ()]
        self.lines = [frame["lineNumber"] for frame in trace.get("frames") or ()]
        self.weight = parse_span(values["weight"]) if "weight" in values else None
        self.imprecise = values.get("imprecise")
        self.failure = values.get("failure")
        self.repeated = values.get("repeated")
        self.state = values.get("state")
        self.ongoing = values.get("ongoing")
        self.kind = values.get("kind")
        self.time = parse_time(values["startTime"])

    @property
    def top(self):
        return self.frames[0] if self.frames else None


def frame_name(frame):
    method = frame["method"]
    kind = (method.get("type") or {}).get("name") or ""
    kind = kind.replace("/", ".")
    return f"{kind}.{method['name']}" if kind else method["name"]


def parse_time(text):
    """Seconds since the epoch; jfr prints nanoseconds, which fromisoformat does not know."""
    match = re.match(r"^(.*?)(\.\d+)?(Z|[+-]\d\d:\d\d)$", text)
    whole = datetime.datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00"))
    return whole.timestamp() + float(match[2] or 0)


def parse_span(text):
    """Seconds of a time span as jfr prints it: PT0.001S; a thread's second may be long, but no hour is."""
    match = re.fullmatch(r"PT(?:(\d+)M)?([\d.]+)S", text)
    return 60 * int(match[1] or 0) + float(match[2])


def samples_by_jfr(jdk, file, depth=8, event="jdk.ExecutionSample"):
    """All samples of a file, read by the JDK."""
    text = jfr(jdk, "print", file, "--json", "--stack-depth", depth, "--events", event)
    return [Sample(event["values"]) for event in json.loads(text)["recording"]["events"]]


# ---- a process seen from outside


def threads_of(pid):
    """{tid: name}"""
    names = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            names[int(task.name)] = (task / "comm").read_text().rstrip("\n")
        except (FileNotFoundError, ProcessLookupError):
            pass  # ended meanwhile
    return names


def cpu_by_thread(pid):
    """{(tid, name): nanoseconds on a CPU}, by the scheduler's account."""
    spent = {}
    for tid, name in threads_of(pid).items():
        try:
            spent[tid, name] = int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass  # ended meanwhile
    return spent


def descriptors_of(pid):
    """What the open descriptors point at, sorted; numbers of sockets and the like left out."""
    found = []
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(re.sub(r":\[\d+\]", "", os.readlink(link)))
        except FileNotFoundError:
            pass
    return sorted(found)


def mapped_bytes(pid):
    """{name of the mapping: bytes}; anonymous ones together."""
    sizes = {}
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        span, *_, = line.split()
        fields = line.split(None, 5)
        begin, end = (int(part, 16) for part in span.split("-"))
        name = fields[5] if len(fields) == 6 else "anonymous"
        sizes[name] = sizes.get(name, 0) + end - begin
    return sizes


def signal_sets(pid):
    """{"SigIgn": {numbers}, "SigCgt": .., "SigBlk": ..} of the process."""
    sets = {}
    for name, mask in re.findall(r"^(Sig(?:Ign|Cgt|Blk)):\s*([0-9a-f]+)$",
                                 pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE):
        bits = int(mask, 16)
        sets[name] = {number + 1 for number in range(64) if bits >> number & 1}
    return sets


def record_without_signals(pid, file, *options):
    """Some seconds of it, during which no handler may be installed; the report."""
    before = signal_sets(pid)
    with Recorder(*options, "-o", file, pid) as recorder:
        wait_until(lambda: file.exists() and file.stat().st_size > 20_000, "samples are in the file")
        assert signal_sets(pid) == before, "a handler was installed"
        time.sleep(5)
        recorder.interrupt()
        recorder.finish()
    assert signal_sets(pid) == before
    return report(file)


def timers_of(pid):
    """The POSIX timers of a process, as /proc shows them."""
    return pathlib.Path(f"/proc/{pid}/timers").read_text().splitlines()


class Stolen:
    """What the hypervisor has taken of the CPU time that somebody here wanted, since the test began. Then the threads' own
    clocks tell another time than ours, and ticks that were due meanwhile come later, as one: samples and CPU time can't
    be compared."""

    def __init__(self):
        self.start_over()

    def start_over(self):
        self.begin = self.now()

    @staticmethod
    def now():
        user, nice, system, _, _, irq, softirq, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
        return steal, user + nice + system + irq + softirq + steal

    def is_much(self):
        (stolen, wanted), (stolen_before, wanted_before) = self.now(), self.begin
        share = (stolen - stolen_before) / max(wanted - wanted_before, 1)
        if share > 0.02:
            print(f"the hypervisor took {share:.0%} of the CPU time away: samples and CPU time were not compared")
        return share > 0.02


STOLEN = Stolen()


@functools.cache
def perf_allowed():
    """May software perf events be opened here? Asked of the kernel, as the agent does."""
    if other_arch.is_asked_for():
        return False  # qemu-user does not know the call
    attributes = bytearray(128)  # type SOFTWARE (1), size 128, config CPU_CLOCK (0), disabled | exclude_kernel
    attributes[0], attributes[4], attributes[40] = 1, 128, 1 | 1 << 5
    number = {"aarch64": 241, "x86_64": 298}[os.uname().machine]
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    descriptor = ctypes.CDLL(None).syscall(number, buffer, 0, -1, -1, 0)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def ebpf_allowed():
    """May eBPF programs be loaded here, by JVMs that inherit our rights, and see all of what threads do?"""
    if other_arch.is_asked_for():
        return False
    perfmon, bpf, sys_admin = 38, 39, 21
    status = pathlib.Path("/proc/self/status").read_text()
    held = int(re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)[1], 16)
    rights = held >> sys_admin & 1 or held >> perfmon & held >> bpf & 1
    return bool(rights) and os.path.exists("/sys/kernel/btf/vmlinux")
