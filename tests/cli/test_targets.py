"""JVMs that can't be attached to, processes that are none, and how a target is named. Nobody may be hurt."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import uuid

import jsonschema
import pytest
from harness import ROOT, TARSIER, Program, jdks, tarsier, wait_until

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")


def ps():
    document = json.loads(tarsier("ps", "--json").stdout)
    jsonschema.validate(document, json.loads((ROOT / "docs/ps.schema.json").read_text()))
    return {jvm["pid"]: jvm for jvm in document["jvms"]}


def refused(tmp_path, target, expect):
    done = tarsier("record", "-d", "1s", "-o", tmp_path / "x.jfr", target, expect=expect)
    assert not list(tmp_path.iterdir()), "a refused recording leaves nothing"
    return done.stderr


def test_ps_describes_a_jvm(jdk, classes):
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        jvm = ps()[program.pid]
        assert jvm["main"] == "KnownAnswer" and jvm["can_attach"] and jvm["why_not"] is None
        if jvm["version"] is None:
            assert not (jdk.home / "release").exists()  # Debian's 8: then nothing tells without asking the JVM
        else:
            assert int(jvm["version"].removeprefix("1.").split(".")[0]) == jdk.major
        assert 0 <= jvm["uptime_s"] < 600 and not jvm["own_root"]
        row = [line.split() for line in tarsier("ps").stdout.splitlines() if line.startswith(f"{program.pid} ")]
        assert row and row[0][-1] == "KnownAnswer" and row[0][-2] == "yes"
    assert program.pid not in ps()


def test_ps_needs_no_perf_data(jdk, classes):
    with Program(jdk, classes, "KnownAnswer", options=["-XX:-UsePerfData"]) as program:
        program.ready()
        jvm = ps()[program.pid]
        assert jvm["main"] == "KnownAnswer"
        if jvm["version"] is None:
            assert not (jdk.home / "release").exists()  # Debian's 8: then nothing tells without asking the JVM
        else:
            assert int(jvm["version"].removeprefix("1.").split(".")[0]) == jdk.major


@pytest.mark.parametrize("options, parts", [
    (["-XX:+DisableAttachMechanism"], ["-XX:+DisableAttachMechanism", "tarsier record -- java"]),
    (["-XX:-UsePerfData", "-XX:+DisableAttachMechanism"], ["-XX:+DisableAttachMechanism"]),
    (["-XX:-EnableDynamicAgentLoading"], ["-XX:-EnableDynamicAgentLoading"]),
])
def test_a_jvm_that_forbids_it_is_left_alone(jdk, classes, tmp_path, options, parts):
    if jdk.major < 9 and "-XX:-EnableDynamicAgentLoading" in options:
        pytest.skip("8 does not know -XX:-EnableDynamicAgentLoading")
    with Program(jdk, classes, "KnownAnswer", options=options) as program:
        program.ready()
        words = refused(tmp_path, program.pid, expect=4)
        assert all(part in words for part in [str(program.pid), *parts]), words
        why = ps()[program.pid]["why_not"]
        assert parts[0] in why
        time.sleep(0.3)
        assert program.process.poll() is None
        assert not any("Full thread dump" in line for line in program.lines), "it was sent SIGQUIT"


def test_a_flag_hidden_in_a_file_is_told_by_the_jvm(jdk, classes, tmp_path):
    if jdk.major < 9:
        pytest.skip("8 knows no argument files")
    arguments = tmp_path / "arguments"
    arguments.write_text("-XX:-UsePerfData -XX:-EnableDynamicAgentLoading")
    with Program(jdk, classes, "KnownAnswer", options=[f"@{arguments}"]) as program:
        program.ready()
        done = tarsier("record", "-d", "1s", "-o", tmp_path / "x.jfr", program.pid, expect=4)
        assert "-XX:-EnableDynamicAgentLoading" in done.stderr
        assert program.process.poll() is None


def test_a_jvm_with_reduced_signals_survives_and_is_recorded(jdk, classes, tmp_path):
    with Program(jdk, classes, "KnownAnswer", options=["-Xrs"]) as program:
        program.ready()
        tarsier("record", "-d", "500ms", "-o", tmp_path / "x.jfr", program.pid)
        assert program.process.poll() is None
        # Without its socket it can't be asked, and SIGQUIT would kill it.
        pathlib.Path(f"/tmp/.java_pid{program.pid}").unlink()
        done = tarsier("record", "-d", "500ms", "-o", tmp_path / "y.jfr", program.pid, expect=4)
        assert "-Xrs" in done.stderr
        time.sleep(0.3)
        assert program.process.poll() is None


def test_a_stopped_jvm_is_not_waited_for(jdk, classes, tmp_path):
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        program.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: "T (stopped)" in pathlib.Path(f"/proc/{program.pid}/status").read_text(), "it is stopped")
        assert "kill -CONT" in refused(tmp_path, program.pid, expect=4)
        program.process.send_signal(signal.SIGCONT)


def test_a_stale_attach_socket_is_no_obstacle(classes, tmp_path):
    jdk = jdks()[0]
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        # As a killed process with that pid would have left it: bound once, nobody listens.
        import socket
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(f"/tmp/.java_pid{program.pid}")
        tarsier("record", "-d", "500ms", "-o", tmp_path / "x.jfr", program.pid)


@pytest.mark.parametrize("command", [["sleep", "60"], ["/usr/bin/python3", "-c", "import time; time.sleep(60)"]])
def test_a_process_that_is_no_jvm_survives(tmp_path, command):
    with subprocess.Popen(command) as process:
        try:
            time.sleep(0.3)
            words = refused(tmp_path, process.pid, expect=3)
            assert str(process.pid) in words and "not a JVM" in words
            time.sleep(0.3)
            assert process.poll() is None, "it was killed"
        finally:
            process.kill()


MAPS_FILES = """
import mmap, signal, sys, time
signal.signal(signal.SIGQUIT, lambda *_: print("signalled", flush=True))
files = [open(name, "rb") for name in sys.argv[1:]]
maps = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) for file in files]
print("READY", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("library, words", [("ld-musl-x86_64.so.1", ["musl", "does not work there yet"]),
                                            (None, ["another architecture"])], ids=["musl", "other-architecture"])
def test_a_jvm_that_can_not_load_the_agent_is_left_alone(jdk, tmp_path, tmp_path_factory, library, words):
    """Played by a process that maps the files that such a JVM maps."""
    folder = tmp_path_factory.mktemp("jvm")
    libjvm = folder / "lib/server/libjvm.so"
    libjvm.parent.mkdir(parents=True)
    shutil.copy(jdk.libjvm, libjvm)
    files = [libjvm]
    if library:
        files.append(folder / library)
        files[1].write_bytes(b"x" * 4096)
    else:
        with open(libjvm, "r+b") as file:
            file.seek(18)  # e_machine
            file.write((40).to_bytes(2, "little"))  # 32-bit ARM
    with subprocess.Popen(["/usr/bin/python3", "-c", MAPS_FILES, *files], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "READY\n"
            said = refused(tmp_path, process.pid, expect=4)
            assert all(word in said for word in words), said
            assert process.poll() is None and not ps()[process.pid]["can_attach"]
        finally:
            process.kill()
        assert process.stdout.read() == "", "it got a signal"


def test_a_program_that_only_calls_itself_java_survives(tmp_path):
    fake = tmp_path / "bin" / "java"
    fake.parent.mkdir()
    fake.symlink_to("/usr/bin/sleep")
    with subprocess.Popen([fake, "60"]) as process:
        try:
            time.sleep(0.3)
            done = tarsier("record", "-d", "1s", "-o", tmp_path / "x.jfr", process.pid, expect=3)
            assert "not a JVM" in done.stderr
            assert process.poll() is None
        finally:
            process.kill()


@pytest.mark.parametrize("target", ["999999999", "99999999999999999999", "0", "NoSuchMain"])
def test_no_such_jvm_exits_3(tmp_path, target):
    assert target in refused(tmp_path, target, expect=3)


def test_a_name_means_a_part_of_the_main_class(classes, tmp_path):
    jdk = jdks()[0]
    # A name that no other JVM of this machine has.
    name = "Named" + uuid.uuid4().hex
    source = tmp_path / f"{name}.java"
    source.write_text(f"class {name} {{ public static void main(String[] a) throws Throwable "
                      "{ KnownAnswer.main(a); } }")
    subprocess.run([jdk.tool("javac"), "-cp", classes, "-d", tmp_path, source], check=True, timeout=60)
    path = f"{tmp_path}:{classes}"
    with Program(jdk, path, name) as one:
        one.ready()
        tarsier("record", "-d", "500ms", "-o", tmp_path / "x.jfr", name[2:-2].upper())
        with Program(jdk, path, name) as other:
            other.ready()
            done = tarsier("record", "-d", "500ms", "-o", tmp_path / "y.jfr", name, expect=2)
            assert str(one.pid) in done.stderr and str(other.pid) in done.stderr
    assert not (tmp_path / "y.jfr").exists()


@needs_root
def test_another_users_jvm_is_seen_but_not_touched(classes, tmp_path):
    stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(TARSIER.resolve())]
    jdk = jdks()[0]
    with Program(jdk, classes, "KnownAnswer") as program:
        program.ready()
        listed = subprocess.run([*stranger, "ps", "--json"], capture_output=True, text=True, timeout=60)
        if listed.returncode == 126 or "ermission denied" in listed.stderr:
            pytest.skip("the build lies where others may not look")
        jvms = {jvm["pid"]: jvm for jvm in json.loads(listed.stdout)["jvms"]}
        assert not jvms[program.pid]["can_attach"] and "root" in jvms[program.pid]["why_not"]
        done = subprocess.run([*stranger, "record", str(program.pid)], capture_output=True, text=True, timeout=60,
                              cwd="/tmp")
        assert done.returncode == 4 and "root" in done.stderr
        assert program.process.poll() is None
