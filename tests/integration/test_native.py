"""--native: native frames above Java frames and between them, with their names, and none that nobody knows; and those of
the JVM's own threads."""
import json
import re
import subprocess
import time

import pytest
from harness import (DEADLINE, LIBRARY, ROOT, STOLEN, Program, Recorder, cpu_by_thread, ebpf_allowed, engine, jdks, perf_allowed,
                     report, samples_by_jfr, wait_for_recording)

HERE = ROOT / "tests/integration"


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """The C and the C++ library that NativeBurn calls."""
    folder = tmp_path_factory.mktemp("native")
    include = jdks()[-1].home / "include"
    built = []
    for compiler, source, name in (("cc", "native_burn.c", "libburn.so"), ("c++", "native_names.cpp", "libnames.so")):
        subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{include}",
                        f"-I{include}/linux", "-o", str(folder / name), str(HERE / source)], check=True, timeout=DEADLINE)
        built.append(folder / name)
    return built


def burn(jdk, classes, file, libraries, words, options=()):
    """Records the program from its start; its own truth, as shares."""
    agent = f"-agentpath:{LIBRARY}=cpu,file={file}{words}"
    with Program(jdk, classes, "NativeBurn", *libraries, 4, options=[*options, agent]) as program:
        truth = json.loads(program.wait_for("truth ", 200))
        assert program.wait() == 0, program.errors
    return {name: spent / sum(truth.values()) for name, spent in truth.items()}


BURN_IN_C = ["libburn.so.burnInner", "libburn.so.burnOuter", "libburn.so.Java_NativeBurn_burnInC", "NativeBurn.burnInC",
             "NativeBurn.main"]
BURN_IN_CPP = ["libnames.so.(anonymous namespace)::Burner<long>::burn", "libnames.so.Java_NativeBurn_burnInCpp",
               "NativeBurn.burnInCpp", "NativeBurn.main"]
BEHIND_C = ["libburn.so.callBack", "libburn.so.Java_NativeBurn_burnBehindC", "NativeBurn.burnBehindC", "NativeBurn.main"]
# Nothing tells how burnUnknown is left, so nobody knows what lies behind burnInner.
BEHIND_UNKNOWN = ["libburn.so.burnInner", "[native]", "NativeBurn.burnBehindUnknown", "NativeBurn.main"]


def check_burning(samples, truth, tolerance):
    """Whose stack it is is told by its Java frames, which need no native ones; then those are compared."""
    def share_of(chosen):
        return sum(s.weight for s in chosen) / sum(s.weight for s in burning)

    burning = [s for s in samples if any(frame.startswith("NativeBurn.burn") for frame in s.frames)]
    for name, java, expected in (("c", "NativeBurn.burnInC", BURN_IN_C), ("cpp", "NativeBurn.burnInCpp", BURN_IN_CPP),
                                 ("unknown", "NativeBurn.burnBehindUnknown", BEHIND_UNKNOWN)):
        own = [s for s in burning if java in s.frames]
        assert tolerance is None or share_of(own) == pytest.approx(truth[name], abs=tolerance), name
        # What the C library and the kernel do for burnInner comes before it.
        right = [s for s in own if s.frames[-len(expected):] == expected
                 or (name == "unknown" and s.frames[-3:] == expected[-3:])]
        assert len(right) >= 0.97 * len(own) > 0, [s.frames for s in own if s not in right][:5]
    behind = [s for s in burning if "NativeBurn.burnInJava" in s.frames]
    assert tolerance is None or share_of(behind) == pytest.approx(truth["java"], abs=tolerance)
    between = [s.frames[s.frames.index("NativeBurn.burnInJava") + 1:] for s in behind]
    right = [frames for frames in between if frames[-len(BEHIND_C):] == BEHIND_C
             and len(frames) > len(BEHIND_C) and frames[0].startswith("libjvm.so.JavaCalls::call")
             and all(frame.startswith("libjvm.so.") for frame in frames[:-len(BEHIND_C)])]
    assert len(right) >= 0.99 * len(between) > 0, [frames for frames in between if frames not in right][:5]


def native_part(sample):
    """The frames above Java's, without the kernel's."""
    own = [name for name, kind in zip(sample.frames, sample.types) if kind != "Kernel"]
    java = next((i for i, name in enumerate(own) if ".so" not in name and name != "[native]"), len(own))
    return own[:java]


def check_quality(file, samples):
    """The account of native frames is right about the samples."""
    document = report(file, "quality")
    native = document["quality"]["native"]
    used = engine(document, "fragment")
    assert used["samples"]["taken"] == used["samples"]["written"] + sum(used["samples"]["dropped"].values())
    parts = [part for part in map(native_part, samples) if part]
    assert native["samples"] == len(parts)
    unknown = [part for part in parts if "[native]" in part]
    # Code outside of all libraries is left by its own instructions, and has no name.
    assert 0 <= len(unknown) - (native["samples"] - native["complete"]) <= 0.01 * len(parts), native
    assert native["between_complete"] >= 0.99 * native["between"] > 0, native
    assert document["quality"]["complete"] >= 0.99 * document["quality"]["samples"]


@pytest.mark.parametrize("clock", ["perf", "cputimer"])
@pytest.mark.parametrize("code", ["", "-Xint"])
def test_native_frames_come_with_the_java_frames(jdk, classes, libraries, tmp_path, clock, code):
    if clock == "perf" and not perf_allowed():
        pytest.skip("perf events are not permitted here (perf_event_paranoid, seccomp, emulation)")
    file = tmp_path / "out.jfr"
    truth = burn(jdk, classes, file, libraries, f",native,clock={clock}", [code] if code else [])
    samples = samples_by_jfr(jdk, file, depth=100)
    # CPU timers have a quarter of the samples, or less: too few for shares.
    check_burning(samples, truth, 0.03 if clock == "perf" else None)
    check_quality(file, samples)


def test_without_being_asked_for_there_are_none(jdk, classes, libraries, tmp_path):
    file = tmp_path / "out.jfr"
    burn(jdk, classes, file, libraries, ",interval=4ms")
    frames = {frame for sample in samples_by_jfr(jdk, file, depth=100) for frame in sample.frames}
    assert not {frame for frame in frames if "libburn" in frame or "JavaCalls" in frame}
    document = report(file, "quality")
    assert document["quality"]["native"] is None
    assert not [name for name in engine(document, "fragment")["counters"] if name.startswith("native")]


GC_THREADS = re.compile(r"^GC Thread|^G1 |^Gang worker|^GC task thread|^ParGC Thread")


@pytest.mark.parametrize("clock", ["perf", "cputimer", "ebpf", "perf-rings"])
def test_the_collector_shows_where_it_is(jdk, classes, tmp_path, clock):
    """Against the kernel's account of its threads."""
    if clock != "cputimer" and not perf_allowed():
        pytest.skip("perf events are not permitted here (perf_event_paranoid, seccomp, emulation)")
    if clock == "ebpf" and not ebpf_allowed():
        pytest.skip("no right to load eBPF programs here, or a kernel without types (BTF)")
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "GcHeavy", options=["-XX:+UseParallelGC", "-Xmx200m"]) as program:
        program.ready()
        with Recorder("--cpu", "--native", "--clock", clock, "-d", "60s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            time.sleep(1)  # until its threads are found
            before, begin = cpu_by_thread(program.pid), time.time()
            time.sleep(5)
            after, end = cpu_by_thread(program.pid), time.time()
            recorder.interrupt()
            recorder.finish()
    spent = sum(ns - before.get(thread, 0) for thread, ns in after.items() if GC_THREADS.match(thread[1]))
    assert spent > 3e8, "the program is no test of this"
    samples = [s for s in samples_by_jfr(jdk, file, depth=200) if s.thread and GC_THREADS.match(s.thread)]
    assert {s.frames[-1] for s in samples} == {"[GC]"}
    seen = sum(s.weight for s in samples if begin <= s.time <= end)
    # Under load the two looks at the clocks are not those of the first and the last sample.
    assert seen * 1e9 == pytest.approx(spent, rel=0.2) or STOLEN.is_much()
    # The first samples of each tell where its stack is.
    rooted = [s for s in samples if "[native]" not in s.frames and s.frames[-2].startswith("libc.so.6")
              and len([frame for frame in s.frames if frame.startswith("libjvm.so.")]) >= 3]
    assert len(rooted) >= 0.9 * len(samples) > 50, [s.frames for s in samples if s not in rooted][:5]
    document = report(file, "quality,threads,hot", "--top", "100000", "--min-share", "0")
    used = engine(document, "fragment")
    assert used["samples"]["taken"] == used["samples"]["written"] + sum(used["samples"]["dropped"].values())
    # What was sampled is not shown a second time as a sum.
    unsampled = [row for row in document["hot"] if row["method"] == "[GC]"]
    assert sum(row["self"] for row in unsampled) < 0.1, unsampled


def test_the_compilers_show_where_they_are(jdk, classes, tmp_path):
    """From the start of a JVM, when they have most to do."""
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,native,file={file}"
    with Program(jdk, classes, "JvmCalls", 3, options=["-Xcomp", agent]) as program:
        assert program.wait() == 0, program.errors
    samples = [s for s in samples_by_jfr(jdk, file, depth=300) if s.thread and re.match(r"C[12] Compiler", s.thread)]
    compiling = [s for s in samples if any("CompileBroker::" in frame for frame in s.frames)]
    assert len(compiling) >= 0.9 * len(samples) > 50, [s.frames for s in samples if s not in compiling][:5]
    assert {s.frames[-1] for s in samples} == {"[JIT]"}
