"""Classes, methods and threads that are named to do harm, recorded in a real JVM: every output shows them, none obeys."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from harness import ROOT, Program, books_by_jfr, engine, jdks, jfr, report, tarsier

sys.path += [str(ROOT / "tests/report"), str(ROOT / "tests/cli")]
from pprof_text import Profile  # noqa: E402
from test_terminal import on_a_terminal  # noqa: E402

pytestmark = pytest.mark.xdist_group("hostile names")  # one worker, so one recording for each JVM

# What must not reach a terminal or a line-based file: controls, direction marks, marks without width, separators.
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]")


def recorded_form(name):
    """As a recording keeps it: in UTF-8, which has no lone surrogates."""
    return re.sub("[\ud800-\udfff]", "\ufffd", name.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def shown_form(name):
    return HARMFUL.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", name.replace("\n", "\\u{a}"))


class Hostile:
    """A recording of HostileNames, the recorder's words on its terminal, and the names as they must be in it."""

    def __init__(self, jdk, classes, folder):
        self.jdk, self.file = jdk, folder / "hostile.jfr"
        with Program(jdk, classes, "HostileNames") as program:
            program.ready()
            names = program.ask_json("names")
            arguments = [ROOT / "tarsier", "record", "-d", "6s", "--interval", "4ms", "-o", self.file, program.pid]
            self.terminal = on_a_terminal([str(word) for word in arguments], seconds=120)
            assert program.process.poll() is None
        self.methods = {recorded_form(f"{n['class']}.{n['method']}".replace("/", ".")) for n in names}
        self.threads = {recorded_form(n["thread"]) for n in names}


@pytest.fixture(scope="module", params=jdks(), ids=repr)
def hostile(request, classes, tmp_path_factory):
    return Hostile(request.param, classes, tmp_path_factory.mktemp("hostile"))


def exported(hostile, to, extension):
    out = hostile.file.with_suffix(extension)
    tarsier("export", hostile.file, "--to", to, "-o", out)
    return out


def test_the_recording_has_every_name_and_balanced_books(hostile):
    document = report(hostile.file)
    samples = engine(document)["samples"]
    taken, written, dropped = books_by_jfr(hostile.jdk, hostile.file)
    assert taken == written + sum(dropped.values()) == samples["taken"]
    assert hostile.methods <= {row["method"] for row in document["hot"]}
    assert hostile.threads <= {row["name"] for row in document["threads"]}


def test_the_jdks_own_tool_reads_it(hostile):
    text = jfr(hostile.jdk, "print", hostile.file, "--json", "--events", "jdk.ExecutionSample")
    frames = {frame["method"]["name"] for event in json.loads(text)["recording"]["events"]
              for frame in (event["values"]["stackTrace"] or {"frames": ()})["frames"]}
    assert {name.rsplit(".", 1)[1] for name in hostile.methods} <= frames


def test_the_text_is_harmless_and_narrow(hostile):
    text = tarsier("report", hostile.file, "--view", "hot,tree,callers,threads,quality", "--top", 1000).stdout
    assert not HARMFUL.search(text)
    assert max(map(len, text.splitlines())) <= 100
    for name in hostile.methods | hostile.threads:
        assert shown_form(name)[-30:] in text, name[:80]


def test_the_progress_line_and_the_verdict_are_harmless(hostile):
    drawn = re.sub(r"\r|\x1b\[K|\n", "", hostile.terminal)  # what the recorder itself draws with
    assert "samples" in drawn and not HARMFUL.search(drawn), drawn[-2000:]
    assert len(hostile.terminal) < 20_000


def test_collapsed_stacks_are_one_line_each_with_clean_frames(hostile):
    stacks = [line.rsplit(" ", 1) for line in exported(hostile, "collapsed", ".txt").read_text().split("\n")[:-1]]
    assert all(count.isdigit() for _, count in stacks)
    assert not any(HARMFUL.search(stack) for stack, _ in stacks)
    frames = {frame for stack, _ in stacks for frame in stack.split(";")}
    assert {shown_form(name).replace(";", "\\u{3b}") for name in hostile.methods} <= frames


def test_pprof_and_speedscope_hold_every_name_made_visible(hostile):
    profile = Profile(exported(hostile, "pprof", ".pb.gz"))
    assert not any(HARMFUL.search(text) or "\n" in text for text in profile.strings)
    assert {shown_form(name) for name in hostile.methods | hostile.threads} <= set(profile.strings)
    document = json.loads(exported(hostile, "speedscope", ".json").read_text())
    names = {frame["name"] for frame in document["shared"]["frames"]}
    assert {shown_form(name) for name in hostile.methods} <= names
    assert not any(HARMFUL.search(name) or "\n" in name for name in names)


def test_names_without_end_stay_within_the_memory_that_was_granted(jdk, classes, tmp_path):
    """500 methods with 120,000 characters each, all hot: 60 MB of names, in each of several tables."""
    file = tmp_path / "many.jfr"
    with Program(jdk, classes, "HostileNames", "many") as program:
        program.ready()
        tarsier("record", "-d", "4s", "--interval", "1ms", "--memory", "16m", "-o", file, program.pid, seconds=240)
    text = jfr(jdk, "print", file, "--json", "--events", "tarsier.Overhead")
    memory = [event["values"]["memory"] for event in json.loads(text)["recording"]["events"]]
    # At 8 MB of names the tables are given up, but tables grow by doubling, and what a few samples and, at the very end,
    # a whole ring need comes on top. Without that 86 MB were seen.
    assert len(memory) > 1 and 0 < max(memory[:-1]) <= 32 << 20, memory
    methods = {row["method"] for row in report(file)["hot"] if len(row["method"]) > 120_000}
    assert len(methods) > 50, "or it would have fitted anyway"


def chromium():
    return next((path for path in (os.environ.get("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/google-chrome")
                 if path and pathlib.Path(path).exists()), None)


@pytest.mark.skipif(not chromium() or not shutil.which("node"), reason="no Chromium or no node")
def test_no_script_runs_in_a_browser(hostile):
    page = exported(hostile, "html", ".html")
    done = subprocess.run(["node", "test/browser/open_page.mjs", chromium(), page], cwd=ROOT / "ui", timeout=120,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["complaints"] == [] and not seen["hacked"] and seen["strangers"] == 0
    assert "window.hacked=1" in seen["text"], "the names are there, as text"
    assert not HARMFUL.search(seen["text"].replace("\n", "").replace("\t", ""))
    assert len(seen["text"]) < 200_000
