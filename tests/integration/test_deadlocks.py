"""Deadlocks that are noticed while recording: programs that know who waits for whom (tests/java/Deadlocks.java) against
what the recording says."""
import pytest
from deadlock_truth import CYCLES, NEAR_MISSES, edges_of, said_by
from harness import LIBRARY, Program, Recorder, report, tarsier, wait_for_recording


def deadlocks_in(file):
    return report(file, view="locks")["locks"]["deadlocks"]


@pytest.mark.every_jvm
@pytest.mark.parametrize("kind, count", CYCLES)
def test_one_that_was_there_before_is_found(jdk, classes, tmp_path, kind, count):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Deadlocks", kind, count) as program:
        truth = said_by(program.ready())
        said = tarsier("record", "-d", "2s", "-o", file, program.pid).stdout
    found = deadlocks_in(file)
    assert [edges_of(deadlock) for deadlock in found] == [truth]
    edges = found[0]["edges"]
    assert all(edge["lock"]["held_by"] == after["thread"] for edge, after in zip(edges, edges[1:] + edges[:1]))
    assert all(edge["waits_in"].startswith("Deadlocks") for edge in edges), "no inside of locking"
    assert f"Deadlock of {count} threads" in said, "by record"
    assert f"Deadlock of {count} threads" in tarsier("report", file).stdout
    text = " ".join(tarsier("report", file, "--view", "locks").stdout.split())
    assert all(f"{thread} waits in" in text for thread, *_ in truth)


@pytest.mark.every_jvm
@pytest.mark.parametrize("kind", ["monitors", "locks", "mixed"])
@pytest.mark.parametrize("engine", ["--lock=blocked", "--lock"])
def test_one_that_comes_about_while_recording_is_found(jdk, classes, tmp_path, kind, engine):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Deadlocks", kind, 3, "later") as program:
        program.wait_for("WAITING")
        with Recorder(engine, "-o", file, program.pid) as recorder:
            wait_for_recording(file, recorder.process)
            program.tell("go")
            truth = said_by(program.ready())
            recorder.interrupt()
            recorder.finish()
    assert [edges_of(deadlock) for deadlock in deadlocks_in(file)] == [truth]


@pytest.mark.parametrize("options", [["-XX:+UseSerialGC"], ["-XX:+UseParallelGC"], ["-XX:+UseZGC"],
                                     ["-XX:+UseShenandoahGC"], ["-Xint"]])
@pytest.mark.every_jvm
def test_it_is_found_whatever_keeps_the_heap(jdk, classes, tmp_path, options):
    if jdk.major < 11 and options[0] in ("-XX:+UseZGC", "-XX:+UseShenandoahGC"):
        pytest.skip(f"{jdk} has no such collector")
    file = tmp_path / "out.jfr"
    # Objects are moved now and then.
    with Program(jdk, classes, "Deadlocks", "mixed", 3, "churn",
                 options=["-XX:+UnlockExperimentalVMOptions", "-Xmx64m", *options]) as program:
        truth = said_by(program.ready())
        tarsier("record", "-d", "2s", "-o", file, program.pid)
        assert program.process.poll() is None
    assert [edges_of(deadlock) for deadlock in deadlocks_in(file)] == [truth]


@pytest.mark.every_jvm
def test_a_jvm_that_checks_every_reference_has_nothing_to_complain_of(jdk, classes, tmp_path):
    """The class of a monitor's object is not told then, and some owners are not."""
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Deadlocks", "mixed", 3, options=["-Xcheck:jni"]) as program:
        truth = said_by(program.ready())
        before = len(program.lines)
        tarsier("record", "-d", "2s", "-o", file, program.pid)
        assert program.process.poll() is None
        assert not [line for line in program.lines[before:] if "ERROR" in line]
    for deadlock in deadlocks_in(file):
        assert {(thread, owner) for thread, _, _, owner in edges_of(deadlock)} == {
            (thread, owner) for thread, _, _, owner in truth}


def test_none_is_told_twice(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Deadlocks", "locks", 2) as program:
        program.ready()
        tarsier("record", "-d", "13s", "-o", file, program.pid)  # four looks
    assert len(deadlocks_in(file)) == 1


@pytest.mark.every_jvm
@pytest.mark.parametrize("kind", NEAR_MISSES)
def test_what_only_looks_like_one_is_none(jdk, classes, tmp_path, kind):
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Deadlocks", kind, 3) as program:
        program.ready()
        said = tarsier("record", "-d", "2s", "-o", file, program.pid).stdout
    assert deadlocks_in(file) == []
    assert "Deadlock" not in said


@pytest.mark.every_jvm
def test_threads_that_pass_locks_to_one_another_all_the_time_are_no_deadlock(jdk, classes, tmp_path):
    """Each look meets threads in the midst of it; taken together that may look like a circle."""
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "Deadlocks", "hot", 4) as program:
        program.ready()
        for _ in range(3):
            tarsier("record", "-d", "2s", "-o", file, program.pid)
            assert deadlocks_in(file) == []
        assert program.process.poll() is None


@pytest.mark.every_jvm
@pytest.mark.since(17)
@pytest.mark.parametrize("name", ["sensornet", "productlock"])
def test_no_workload_is_said_to_be_deadlocked(jdk, workloads, tmp_path, name):
    file = tmp_path / "out.jfr"
    with Program(jdk, workloads, "workloads.Harness", name, 1, 3,
                 options=[f"-agentpath:{LIBRARY}=lock,file={file}"]) as program:
        assert program.wait() == 0, program.errors
    assert deadlocks_in(file) == []
