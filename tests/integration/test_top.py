"""`tarsier top` in a real terminal (tmux), without one, and what it leaves behind."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time

import jsonschema
import pytest

from harness import ROOT, TARSIER, Program, tarsier, wait_until

SCHEMA = ROOT / "docs/top.schema.json"


class Terminal:
    """A shell in a terminal of tmux, on a server of its own."""

    def __init__(self, columns=120, lines=40, **environment):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="top-"))  # short: a socket's path must not be long
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.columns, self.lines = columns, lines
        self.environment = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TMPDIR": str(self.scratch), "TERM": "screen-256color",
                            **environment}

    def __enter__(self):
        assert shutil.which("tmux"), "no tmux: script/bootstrap installs it"
        # The terminal outside of tmux is none: what it takes and sends is tmux's own business.
        self.tmux("-f", "/dev/null", "-u", "new-session", "-d", "-x", self.columns, "-y", self.lines, "env", "-i",
                  f"PATH={os.environ['PATH']}", "PS1=$ ", *(f"{name}={value}" for name, value in self.environment.items()),
                  "bash", "--norc", "--noprofile")
        self.tmux("set-option", "-g", "window-size", "manual")
        self.wait_for("$")
        return self

    def __exit__(self, *_):
        self.tmux("kill-server", check=False)
        shutil.rmtree(self.folder)

    def tmux(self, *arguments, check=True):
        done = subprocess.run(["tmux", "-S", str(self.folder / "tmux"), *map(str, arguments)], capture_output=True,
                              text=True, timeout=60, env=dict(os.environ, LC_ALL="C.UTF-8"))
        assert done.returncode == 0 or not check, f"tmux {arguments}: {done.stderr}"
        return done.stdout

    def run(self, command):
        """Types a command line; its exit code and the terminal's settings before and after are noted in files."""
        for name in ("before", "after", "code"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "run").write_text(f"stty -a >{self.folder}/before\n{command}\necho $? >{self.folder}/code\n"
                                         f"stty -a >{self.folder}/after\n")
        self.tmux("send-keys", f". {self.folder}/run", "Enter")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def write(self, text):
        self.tmux("send-keys", "-l", text)

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", columns, "-y", lines)

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options).splitlines()

    def wait_for(self, what, seconds=60):
        """The screen, once it has that text, or `what(lines)` holds."""
        found = what if callable(what) else lambda lines: any(what in line for line in lines)
        seen = []

        def look():
            seen[:] = self.screen()
            return found(seen)

        wait_until(look, lambda: f"{what} on the screen\n" + "\n".join(seen), seconds)
        return list(seen)

    def exit_code(self):
        def noted():
            files = [self.folder / name for name in ("code", "after")]
            return all(file.exists() and file.read_text() for file in files)

        wait_until(noted, lambda: "the command's end\n" + "\n".join(self.screen()))
        return int((self.folder / "code").read_text())

    def settings(self, when):
        """Without the size, which the tests change."""
        return re.sub(r"rows \d+; columns \d+;", "", (self.folder / when).read_text())


@pytest.fixture
def program(jdk, classes):
    with Program(jdk, classes, "TopThreads", options=["-XX:+UseSerialGC"]) as program:
        yield program.ready()


@pytest.fixture
def terminal(request):
    with Terminal(**getattr(request, "param", {})) as terminal:
        yield terminal


def top(terminal, program, *options):
    terminal.run(shlex.join([str(TARSIER), "top", *map(str, options), str(program.pid)]))


def rows(lines, head):
    """The lines of the table below its head, which has that word in it."""
    at = next((i for i, line in enumerate(lines) if head in line and "%" in line), None)
    return [] if at is None else lines[at + 1:]


def first_thread(name):
    def holds(lines):
        return bool(rows(lines, "THREAD")) and name in rows(lines, "THREAD")[0]

    return holds


def threads_of_ours(pid):
    names = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/comm"):
        try:
            names.append(task.read_text().strip())
        except OSError:
            pass
    return [name for name in names if name.startswith("tarsier")]


def nothing_is_left(terminal, program=None):
    assert list(terminal.scratch.iterdir()) == []
    assert terminal.settings("before") == terminal.settings("after")
    if program is not None:
        assert program.process.poll() is None
        wait_until(lambda: not threads_of_ours(program.pid), "our threads are gone")


def test_threads_are_sorted_by_what_is_asked_for(program, terminal):
    top(terminal, program)
    lines = terminal.wait_for(first_thread("a-busiest"))
    assert "TopThreads" in lines[0] and f"pid {program.pid}" in lines[0]
    assert re.search(r"CPU [\d.]+% of \d+%  app [\d.]+%  GC [\d.]+%  JIT [\d.]+%  VM ", lines[1]), lines[1]
    assert "TopThreads." in rows(lines, "THREAD")[0], "where it burns"
    terminal.press("a")
    terminal.wait_for(first_thread("c-allocates"))
    terminal.press("b")
    lines = terminal.wait_for(first_thread("e-blocked"))
    assert any("v%BLOCK" in line for line in lines)
    terminal.press("n")
    terminal.wait_for(lambda lines: first_thread("a-busiest")(lines) and any("vTHREAD" in line for line in lines))
    terminal.press("r")
    lines = terminal.wait_for(lambda lines: any("^THREAD" in line for line in lines))
    assert "a-busiest" not in rows(lines, "THREAD")[0]
    for key, head in (("s", "v%STEAL"), ("w", "v%WAIT"), ("u", "v%RUNQ"), ("c", "v%CPU")):
        terminal.press(key)
        terminal.wait_for(head)
    terminal.press("q")
    assert terminal.exit_code() == 0
    nothing_is_left(terminal, program)


def test_hot_methods_of_all_and_of_one_thread(program, terminal):
    top(terminal, program)
    lines = terminal.wait_for(first_thread("a-busiest"))
    # A tall screen has both tables. Nothing else in this program burns.
    hot = rows(lines, "%SELF")[0]
    assert "TopThreads.spin" in hot, hot
    terminal.press("Enter")
    lines = terminal.wait_for("METHOD of a-busiest")
    hot = rows(lines, "%SELF")[0]
    assert "TopThreads.spin" in hot and float(hot.split()[0]) > 50, hot
    terminal.press("Escape")
    terminal.wait_for(lambda lines: not any("METHOD of" in line for line in lines))
    terminal.press("Tab", "t")
    terminal.wait_for("v%TOTAL")
    terminal.press("m")
    terminal.wait_for("Tab methods")
    terminal.press("q")
    assert terminal.exit_code() == 0


def test_it_lives_with_every_size(program, terminal):
    top(terminal, program)
    terminal.wait_for(first_thread("a-busiest"))
    terminal.resize(20, 5)
    lines = terminal.wait_for(lambda lines: len(lines) <= 5 and first_thread("busi")(lines))
    assert "CPU" in lines[0] and "q quit" in lines[-1], lines
    for columns, height in ((10, 3), (2, 1), (1, 1), (300, 2), (40, 80)):
        terminal.resize(columns, height)
        time.sleep(0.3)
    terminal.resize(150, 40)
    lines = terminal.wait_for(lambda lines: first_thread("a-busiest")(lines) and rows(lines, "%SELF"))
    assert all(f" {head}" in next(line for line in lines if "THREAD" in line)
               for head in ("%SYS", "%STEAL", "%RUNQ", "%WAIT", "%BLOCK", "ALLOC", "KIND")), lines
    terminal.press("?")
    terminal.wait_for("hypervisor")
    terminal.press("q")
    assert terminal.exit_code() == 0
    nothing_is_left(terminal, program)


@pytest.mark.parametrize("terminal", [{"columns": 20, "lines": 5}], indirect=True)
def test_it_starts_on_a_narrow_screen(program, terminal):
    top(terminal, program)
    terminal.wait_for(first_thread("busi"))
    terminal.press("q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_the_last_screen_stays_when_the_jvm_ends(jdk, classes, terminal, how):
    with Program(jdk, classes, "TopThreads") as program:
        program.ready()
        top(terminal, program)
        terminal.wait_for(first_thread("a-busiest"))
        if how == "exit":
            program.tell("end")
        else:
            program.process.kill()
        lines = terminal.wait_for("the JVM has ended")
        assert first_thread("a-busiest")(lines), "the figures can still be read"
        program.process.wait(60)
    terminal.press("n")
    terminal.wait_for("vTHREAD")
    terminal.press("q")
    assert terminal.exit_code() == 0
    nothing_is_left(terminal)


@pytest.mark.parametrize("signal", ["INT", "TERM", "HUP"])
def test_signals_give_the_terminal_back(program, terminal, signal):
    top(terminal, program)
    terminal.wait_for(first_thread("a-busiest"))
    if signal == "INT":
        terminal.press("C-c")
    else:
        found = subprocess.run(["pgrep", "-f", f"tarsier top {program.pid}$"], capture_output=True, text=True).stdout
        os.kill(int(found.split()[0]), 15 if signal == "TERM" else 1)
    assert terminal.exit_code() == 0
    nothing_is_left(terminal, program)
    terminal.run("echo so it goes on")
    terminal.wait_for("so it goes on")


def test_stopping_and_going_on(program, terminal):
    top(terminal, program)
    terminal.wait_for(first_thread("a-busiest"))
    terminal.press("C-z")
    terminal.wait_for("Stopped")
    terminal.press("fg", "Enter")
    terminal.wait_for(first_thread("a-busiest"))
    terminal.press("q")
    terminal.wait_for(lambda lines: not first_thread("a-busiest")(lines))


def test_pause_filter_and_the_rest_of_the_keys(program, terminal):
    top(terminal, program)
    terminal.wait_for(first_thread("a-busiest"))
    terminal.press("p")
    before = terminal.wait_for("PAUSED")
    time.sleep(2.5)
    assert terminal.screen() == before, "nothing moves"
    terminal.press("p")
    terminal.wait_for(lambda lines: not any("PAUSED" in line for line in lines) and lines[0] != before[0])
    terminal.press("/")
    terminal.write("ALLOC")
    terminal.press("Enter")
    terminal.wait_for(first_thread("c-allocates"))
    terminal.press("Escape")
    terminal.wait_for(first_thread("a-busiest"))
    terminal.press("o")
    terminal.wait_for("smoothed")
    terminal.press("o")
    terminal.wait_for("mean of")
    terminal.press("o", "+")
    terminal.wait_for("last 2.")
    terminal.press("Down", "Down", "NPage", "PPage", "End", "Home", "F5", "x", "-")
    terminal.wait_for("last 1.")
    terminal.press("q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize("terminal", [{"columns": 200}], indirect=True)
def test_names_can_not_play_with_the_terminal(program, terminal):
    top(terminal, program)
    terminal.wait_for(first_thread("a-busiest"))
    terminal.press("/")
    terminal.write("f-")
    lines = terminal.wait_for(first_thread("f-日本語\\u{1b}[2J\\u{202e}evil\\u{a}"))
    assert any("TopThreads" in line for line in lines), "nothing was cleared"
    terminal.press("Escape", "q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize("terminal", [{"columns": 200, "LANG": "C", "LC_ALL": "C"}], indirect=True)
def test_without_unicode_there_is_ascii(program, terminal):
    top(terminal, program)
    terminal.wait_for(first_thread("a-busiest"))
    terminal.press("/")
    terminal.write("f-")
    lines = terminal.wait_for(first_thread("f-??????"))
    assert all(line.isascii() for line in lines), lines
    terminal.press("Escape", "q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize("terminal, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "vt100"}, False)],
                         indirect=["terminal"])
def test_colours_only_where_they_are_wanted(program, terminal, coloured):
    top(terminal, program)
    terminal.wait_for(first_thread("a-busiest"))
    screen = "\n".join(terminal.screen("-e"))
    assert bool(re.search(r"\x1b\[(?:\d+;)*(?:3[1-7]|4[1-7])", screen)) == coloured, repr(screen)
    terminal.press("q")
    assert terminal.exit_code() == 0


@pytest.mark.parametrize("terminal", [{"TERM": "never-heard-of"}, {"TERM": "dumb"}], indirect=True)
def test_a_terminal_that_is_no_screen_gets_text(program, terminal):
    top(terminal, program, "-n", 1)
    assert terminal.exit_code() == 0
    assert first_thread("a-busiest")(terminal.screen("-S", "-"))


def test_without_a_terminal_it_is_text(program):
    done = tarsier("top", "-n", 2, "--rows", 3, program.pid)
    assert "\x1b" not in done.stdout
    heads = [line for line in done.stdout.splitlines() if "THREAD" in line]
    assert len(heads) == 2
    assert "a-busiest" in rows(done.stdout.splitlines(), "THREAD")[0]
    assert "watching JVM" in done.stderr


def test_json_is_as_its_schema_says_and_right_about_the_busiest(program):
    before = int(program.ask("busiest"))
    began = time.monotonic()
    done = tarsier("top", "--json", "-n", 5, program.pid)
    elapsed = time.monotonic() - began
    truth = (int(program.ask("busiest")) - before) / 1e9
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(documents) == 5
    for document in documents:
        jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    found = [(each, next(row for row in each["threads"] if row["name"] == "a-busiest")) for each in documents]
    used = sum(each["span_s"] * row["cpu"] for each, row in found)
    watched = sum(each["span_s"] for each in documents)
    # Our seconds lie within those of the truth, which has some moments more.
    assert used <= truth * 1.02, (used, truth)
    assert used >= truth * watched / elapsed * 0.7, (used, truth, watched, elapsed)
    assert all(row["method"] and row["method"].startswith("TopThreads.") for _, row in found[1:])
    blocked = [row["blocked"] for each in documents for row in each["threads"] if row["name"] == "e-blocked"]
    assert max(blocked) > 0.5, blocked
    allocated = [row["alloc_bytes_per_s"] for each in documents for row in each["threads"] if row["name"] == "c-allocates"]
    assert sum(allocated) / 5 > 1e7, allocated


def test_the_end_of_the_jvm_is_the_end_of_text(jdk, classes):
    with Program(jdk, classes, "TopThreads") as program:
        program.ready()
        watcher = subprocess.Popen([str(TARSIER), "top", "--batch", str(program.pid)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            line = watcher.stdout.readline()
            assert "TopThreads" in line
            program.tell("end")
            stdout, stderr = watcher.communicate(timeout=60)
        finally:
            watcher.kill()
    assert watcher.returncode == 0, stderr
    assert "the JVM has ended" in stderr
    assert "the JVM has ended" in stdout, "and the last screen says so"


def test_a_terminal_that_is_gone_ends_it(program):
    with Terminal() as terminal:
        top(terminal, program)
        terminal.wait_for(first_thread("a-busiest"))
        watchers = subprocess.run(["pgrep", "-f", f"tarsier top {program.pid}$"], capture_output=True, text=True).stdout
        assert watchers.split()
        terminal.tmux("kill-server")
        for pid in watchers.split():
            wait_until(lambda pid=pid: not pathlib.Path(f"/proc/{pid}/fd").exists(), "it has ended")
        assert list(terminal.scratch.iterdir()) == []
    wait_until(lambda: not threads_of_ours(program.pid), "our threads are gone")
    assert program.process.poll() is None


@pytest.mark.since(17)
def test_locks_of_java_util_concurrent_are_seen_if_asked_for(jdk, classes, tmp_path):
    with Program(jdk, classes, "LockTruth", "reentrant", 1000, "sleep", 0, tmp_path / "truth.txt") as program:
        program.ready()
        blocked = {}
        for options in ([], ["--lock"]):
            done = tarsier("top", "--json", "-n", 6, *options, program.pid)
            if options and "lock by hooks" not in done.stderr:
                pytest.skip("hooks are not possible here")
            rows = [row for line in done.stdout.splitlines()[2:] for row in json.loads(line)["threads"]]
            blocked[bool(options)] = sum(row["blocked"] for row in rows if row["name"].startswith("worker"))
        program.ask("stop")
    assert blocked[False] < 0.2 < 0.5 < blocked[True], blocked


def test_the_time_can_be_limited(program):
    done = tarsier("top", "--batch", "-d", "3s", program.pid)
    assert 1 <= done.stdout.count("THREAD") <= 5
    assert "has ended" not in done.stdout + done.stderr
    wait_until(lambda: not threads_of_ours(program.pid), "our threads are gone")  # the one that says so is the last


def test_what_can_not_be_watched_is_said(program):
    assert "no" in tarsier("top", "--batch", "4194304", expect=3).stderr
    assert "100us" in tarsier("top", "--interval", "1us", program.pid, expect=2).stderr
    assert "cpu" in tarsier("top", "--sort", "size", program.pid, expect=2).stderr
    first = subprocess.Popen([str(TARSIER), "top", "--batch", str(program.pid)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert first.stdout.readline()
        assert "recorded" in tarsier("top", "--batch", program.pid, expect=4).stderr
    finally:
        first.terminate()
        first.communicate(timeout=60)
    assert first.returncode == 0
