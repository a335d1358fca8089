"""The JDK's own tools read what we write, after every single write; and our reader agrees with them on JFR's files."""
import collections
import concurrent.futures
import re
import shutil

import pytest

from tools import JDKS, program, run


def count_in_summary(text, event):
    match = re.search(rf"^ {re.escape(event)} +(\d+) ", text, re.M)
    return int(match.group(1)) if match else 0


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steps")
    lines = run(program("recording_steps"), folder).splitlines()
    copies = [line.split("\t") for line in lines]
    yield [(folder / name, step, int(samples)) for name, step, samples in copies]
    shutil.rmtree(folder)


@pytest.mark.parametrize("jdk", JDKS, ids=repr)
def test_the_file_is_valid_for_the_jdk_after_every_single_write(jdk, steps):
    jfr = jdk.tool("jfr")

    def check(copy, step, samples):
        where = f"{copy.name} after '{step}'"
        assert count_in_summary(run(jfr, "summary", copy), "jdk.ExecutionSample") == samples, where
        printed = run(jfr, "print", "--events", "jdk.ExecutionSample", copy)
        assert printed.count("jdk.ExecutionSample {") == samples, where
        # Every event has its thread and its whole stack.
        assert len(re.findall(r'sampledThread = "worker-\d+"', printed)) == samples, where
        assert printed.count("Main.main(String[]) line: 3") == samples, where
        assert printed.count(".[failed: test]()") == samples, where

    # Each kind of step the first and the last time: starting a JVM for every copy takes long.
    chosen = {}
    for copy in steps:
        first_and_last = chosen.setdefault(copy[1], [copy, copy])
        first_and_last[1] = copy
    assert {"append: data", "append: constants", "append: padding", "grow: page", "grow: padding", "grow: chunk size",
            "rotate: new chunk", "rotate: chunk size", "rotate: padding", "finish: length"} <= set(chosen)
    copies = {copy for pair in chosen.values() for copy in pair}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda copy: check(*copy), sorted(copies)))


@pytest.mark.parametrize("jdk", JDKS, ids=repr)
def test_the_jdk_shows_what_our_types_mean(jdk, steps):
    finished = steps[-1][0]
    metadata = run(jdk.tool("jfr"), "metadata", finished)
    assert '@Label("Engine Used")' in metadata
    assert '@Category({"Java Virtual Machine", "Profiling"})' in metadata
    assert re.search(r'@Timespan\("NANOSECONDS"\)\s+long weight;', metadata)
    printed = run(jdk.tool("jfr"), "print", "--events", "tarsier.Session", finished)
    assert re.search(r"uptime = 1\.0+ s", printed)  # that of 8 prints a digit more


PROGRAM = """
public class Spin {
    static double sink;
    static double hot(int n) { double x = 0; for (int i = 0; i < n; i++) x += Math.sqrt(i); return x; }
    static int text(int n) { StringBuilder b = new StringBuilder(); for (int i = 0; i < n; i++) b.append(i); return b.length(); }
    public static void main(String[] args) throws Exception {
        long end = System.currentTimeMillis() + 4000;
        Thread t = new Thread(() -> { while (System.currentTimeMillis() < end) sink += hot(10000); }, "w\\u00f6rker");
        t.start();
        while (System.currentTimeMillis() < end) sink += text(1000);
        t.join();
    }
}
"""


def top_frame(line):
    """Without frames of hidden classes, which the jfr tool leaves out."""
    stack = re.search(r"\tstackTrace=([^\t]*)", line).group(1)
    frames = re.findall(r"(\S+?):\d+@-?\d+/[a-z0-9]+(?:;|$)", stack)
    return next(frame for frame in frames if "$$Lambda" not in frame)


@pytest.mark.parametrize("jdk", JDKS, ids=repr)
def test_our_reader_agrees_with_the_jdk_about_its_own_recording(jdk, tmp_path):
    (tmp_path / "Spin.java").write_text(PROGRAM)
    recording = tmp_path / "jfr.jfr"
    run(jdk.tool("javac"), "-d", tmp_path, tmp_path / "Spin.java")
    run(jdk.tool("java"), f"-XX:StartFlightRecording=filename={recording},settings=profile", "-cp", tmp_path, "Spin")

    printed = run(jdk.tool("jfr"), "print", "--events", "jdk.ExecutionSample", recording)
    theirs = collections.Counter(
        re.sub(r"\(.*", "", top) for top in re.findall(r"stackTrace = \[\n\s+(.*)\n", printed))
    dump = run(program("recording_dump"), recording, "jdk.ExecutionSample").splitlines()
    ours = collections.Counter(re.sub(r"\(.*", "", top_frame(line)).replace("/", ".") for line in dump)

    assert len(dump) == printed.count("jdk.ExecutionSample {") > 0
    assert ours == theirs

    # All the other events too: the same number of each type.
    summary = run(jdk.tool("jfr"), "summary", recording)
    counts = collections.Counter(line.split("\t", 1)[0] for line in run(program("recording_dump"), recording).splitlines())
    assert counts and all(count_in_summary(summary, name) == n for name, n in counts.items())
