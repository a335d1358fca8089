"""Other users' JVMs and JVMs in containers: the agent gets in safely, and the recording comes to the one who asked."""
import contextlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile

import pytest
from harness import LIBRARY, TARSIER, jdks, tarsier, wait_until_ready

HERE = pathlib.Path(__file__).resolve().parent
OUTSIDE = 1_300_000  # users of the container, as seen from outside
NOBODY = 65534

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users")


@pytest.fixture
def open_folder(classes):
    """A folder that everybody can enter and that a container's own /tmp does not hide, with the classes in it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tarsier-test-", dir="/var/tmp"))
    try:
        shutil.copytree(classes, folder / "classes")
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


class Contained:
    """KnownAnswer in user, pid and mount namespaces of its own."""

    def __init__(self, jdk, classes, tmp="exec"):
        command = [sys.executable, HERE / "container.py", OUTSIDE, tmp, pathlib.Path(jdk.tool("java")).resolve(), "-cp",
                   classes, "KnownAnswer"]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        line = self.process.stdout.readline()
        if not line:
            why = self.process.communicate(timeout=30)[1]
            pytest.skip(f"user namespaces can't be made here: {why.strip()}")
        self.pid = int(line)
        ready = self.process.stdout.readline()
        assert ready == "READY\n", (ready, self.process.stderr.read())
        self.tmp = pathlib.Path(f"/proc/{self.pid}/root/tmp")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate(timeout=30)


@contextlib.contextmanager
def acting_in(folder, user):
    """A descriptor of the folder, to be used with that user's rights: root outside is nobody in the container's files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.setegid(user)
    os.seteuid(user)
    try:
        yield descriptor
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.close(descriptor)


def check_recording(target, file):
    tarsier("record", "--cpu", "-d", "1s", "-o", file, target.pid)
    info = file.stat()
    assert (info.st_uid, stat.S_IMODE(info.st_mode)) == (os.geteuid(), 0o600)
    assert "KnownAnswer" in tarsier("report", file).stdout
    assert not [entry.name for entry in target.tmp.iterdir() if entry.name.startswith("tarsier")], "left in its /tmp"


def test_a_container_with_users_of_its_own(jdk, open_folder, tmp_path):
    """To the JVM we are user 65534, whoever we are: what counts is who listens, and that is its own user."""
    with Contained(jdk, open_folder / "classes") as target:
        listed = {jvm["pid"]: jvm for jvm in json.loads(tarsier("ps", "--json").stdout)["jvms"]}[target.pid]
        assert listed["namespace_pid"] == 1 and listed["own_root"]
        assert pathlib.Path(f"/proc/{target.pid}").stat().st_uid == OUTSIDE
        for name in ("first", "second"):
            check_recording(target, tmp_path / f"{name}.jfr")


def test_a_container_whose_tmp_is_noexec(jdk, open_folder, tmp_path):
    with Contained(jdk, open_folder / "classes", "noexec") as target:
        check_recording(target, tmp_path / "x.jfr")
        assert "/var/tmp/tarsier-" in pathlib.Path(f"/proc/{target.pid}/maps").read_text()
        assert not list(pathlib.Path("/var/tmp").glob(f"tarsier-{OUTSIDE}-*")), "left in its /var/tmp"


def test_traps_in_the_containers_tmp_catch_nobody(jdk, open_folder, tmp_path):
    """Links and folders of others under the name that the agent's copy would get; a /tmp in which names can be exchanged."""
    with Contained(jdk, open_folder / "classes") as target:
        # What it would be called is no secret: the user and the build.
        tarsier("record", "--cpu", "-d", "1s", "-o", tmp_path / "x.jfr", target.pid)
        mapped = next(line.split(None, 5)[5] for line in pathlib.Path(f"/proc/{target.pid}/maps").read_text().splitlines()
                      if "libtarsier.so" in line)
        name = pathlib.Path(mapped.removesuffix(" (deleted)")).parent.name
        assert name.startswith(f"tarsier-{OUTSIDE}-")
    victim = open_folder / "victim"
    victim.mkdir()
    victim.chmod(0o777)
    for trap in ("link", "folder of another", "folder open to all"):
        with Contained(jdk, open_folder / "classes") as target:
            owner = OUTSIDE if trap == "folder open to all" else OUTSIDE + 1000
            with acting_in(target.tmp, owner) as folder:
                if trap == "link":
                    os.symlink(victim, name, dir_fd=folder)
                else:
                    os.mkdir(name, dir_fd=folder)
                    os.chmod(name, 0o777, dir_fd=folder)
            tarsier("record", "--cpu", "-d", "500ms", "-o", tmp_path / "y.jfr", target.pid)
            assert os.listdir(victim) == [] and (trap == "link" or os.listdir(target.tmp / name) == [])
            maps = pathlib.Path(f"/proc/{target.pid}/maps").read_text()
            assert "libtarsier.so" in maps and f"{name}/libtarsier.so" not in maps
    with Contained(jdk, open_folder / "classes") as target:
        with acting_in(target.tmp, OUTSIDE) as folder:
            os.fchmod(folder, 0o777)  # not sticky: everybody may rename everything
        refused = tarsier("record", "--cpu", "-d", "1s", "-o", tmp_path / "z.jfr", target.pid, expect=4)
        assert "lets others exchange" in refused.stderr and "libtarsier.so" not in pathlib.Path(f"/proc/{target.pid}/maps").read_text()


def test_a_jvm_under_another_root(open_folder, tmp_path):
    """A chroot in a namespace: neither the library's path nor the output's exists there."""
    jdk = next((jdk for jdk in jdks() if str(jdk.home.resolve()).startswith("/usr/")), None)
    if jdk is None:
        pytest.skip("no JDK below /usr, which the new root shares")
    root = open_folder / "root"
    script = f"""set -e
        mkdir -p {root} && mount -t tmpfs none {root}
        for folder in usr lib lib64 bin etc dev; do
            [ -e /$folder ] || continue; [ ! -L /$folder ] || {{ cp -P /$folder {root}/; continue; }}
            mkdir {root}/$folder; mount --rbind /$folder {root}/$folder; done
        mkdir -m 1777 {root}/tmp; mkdir {root}/proc {root}/work; mount --bind {open_folder}/classes {root}/work
        mount -t proc proc {root}/proc
        exec chroot --userspec={NOBODY}:{NOBODY} --groups= {root} {pathlib.Path(jdk.tool("java")).resolve()} -cp /work KnownAnswer"""
    process = subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "READY\n"
        file = tmp_path / "x.jfr"
        tarsier("record", "--cpu", "-d", "1s", "-o", file, process.pid)
        assert file.stat().st_uid == os.geteuid() and "KnownAnswer" in tarsier("report", file).stdout
    finally:
        process.kill()
        process.communicate(timeout=30)


def as_user(user, *command, cwd):
    return subprocess.run(list(map(str, command)), user=user, group=user, extra_groups=[], capture_output=True, text=True,
                          timeout=60, cwd=cwd, stdin=subprocess.DEVNULL)


def test_an_ordinary_user_records_his_own_jvm_and_no_other(jdk, open_folder):
    for file in (TARSIER, LIBRARY):
        shutil.copy(file.resolve(), open_folder / file.name)
    output = open_folder / "out"
    output.mkdir()
    os.chown(output, NOBODY, NOBODY)
    java = [jdk.tool("java"), "-cp", str(open_folder / "classes"), "KnownAnswer"]
    for owner in (NOBODY, 0):
        with subprocess.Popen(java, user=owner, group=owner, extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, cwd=open_folder) as program:
            try:
                wait_until_ready(program)
                file = output / f"{owner}.jfr"
                done = as_user(NOBODY, open_folder / "tarsier", "record", "-d", "1s", "-o", file, program.pid, cwd=output)
                if owner == NOBODY:
                    assert done.returncode == 0, done.stderr
                    assert file.stat().st_uid == NOBODY
                    assert "KnownAnswer" in tarsier("report", file).stdout
                else:
                    assert done.returncode == 4 and "belongs to user root" in done.stderr and "as root" in done.stderr
                    assert not file.exists()
            finally:
                program.kill()


def test_root_records_another_users_jvm_without_giving_anything_away(jdk, open_folder, tmp_path):
    java = [jdk.tool("java"), "-cp", str(open_folder / "classes"), "KnownAnswer"]
    with subprocess.Popen(java, user=NOBODY, group=NOBODY, extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, cwd=open_folder) as program:
        try:
            wait_until_ready(program)
            private = tmp_path / "private"
            private.mkdir(mode=0o700)
            tarsier("record", "-d", "1s", "-o", private / "x.jfr", program.pid)
            info = (private / "x.jfr").stat()
            assert (info.st_uid, stat.S_IMODE(info.st_mode)) == (0, 0o600)
        finally:
            program.kill()
