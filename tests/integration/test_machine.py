"""What the machine gives to threads and takes from them: resources, kinds, counters, and stolen time on a made-up
machine."""
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import xml.etree.ElementTree

import pytest
from harness import (DEADLINE, LIBRARY, Program, Recorder, engine, perf_allowed, report, tarsier, threads_of,
                     wait_for_recording)
from test_exit_codes import needs_root, open_folder, program_as_nobody, record_as, wait_until_ready  # noqa: F401

SLEEPS, PAGES = 400, 20_000  # of Resources.java
EVERYTHING = ("--top", "1000000")


def recorded(jdk, classes, file, *arguments, agent="cpu", options=()):
    """The program's own truth."""
    agent = f"-agentpath:{LIBRARY}={agent},file={file}"
    with Program(jdk, classes, "Resources", *arguments, options=["-XX:+UseSerialGC", *options, agent]) as program:
        truth = json.loads(program.wait_for("truth "))
        assert program.wait() == 0
    return truth


def by_name(document):
    return {row["name"]: row for row in document["threads"]}


def summary(jdk, file):
    lines = subprocess.run([jdk.tool("jfr"), "summary", file], capture_output=True, text=True, check=True).stdout
    return {m[1]: int(m[2]) for m in re.finditer(r"^ *(\S+\.\S+) +(\d+) +\d+ *$", lines, re.M)}


@pytest.mark.every_jvm
def test_threads_have_the_resources_that_they_used(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    truth = recorded(jdk, classes, file, 1000, 0)
    document = report(file, "threads,steal", *EVERYTHING)
    rows = by_name(document)
    for name, used in truth.items():
        # It goes on for a moment after it has looked at its clock.
        assert rows[name]["cpu_ns"] == pytest.approx(used["cpu"], rel=0.02, abs=20e6), name
        system = used["cpu"] - used["user"]
        # Both are in the kernel's ticks.
        assert rows[name]["resources"]["system_ns"] == pytest.approx(system, rel=0.1, abs=60e6), name
        assert rows[name]["kind"] == "app"
    system_share = {name: rows[name]["resources"]["system_ns"] / rows[name]["cpu_ns"] for name in ("computes", "reads")}
    assert system_share["computes"] < 0.3 < system_share["reads"], system_share
    assert rows["sleeps"]["resources"]["voluntary_switches"] >= SLEEPS
    page = os.sysconf("SC_PAGE_SIZE")
    # Unless the kernel gives memory in huge pages.
    if rows["touches"]["resources"]["minor_faults"] < PAGES * 4096 / page / 20:
        assert rows["touches"]["resources"]["minor_faults"] > 10
    assert all(row["resources"]["run_queue_ns"] is not None for name, row in rows.items() if name in truth)
    tarsier("export", file, "--to", "svg", "-o", tmp_path / "cpus.svg")
    picture = xml.etree.ElementTree.parse(tmp_path / "cpus.svg").getroot()
    words = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "application" in words and "JIT" in words
    # All threads together are the process.
    of_threads = sum(row["cpu_ns"] for row in document["threads"])
    assert of_threads == pytest.approx(document["steal"]["process_cpu_ns"], rel=0.01, abs=10e6)


def test_ten_thousand_threads_are_all_accounted_for(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    recorded(jdk, classes, file, 10, 10_000)
    document = report(file, "threads,steal", *EVERYTHING)
    short = [row for row in document["threads"] if row["name"].startswith("short-")]
    assert len({row["name"] for row in short}) == 10_000
    assert {row["kind"] for row in short} == {"app"} and {row["pool"] for row in short} == {"short-*"}
    assert all(row["cpu_by"] == "kernel" and row["cpu_ns"] > 0 for row in short)
    of_threads = sum(row["cpu_ns"] for row in document["threads"])
    assert of_threads == pytest.approx(document["steal"]["process_cpu_ns"], rel=0.01, abs=10e6)
    counts = summary(jdk, file)
    assert counts["jdk.ThreadStart"] >= 10_000 and counts["jdk.ThreadEnd"] >= 10_000
    assert counts["jdk.ThreadCPULoad"] > 0


# Who is who, by the JVM's own thread dump: (of its name, kind).
WHO = [(r"^(GC |G1 |ParGC|Gang|Z[A-Z]|X[A-Z]|Shen|RuntimeWorker|CMS|Concurrent Mark|StrDedup|String ?Dedup)", "gc"),
       (r"^(C[12] Comp|Sweeper)", "jit"),
       (r"^(VM |Service|Monitor Defl|Signal Disp|Attach List|Reference Hand|Finalizer|Common-Cl|Notification|Surrogate)",
        "vm"),
       (r"^JFR", "jfr"), (r"^tarsier", "tarsier")]
COLLECTORS = {"serial": ["+UseSerialGC"], "parallel": ["+UseParallelGC"], "cms": ["+UseConcMarkSweepGC"],
              "g1": ["+UseG1GC", "+UseStringDeduplication"], "z": ["+UseZGC"], "generational z": ["+UseZGC", "+ZGenerational"],
              "shenandoah": ["+UseShenandoahGC"],
              "generational shenandoah": ["+UseShenandoahGC", "ShenandoahGCMode=generational"]}


@pytest.mark.every_jvm
@pytest.mark.parametrize("collector", COLLECTORS)
def test_every_thread_has_its_kind(jdk, classes, tmp_path, collector):
    flags = ["-XX:+UnlockExperimentalVMOptions", *(f"-XX:{flag}" for flag in COLLECTORS[collector])]
    if subprocess.run([jdk.tool("java"), *flags, "-version"], capture_output=True).returncode != 0:
        pytest.skip(f"this JVM has no {collector} collector")
    file = tmp_path / "out.jfr"
    recording = [] if jdk.major == 8 else [f"-XX:StartFlightRecording=filename={tmp_path}/jdk.jfr"]
    with Program(jdk, classes, "GcHeavy", options=[*flags, "-Xmx200m", *recording]) as program:
        program.ready()
        with Recorder("--cpu", "-d", "30s", "-o", file, program.pid) as recorder:
            wait_for_recording(file)
            time.sleep(2)
            dump = subprocess.run([jdk.tool("jstack"), str(program.pid)], capture_output=True, text=True).stdout
            named = threads_of(program.pid)
            recorder.interrupt()
            recorder.finish()
    # "name" #12 ... nid=0x1a2b or nid=1234 (22 and later)
    tids = {int(m[3], 0): (m[1], bool(m[2]))
            for m in re.finditer(r'^"(.*?)"( #\d+)?.*? nid=(0x[0-9a-f]+|\d+)', dump, re.M)}
    assert len(tids) > 10, dump
    checked = 0
    for row in report(file, "threads", *EVERYTHING)["threads"]:
        # Some of the JVM's own are in no dump, but have a name. (In 11 the flight recorder's sampler has neither.)
        name, is_java = tids.get(row["tid"], (named.get(row["tid"], ""), False))
        expected = next((kind for pattern, kind in WHO if re.search(pattern, name)), "app" if is_java else "other")
        if row["tid"] not in tids and expected == "other":
            continue
        assert row["kind"] == expected, (name, row)
        checked += 1
        # Who has used CPU time and does not now has left a CPU, and be it after microseconds.
        used = row["resources"]
        assert row["cpu_ns"] == 0 or used["voluntary_switches"] + used["involuntary_switches"] > 0, row
    assert checked >= 5, tids


def made_up_machine(folder, stop, truth):
    """A machine of four CPUs of which a third is stolen, told as the kernel would: without being late."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))  # of this thread
    except PermissionError:
        pass
    begin = time.monotonic()
    while True:
        elapsed = time.monotonic() - begin
        busy, idle, steal = (int(1_000_000 + elapsed * cpus * 100) for cpus in (2, 1, 1))
        with open(folder / "stat.new", "w") as file:
            file.write(f"cpu  {busy} 0 0 {idle} 0 0 0 {steal} 0 0\n")
        # In place: whoever reads has the file open.
        with open(folder / "stat.new") as new, open(folder / "stat", "r+" if (folder / "stat").exists() else "w") as file:
            file.write(new.read())
        truth["steal"] = (steal - 1_000_000) * 10_000_000
        if stop.wait(0.02):
            return


@pytest.mark.parametrize("account", ["1s", "100ms", "10ms"])
def test_stolen_time_is_split_by_cpu_time(jdk, classes, tmp_path, account):
    stop, machine = threading.Event(), {}
    teller = threading.Thread(target=made_up_machine, args=(tmp_path, stop, machine))
    teller.start()
    try:
        while not (tmp_path / "stat").exists():
            time.sleep(0.01)
        file = tmp_path / "out.jfr"
        before = machine.get("steal", 0)
        recorded(jdk, classes, file, 1500, 0, agent=f"cpu,account={account},procfs={tmp_path}")
        after = machine["steal"]
    finally:
        stop.set()
        teller.join()
    document = report(file, "steal,threads", *EVERYTHING)
    steal = document["steal"]
    assert 0 < steal["stolen_ns"] <= after - before + 30e6
    assert steal["stolen_ns"] == steal["threads_ns"] + steal["others_ns"] + steal["remainder_ns"]
    assert str(tmp_path) in steal["source"]
    assert steal["threads_ns"] == pytest.approx(sum(row["steal_ns"] for row in steal["threads"]), abs=1000)
    # The two that run all the time lose by their CPU time, and get what is due: half of what they used, or a third of
    # it if the kernel counts it as theirs.
    rows = {row["name"]: row for row in steal["threads"]}
    for name in ("computes", "reads"):
        row = rows[name]
        lost = row["steal_ns"] / row["cpu_ns"]
        assert lost == pytest.approx(1 / 3 if steal["in_cpu_time"] else 1 / 2, rel=0.25), row
        assert row["corrected_ns"] == row["cpu_ns"] - (row["steal_ns"] if steal["in_cpu_time"] else 0)
    assert any("hypervisor took" in line for line in document["verdict"])


def tid_of(pid, name):
    """Of a thread of that name, once it is there."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            try:
                if (task / "comm").read_text().strip() == name:
                    return int(task.name)
            except OSError:
                pass  # it has just ended
        time.sleep(0.01)
    raise AssertionError(f"no thread {name}")


@pytest.mark.parametrize("account", ["1s", "100ms"])
def test_by_schedule_only_those_lose_that_were_on_the_cpu(jdk, classes, tmp_path, account):
    """One thread on a CPU from which half is taken, from the moment on at which it is there; another on one that keeps
    all its time."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU only")
    calm, robbed = cpus[:2]
    stat = tmp_path / "stat"

    def tell(seconds_stolen):
        ticks = int(seconds_stolen * 100)
        lines = ["cpu  1000000 0 0 1000000 0 0 0 %07d 0 0" % ticks]
        lines += ["cpu%d 100000 0 0 100000 0 0 0 %07d 0 0" % (cpu, ticks if cpu == robbed else 0) for cpu in cpus]
        with open(stat, "r+" if stat.exists() else "w") as file:
            file.write("\n".join(lines) + "\n")

    tell(0)
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,account={account},stealby=schedule,procfs={tmp_path},file={file}"
    with Program(jdk, classes, "Resources", 2000, 0, options=["-XX:+UseSerialGC", agent]) as program:
        os.sched_setaffinity(tid_of(program.pid, "computes"), {calm})
        os.sched_setaffinity(tid_of(program.pid, "reads"), {robbed})
        begin = time.monotonic()
        while program.process.poll() is None:
            tell((time.monotonic() - begin) / 2)
            time.sleep(0.02)
        assert program.process.returncode == 0, program.errors
    document = report(file, "steal,threads", *EVERYTHING)
    if "eBPF on sched_switch" not in document["steal"]["source"]:
        pytest.skip(document["steal"]["source"])
    rows = {row["name"]: row for row in document["steal"]["threads"]}
    computes, reads = rows["computes"], rows["reads"]
    assert reads["steal_scheduled_ns"] > 20 * computes["steal_scheduled_ns"], (computes, reads)
    # It had the CPU for itself, or with others that lost the rest.
    assert 0.1e9 < reads["steal_scheduled_ns"] <= document["steal"]["stolen_ns"]
    assert computes["steal_ns"] > reads["steal_ns"] / 20, "nobody could tell by CPU time alone"
    total = sum(row["steal_scheduled_ns"] for row in document["steal"]["threads"])
    assert total <= document["steal"]["stolen_ns"]
    # A profile without it: of the one less than of the other.
    kept = {}
    for weight in ("cpu", "corrected"):
        lines = report(file, "threads", "--weight", weight, *EVERYTHING)["threads"]
        kept[weight] = {line["name"]: line["cpu_ns"] for line in lines}
    lost = {name: kept["cpu"][name] - kept["corrected"][name] for name in ("computes", "reads")}
    if document["steal"]["in_cpu_time"]:
        assert lost["reads"] == reads["steal_scheduled_ns"] and lost["computes"] == computes["steal_scheduled_ns"]
    else:
        assert lost == {"computes": 0, "reads": 0}


def test_without_the_right_to_it_the_schedule_is_missed_with_a_word(jdk, classes, tmp_path):
    file = tmp_path / "out.jfr"
    java = [jdk.tool("java"), f"-agentpath:{LIBRARY}=cpu,stealby=schedule,file={file}", "-cp", classes, "Resources"]
    # Nobody who may not load programs into the kernel can be told by their user alone.
    without_rights = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    subprocess.run([*without_rights, *java, "200", "0"], check=True, timeout=DEADLINE, capture_output=True)
    steal = report(file, "steal")["steal"]
    assert "who was on which CPU is not known" in steal["source"]
    assert all(row["steal_scheduled_ns"] is None for row in steal["threads"])


@needs_root
def test_the_schedule_is_lent_to_a_jvm_without_the_right(jdk, open_folder):  # noqa: F811
    file = open_folder / "x.jfr"
    with program_as_nobody(jdk, open_folder) as program:
        try:
            wait_until_ready(program)
            recorder = record_as(None, open_folder, "--cpu", "--steal-by", "schedule", "-d", "4s", "-o", file, program.pid)
            _, errors = recorder.communicate(timeout=DEADLINE)
            assert recorder.returncode == 0, errors
            alone = record_as("nobody", open_folder, "--cpu", "--steal-by", "schedule", "-d", "1s", "-o",
                              open_folder / "y.jfr", program.pid)
            _, errors = alone.communicate(timeout=DEADLINE)
            assert alone.returncode == 0, errors
        finally:
            program.kill()
    assert "stolen time is split by CPU time alone" in errors, errors
    lent, missed = (report(each, "steal", *EVERYTHING)["steal"] for each in (file, open_folder / "y.jfr"))
    if "eBPF on sched_switch" not in lent["source"]:
        pytest.skip(lent["source"])
    assert lent["threads"] and all(row["steal_scheduled_ns"] is not None for row in lent["threads"])
    assert "who was on which CPU is not known" in missed["source"]


def test_without_steal_there_is_none(jdk, classes, tmp_path):
    (tmp_path / "stat").write_text("cpu  100 0 0 100 0 0 0 0 0 0\n")
    file = tmp_path / "out.jfr"
    recorded(jdk, classes, file, 200, 0, agent=f"cpu,procfs={tmp_path}")
    document = report(file, "steal")
    assert document["steal"]["stolen_ns"] == 0
    assert all(row["steal_ns"] == 0 for row in document["steal"]["threads"])
    assert not any("hypervisor" in line for line in document["verdict"])


def test_a_machine_that_does_not_tell(jdk, classes, tmp_path):
    (tmp_path / "stat").write_text("no such thing\n")
    file = tmp_path / "out.jfr"
    recorded(jdk, classes, file, 200, 0, agent=f"cpu,procfs={tmp_path}")
    assert report(file, "steal")["steal"] is None
    assert by_name(report(file, "threads", *EVERYTHING))["computes"]["steal_ns"] is None
    assert "not recorded" in tarsier("report", file, "--view", "steal").stdout


def test_counters_of_the_kernel_agree_with_its_accounts(jdk, classes, tmp_path):
    if not perf_allowed():
        pytest.skip("perf events are not permitted here")
    file = tmp_path / "out.jfr"
    recorded(jdk, classes, file, 500, 100, agent="cpu,counters=context-switches+page-faults+cycles")
    document = report(file, "threads", *EVERYTHING)
    rows = by_name(document)
    for name in ("computes", "reads", "sleeps", "touches"):
        resources, counters = rows[name]["resources"], rows[name]["counters"]
        switches = resources["voluntary_switches"] + resources["involuntary_switches"]
        assert counters["context-switches"] == pytest.approx(switches, rel=0.1, abs=10), rows[name]
        faults = resources["minor_faults"] + resources["major_faults"]
        assert counters["page-faults"] == pytest.approx(faults, rel=0.2, abs=60), rows[name]
    assert any(row["kind"] == "jit" and row["counters"] for row in document["threads"])
    why = engine(document, "counters")["why"]
    has_pmu = "cycles" in rows["computes"]["counters"]
    assert has_pmu or re.search(r"without cycles: .*PMU", why), why


def test_a_counter_that_does_not_exist_is_refused(jdk, classes, tmp_path):
    with Program(jdk, classes, "GcHeavy", options=["-Xmx200m"]) as program:
        program.ready()
        refused = tarsier("record", "-d", "1s", "-o", tmp_path / "out.jfr", "--counters=cycles,nonsense", program.pid,
                          expect=2)
    assert "nonsense" in refused.stderr and "context-switches" in refused.stderr
    assert not (tmp_path / "out.jfr").exists()
