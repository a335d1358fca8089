"""Disks that fail, in a mount namespace of their own: nobody else sees them, and they go with it."""
import os
import pathlib
import shutil
import subprocess

import pytest
from harness import ROOT, TARSIER

NEEDS_ROOT = "only root can mount a disk of its own"


class Disk:
    """A file system at `path`, which exists only for what run() starts. Use it in a `with`."""

    def __init__(self, path, *mount):
        self.path = pathlib.Path(path)
        self.mount = mount

    def __enter__(self):
        if os.geteuid() != 0:
            pytest.skip(NEEDS_ROOT)
        self.path.mkdir(exist_ok=True)
        self.keeper = subprocess.Popen(["unshare", "-m", "sh", "-c", "echo ready; read line"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        if self.keeper.stdout.readline() != "ready\n":
            pytest.skip("mount namespaces can't be made here")
        done = self.call("mount", *self.mount, str(self.path), check=False)
        if done.returncode:
            self.__exit__()
            pytest.skip(f"no such disk here: mount {' '.join(self.mount)}: {done.stderr.strip()}")
        return self

    def __exit__(self, *_):
        self.keeper.stdin.close()
        self.keeper.wait(30)

    def inside(self, *command):
        return ["nsenter", "-t", str(self.keeper.pid), "-m", *map(str, command)]

    def call(self, *command, check=True):
        return subprocess.run(self.inside(*command), capture_output=True, text=True, timeout=60, check=check)

    def popen(self, *command):
        return subprocess.Popen(self.inside(*command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, cwd=ROOT)

    def record(self, *arguments):
        return self.popen(TARSIER.resolve(), "record", *arguments)

    def fetch(self, name, to):
        """Copies a file of it out to where the tests can see it."""
        copied = subprocess.run(self.inside("cat", self.path / name), stdout=open(to, "wb"), timeout=60)
        assert copied.returncode == 0
        return to


class FreezableDisk(Disk):
    """ext4 on a loop device: frozen, it blocks every writer until it is thawed."""

    def __init__(self, path, image):
        super().__init__(path, "-o", "loop", str(image))
        self.image = image

    def __enter__(self):
        if not shutil.which("mkfs.ext4") or not shutil.which("fsfreeze"):
            pytest.skip("mkfs.ext4 and fsfreeze are not installed")
        with open(self.image, "wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkfs.ext4", "-q", self.image], check=True, timeout=60)
        return super().__enter__()

    def __exit__(self, *_):
        self.call("fsfreeze", "-u", self.path, check=False)  # a frozen one could not even be unmounted
        super().__exit__()

    def freeze(self):
        # Its own device, and not that of a folder that nothing is mounted on.
        assert self.call("findmnt", "-n", "-o", "SOURCE", self.path).stdout.startswith("/dev/loop")
        self.call("fsfreeze", "-f", self.path)

    def thaw(self):
        self.call("fsfreeze", "-u", self.path)
