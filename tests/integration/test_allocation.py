"""A program that knows what it allocates (tests/java/KnownAllocation.java) against what we say."""
import subprocess

import pytest
from harness import LIBRARY, Program, Recorder, books_by_jfr, engine, jfr_counts, jvmti_library, report, tarsier

THREADS, ROUNDS = 2, 300
REPLACED = 23_000_000  # objects that the program would allocate without escape analysis
FIRST = 11  # the first JVM that samples allocation
# Up to 12 the JVM forgets the rest of a thread's buffer after an object outside of it: some of these are never drawn.
FORGOTTEN_BEFORE, AFTER_LARGE = 13, "KnownAllocation.shared"


@pytest.fixture
def sampling_jdk(jdk):
    if jdk.major < FIRST:
        pytest.skip("this JVM does not sample allocation")
    return jdk


@pytest.fixture(scope="session")
def holder(tmp_path_factory):
    """An agent that takes allocation sampling for itself."""
    return jvmti_library("hold_allocation_sampling.c", tmp_path_factory.mktemp("agent"), since=FIRST)


def program(jdk, classes, rounds=ROUNDS, options=(), sizes=()):
    return Program(jdk, classes, "KnownAllocation", THREADS, rounds, *sizes, options=[*options, "-Xmx512m", "-Xbatch"])


def go(running, sites=8):
    """Lets the program allocate; {site: (class, bytes, objects)} as it counts them itself."""
    running.tell("go")
    running.wait_for("DONE", 120)
    truth = {}
    for line in running.lines:
        if line.startswith("truth "):
            _, site, type_name, amount, objects = line.split()
            truth[site] = (type_name, int(amount), int(objects))
    assert len(truth) == sites, running.lines
    return truth


def check(jdk, document, truth, replaced_at_most):
    """Bytes within 5 %, or within the stated interval (2.3 times as wide, 4.5 standard errors: a hundred are compared in a
    run, and none may be outside by chance), and objects alike."""
    forgets = jdk.major < FORGOTTEN_BEFORE and "KnownAllocation.arrays4m" in truth
    # Where a class is used for the first time, the JVM allocates what it needs to load it.
    rows = {(row["site"], row["class"]): row for row in document["alloc"]}
    wrong = {}
    for site, (type_name, amount, objects) in truth.items():
        row = rows[site, type_name]
        low, high = row["alloc_bytes_ci95"]
        assert low <= row["alloc_bytes"] <= high
        allowed = max(0.05 * amount, 2.3 * max(high - row["alloc_bytes"], row["alloc_bytes"] - low))
        forgotten = 0.3 * amount if forgets and site == AFTER_LARGE else 0
        if not -allowed - forgotten <= row["alloc_bytes"] - amount <= allowed:
            wrong[site] = (row["alloc_bytes"] / amount, allowed / amount)
        assert row["alloc_count"] / objects == pytest.approx(row["alloc_bytes"] / amount, rel=0.01), site
    assert not wrong, (wrong, document["verdict"])
    # Objects that escape analysis removed cost nothing, and must not show; before the method is compiled they are real.
    assert sum(row["alloc_count"] for (site, _), row in rows.items() if site == "KnownAllocation.replaced") <= replaced_at_most


def check_chains(file, truth):
    """One site, called by two methods, one of them three times as often; and equal threads."""
    document = report(file, "callers,threads", "--weight", "alloc", "--min-share", "0")
    assert document["recording"]["profile"] == "alloc" and document["recording"]["unit"] == "bytes"
    klass = next(node for node in document["callers"]["children"] if node["method"] == "short[]")
    assert klass["type"] == "class"
    site = next(node for node in klass["children"] if node["method"] == "KnownAllocation.shared")
    callers = {node["method"]: node["weight"] for node in site["children"]}
    ratio = callers["KnownAllocation.right"] / callers["KnownAllocation.left"]
    assert 2.4 < ratio < 3.75, callers
    threads = [row for row in document["threads"] if row["name"].startswith("allocator-")]
    assert len(threads) == THREADS
    for row in threads:
        assert row["sampled"] * THREADS == pytest.approx(sum(amount for _, amount, _ in truth.values()), rel=0.06)
        assert row["sampled_ns"] is None


def test_known_allocation_from_the_start(sampling_jdk, classes, tmp_path):
    file = tmp_path / "alloc.jfr"
    agent = f"-agentpath:{LIBRARY}=alloc=32k,file={file}"
    with program(sampling_jdk, classes, options=[agent]) as running:
        truth = go(running.ready())
        assert running.wait() == 0
    document = report(file, "alloc")
    check(sampling_jdk, document, truth, 0.02 * REPLACED)
    if sampling_jdk.major >= FORGOTTEN_BEFORE:
        check_chains(file, truth)
    used = engine(document, "alloc")
    assert used["interval_bytes"] == 32 << 10
    assert [e["name"] for e in document["recording"]["engines"]] == ["alloc", "pauses"]
    assert books_by_jfr(sampling_jdk, file, "alloc")[1] == used["samples"]["written"]
    assert jfr_counts(sampling_jdk, file)["jdk.ObjectAllocationSample"] == used["samples"]["written"]
    assert document["recording"]["overhead"]["app_threads_ns"] > 0


@pytest.mark.parametrize("interval", ["2k", "32k"])
def test_known_allocation_without_large_objects(sampling_jdk, classes, tmp_path, interval):
    """At an interval that is not far from the objects' sizes: what the JVM does with the last one must not show."""
    file = tmp_path / "small.jfr"
    with program(sampling_jdk, classes, options=[f"-agentpath:{LIBRARY}=alloc={interval},file={file}"],
                 sizes=["small"]) as running:
        truth = go(running.ready(), sites=4)
        assert running.wait() == 0
    check(sampling_jdk, report(file, "alloc"), truth, 0.02 * REPLACED)
    check_chains(file, truth)


def test_known_allocation_attached_with_everything(sampling_jdk, classes, tmp_path):
    """Without an engine named: CPU and allocation, and the verdict tells of both."""
    file = tmp_path / "both.jfr"
    with program(sampling_jdk, classes) as running:
        running.ready()
        with Recorder("-o", file, running.pid) as recorder:
            started = _wait_until_recording(recorder)
            truth = go(running)
            running.wait()
            recorder.finish()
    document = report(file, "alloc,hot")
    check(sampling_jdk, document, truth, 0)
    assert {e["name"] for e in document["recording"]["engines"]} == {"fragment", "alloc", "lock", "pauses"}
    assert document["recording"]["profile"] == "cpu"
    assert engine(document, "fragment")["samples"]["written"] > 0
    assert any(line.startswith("Allocated: ") for line in document["verdict"])
    assert "every 512k" in started
    page = tarsier("export", file, "--to", "collapsed", "--weight", "alloc").stdout
    amounts = sum(int(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.split(" ")[0].endswith("int[]"))
    assert amounts == pytest.approx(truth["KnownAllocation.arrays4m"][1], rel=0.1)


def _wait_until_recording(recorder):
    """The line in which the command says that allocation is sampled."""
    for line in recorder.process.stderr:
        if "alloc by" in line:
            return line
    raise AssertionError("the command did not say that it samples allocation")


def test_another_agent_holds_allocation_sampling(sampling_jdk, classes, holder, tmp_path):
    file = tmp_path / "held.jfr"
    with program(sampling_jdk, classes, 20, options=[f"-agentpath:{holder}"]) as running:
        running.wait_for("HELD")
        running.ready()
        refused = tarsier("record", "--alloc", "-d", "1s", "-o", tmp_path / "no.jfr", running.pid, expect=1)
        assert "another agent in this JVM holds allocation sampling" in refused.stderr
        assert not (tmp_path / "no.jfr").exists()
        done = tarsier("record", "-d", "1s", "-o", file, running.pid)
        assert "warning: no alloc: another agent in this JVM holds allocation sampling" in done.stderr
        go(running)
        assert running.wait() == 0
    document = report(file)
    missing = next(e for e in document["recording"]["engines"] if e["name"] == "alloc")
    assert missing["mechanism"] == "none" and "another agent" in missing["why"]
    assert any("nothing by the engine alloc" in line for line in document["verdict"])


def test_afterwards_another_agent_may_have_it(sampling_jdk, classes, holder, tmp_path):
    with program(sampling_jdk, classes, 20) as running:
        running.ready()
        for i in range(2):
            tarsier("record", "--alloc", "-d", "100ms", "-o", tmp_path / f"{i}.jfr", running.pid)
        subprocess.run([sampling_jdk.tool("jcmd"), str(running.pid), "JVMTI.agent_load", str(holder)], check=True,
                       capture_output=True, timeout=60)
        running.wait_for("HELD")


def test_a_jvm_that_can_not_sample_allocation_says_so(jdk, classes, tmp_path):
    if jdk.major >= FIRST:
        pytest.skip("this JVM samples allocation")
    with program(jdk, classes, 20) as running:
        running.ready()
        refused = tarsier("record", "--alloc", "-d", "1s", "-o", tmp_path / "no.jfr", running.pid, expect=1)
        assert "does not sample allocation" in refused.stderr
        done = tarsier("record", "-d", "1s", "-o", tmp_path / "cpu.jfr", running.pid)
        assert "warning: no alloc" in done.stderr
