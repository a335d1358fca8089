"""A JVM with pids and files of its own, as in a container: attached to from outside."""
import json
import os
import pathlib
import subprocess

import pytest
from harness import jdks, tarsier, wait_until

def can_unshare():
    probe = ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "true"]
    return os.geteuid() == 0 and subprocess.run(probe, capture_output=True, timeout=30).returncode == 0


@pytest.fixture(params=[0, 65534], ids=["root", "nobody"])
def contained(request, classes):
    """The pid, as seen from here, of a JVM in namespaces of its own with a private /tmp."""
    if not can_unshare():
        pytest.skip("namespaces can't be made here (needs root)")
    classes.chmod(0o755)
    process = subprocess.Popen(["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                                'set -e; mount --bind "$3" /mnt; mount -t tmpfs none /tmp; chmod 1777 /tmp; cd /tmp; '
                                'exec setpriv --reuid="$1" --regid="$1" --clear-groups "$2" -cp /mnt KnownAnswer',
                                "sh", str(request.param), jdks()[0].tool("java"), str(classes)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"READY\n"
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        yield int(wait_until(lambda: children.read_text().split(), "the JVM is there")[0])
    finally:
        process.kill()
        process.wait(30)


def test_a_jvm_in_a_container_is_listed_and_recorded(contained, tmp_path):
    jvms = {jvm["pid"]: jvm for jvm in json.loads(tarsier("ps", "--json").stdout)["jvms"]}
    assert jvms[contained]["namespace_pid"] == 1 and jvms[contained]["own_root"]
    assert jvms[contained]["main"] == "KnownAnswer" and jvms[contained]["version"]
    for name in ("first", "second"):
        tarsier("record", "-d", "700ms", "-o", tmp_path / f"{name}.jfr", contained)
        assert "KnownAnswer" in tarsier("report", tmp_path / f"{name}.jfr").stdout
    its_tmp = pathlib.Path(f"/proc/{contained}/root/tmp")
    assert not [entry for entry in its_tmp.iterdir() if entry.name.startswith("tarsier")], "left in its /tmp"
    # The copy is gone, so the same build must not have been loaded a second time.
    mapped = {line.split()[4] for line in pathlib.Path(f"/proc/{contained}/maps").read_text().splitlines()
              if "libtarsier.so" in line}
    assert len(mapped) == 1, mapped
