"""tarsier doctor on real JVMs and on machines that forbid things."""
import ctypes
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import jsonschema
import pytest
from harness import ROOT, TARSIER, Program, Recorder, jdks, tarsier, wait_for_recording

SCHEMA = json.loads((ROOT / "docs/doctor.schema.json").read_text())
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")


def parsed(text):
    document = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    for checks in (document["machine"], document["jvm"] and document["jvm"]["checks"]):
        names = [check["name"] for check in checks or ()]
        assert len(names) == len(set(names))
    return ({check["name"]: check for check in document["machine"]},
            document["jvm"] and {check["name"]: check for check in document["jvm"]["checks"]})


def doctor(*arguments):
    return parsed(tarsier("doctor", "--json", *arguments).stdout)


def run(preexec, *arguments, cwd=None):
    """doctor as a process that first did something to itself."""
    done = subprocess.run([str(TARSIER.resolve()), "doctor", "--json", *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, preexec_fn=preexec, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return parsed(done.stdout)


def forbid_perf():
    """A seccomp filter, as containers have it: perf_event_open gives EPERM, all else is allowed."""
    number = {"aarch64": 241, "x86_64": 298}[os.uname().machine]
    load, equal, answer = 0x20, 0x15, 0x06
    code = [(load, 0, 0, 0), (equal, 0, 1, number), (answer, 0, 0, 0x00050001), (answer, 0, 0, 0x7fff0000)]
    program = b"".join(struct.pack("HBBI", *line) for line in code)
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, header, 0, 0) == 0


def test_the_machine_alone(tmp_path):
    machine, jvm = doctor()
    assert jvm is None
    assert os.uname().release in machine["kernel"]["found"] and machine["agent"]["status"] == "ok"
    text = tarsier("doctor").stdout
    for name, check in machine.items():
        assert re.search(rf"^  {check['status']} +{name} ", text, re.MULTILINE), name
        for part in ("meaning", "fix"):
            assert not check[part] or check[part] in text, (name, part)
    assert re.search(r"^\d+ problems?, \d+ notes?$", text, re.MULTILINE)


def test_a_jvm_as_it_is(jdk, classes):
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        _, jvm = doctor(program.pid)
        for name in ("jvm", "architecture", "libc", "user", "namespaces", "attach", "symbols", "jfr", "recording",
                     "jvm-limits"):
            assert jvm[name]["status"] == "ok", jvm[name]
        assert "KnownAnswer" in jvm["jvm"]["found"] and str(jdk.major) in jvm["jvm"]["found"]
        assert "AsyncGetCallTrace" in jvm["symbols"]["found"] and "vmStructs" in jvm["symbols"]["found"]
        assert jvm["agent-loading"]["status"] == ("note" if jdk.major >= 21 else "ok")
        assert "DebugNonSafepoints is off" == jvm["debug-info"]["found"], "read from its memory"
        assert not pathlib.Path(f"/tmp/.java_pid{program.pid}").exists(), "the JVM was asked to listen"
        maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text()
        assert "libtarsier" not in maps, "something was loaded"


def test_flags_that_no_command_line_shows(jdk, classes, tmp_path):
    if jdk.major < 9:
        pytest.skip("8 knows no argument files")
    arguments = tmp_path / "arguments"
    arguments.write_text("-XX:-UsePerfData -XX:+DisableAttachMechanism -XX:+UnlockDiagnosticVMOptions "
                         "-XX:+DebugNonSafepoints")
    with Program(jdk, classes, "KnownAnswer", options=[f"@{arguments}"]) as program:
        program.ready()
        _, jvm = doctor(program.pid)
        assert jvm["debug-info"]["status"] == "ok" and jvm["perf-data"]["status"] == "note"
        assert jvm["attach"]["status"] == "problem" and "+DisableAttachMechanism" in jvm["attach"]["found"]


def test_a_jvm_that_forbids_attaching(jdk, classes, tmp_path):
    with Program(jdk, classes, "KnownAnswer", options=["-XX:+DisableAttachMechanism"]) as program:
        program.ready()
        _, jvm = doctor(program.pid)
        assert jvm["attach"]["status"] == "problem" and "tarsier record -- java" in jvm["attach"]["fix"]
        done = tarsier("record", "-d", "1s", "-o", tmp_path / "x.jfr", program.pid, expect=4)
        assert f"tarsier doctor {program.pid}" in done.stderr


def test_company_is_seen(classes, tmp_path):
    jdk = jdks()[-1]
    with Program(jdk, classes, "KnownAnswer",
                 options=["-XX:StartFlightRecording", "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n"]) as program:
        program.ready()
        _, jvm = doctor(program.pid)
        assert jvm["jfr"]["status"] == "note" and jvm["agents"]["status"] == "note"
        assert "JDWP" in jvm["agents"]["found"]
        file = tmp_path / "x.jfr"
        with Recorder("-o", file, program.pid) as recorder:
            wait_for_recording(file)
            _, jvm = doctor(program.pid)
            assert jvm["recording"]["status"] == "problem", jvm["recording"]
            recorder.interrupt()
            recorder.finish()
        _, jvm = doctor(program.pid)
        assert jvm["recording"]["status"] == "ok" and "libtarsier.so" in jvm["recording"]["found"]


def test_perf_forbidden_by_seccomp():
    machine, _ = run(forbid_perf)
    assert machine["seccomp"]["status"] == "note" and machine["perf"]["status"] == "note"
    assert "Operation not permitted" in machine["perf"]["found"] and "seccomp" in machine["perf"]["fix"]
    assert "cputimer" in machine["perf"]["meaning"] and "timekeeper" in machine["perf"]["meaning"]
    assert machine["counters"]["status"] == "note" and "seccomp" in machine["counters"]["fix"]
    assert "in every recording" in machine["counters"]["meaning"], "what there is without"


def test_low_limits(classes):
    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (50, 50))

    machine, _ = run(lower)
    assert machine["limits"]["status"] == "note" and "100 descriptors, 50 pending" in machine["limits"]["found"]
    jdk = jdks()[0]
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        subprocess.run(["prlimit", "--pid", str(program.pid), "--nofile=100:100"], check=True)
        checks = doctor(program.pid)
        if checks[0]["perf"]["status"] == "ok":
            limits = checks[1]["jvm-limits"]
            assert limits["status"] == "note" and f"prlimit --pid {program.pid}" in limits["fix"]


@needs_root
def test_another_user_sees_what_it_may(classes, tmp_path):
    def become_nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    with Program(jdks()[0], classes, "KnownAnswer") as program:
        program.ready()
        try:
            machine, jvm = run(become_nobody, program.pid, cwd="/tmp")
        except PermissionError:
            pytest.skip("the build lies where others may not look")
        assert "no capabilities" in machine["privileges"]["found"]
        assert jvm["user"]["status"] == "problem" and jvm["user"]["fix"].startswith("sudo")
        assert jvm["attach"]["status"] == "problem"
        assert jvm["symbols"]["status"] == "note" and "not known" in jvm["symbols"]["found"]
        assert machine["waits"]["status"] == "note" and "--waits works without" in machine["waits"]["meaning"]
        if "can't be loaded" in machine["waits"]["found"]:
            assert "sudo tarsier record --waits --waits-by ebpf" in machine["waits"]["fix"]


@needs_root
def test_what_is_lent_to_a_jvm_without_rights_and_what_is_not(classes, tmp_path):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tarsier-test-", dir="/tmp"))
    try:
        shutil.copytree(classes, folder / "classes")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)
        with Program(jdks()[0], folder / "classes", "KnownAnswer") as program_of_root:
            program_of_root.ready()
            _, privileged = doctor(program_of_root.pid)
        wrapper = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        program = Program(jdks()[0], folder / "classes", "KnownAnswer")
        program.command = [*wrapper, *program.command]
        with program:
            program.ready()
            machine, jvm = doctor(program.pid)
    finally:
        shutil.rmtree(folder)
    if machine["waits"]["found"] != "eBPF programs can be loaded":
        pytest.skip("root may not load eBPF programs here")
    assert "the JVM has the rights" in privileged["jvm-waits"]["found"] and privileged["jvm-counters"]["status"] == "ok"
    assert jvm["jvm-waits"]["status"] == "ok" and "lends" in jvm["jvm-waits"]["found"]
    paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    assert jvm["jvm-counters"]["status"] == ("ok" if paranoid <= 1 else "note"), jvm["jvm-counters"]
    if paranoid > 1:
        assert "whoever records" in jvm["jvm-counters"]["meaning"], "the command's rights are no help"


def test_no_such_jvm_exits_3():
    assert "999999999" in tarsier("doctor", "999999999", expect=3).stderr
    assert "NoSuchMain" in tarsier("doctor", "NoSuchMain", expect=3).stderr
    with subprocess.Popen(["sleep", "60"]) as process:
        time.sleep(0.2)
        assert "not a JVM" in tarsier("doctor", process.pid, expect=3).stderr
        process.send_signal(signal.SIGKILL)
