"""Debian's kernel for x86_64 in an emulator, with a JVM and the agent: what a machine of another architecture, or without
the rights, can't show otherwise. Everything is in memory, and what the guest leaves in /out comes back."""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "script"))
import debian  # noqa: E402

# The kernel's own drivers are enough: no module is loaded. What is sent to the second serial line lands in a file.
MACHINE = ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max", "-smp", "2", "-m", "3072", "-accel", "tcg,thread=single",
           "-display", "none", "-no-reboot", "-nic", "none"]
PACKAGES = ["busybox-static", "libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libzstd1", "libncursesw6", "libtinfo6"]
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mount -t tracefs tracing /sys/kernel/tracing
chmod 1777 /tmp; ip link set lo up; mkdir /out; cd /out
export PATH=/bin:/sbin:/usr/bin HOME=/tmp
sh /tarsier/commands
stty -F /dev/ttyS1 raw; tar cz . > /dev/ttyS1; sync; sleep 1
echo tarsier: the end
poweroff -f
"""


class Guest:
    def __init__(self, folder, jdk, agent):
        """`jdk`: one for x86_64, with the libraries that it needs in its sysroot; `agent`: the build's folder."""
        self.folder, self.root = folder, folder / "root"
        apt = debian.Apt(folder / "apt", "bookworm", True, "amd64")
        kernel = re.search(r"Depends: (linux-image-\S+)", apt.run("apt-cache", "depends", "linux-image-amd64").stdout)
        if not kernel:
            raise debian.Failed(f"no kernel for amd64 on this machine's mirrors\n{apt.log[-2000:]}")
        problem = apt.unpack([kernel[1], *PACKAGES], self.root)
        if problem:
            raise debian.Failed(problem)
        self.kernel = next((self.root / "boot").glob("vmlinuz-*")).rename(folder / "vmlinuz")
        for part in ("boot", "lib/modules", "usr/share"):
            shutil.rmtree(self.root / part, ignore_errors=True)
        for part in ("proc", "sys", "dev", "tmp", "tarsier", "bin", "sbin"):
            (self.root / part).mkdir(exist_ok=True)
        subprocess.run(["cp", "-an", f"{jdk / 'sysroot'}/.", self.root], check=True)  # what is not there yet
        leave_out = shutil.ignore_patterns("sysroot", "jmods", "src.zip", "legal")
        shutil.copytree(jdk, self.root / "jdk", symlinks=True, ignore=leave_out)
        for file in ("tarsier", "libtarsier.so"):
            shutil.copy(agent / file, self.root / "tarsier" / file)
        (self.root / "init").write_text(INIT)
        (self.root / "init").chmod(0o755)

    def run(self, commands, seconds):
        """Runs them in an empty folder; (what is in it then, all that was printed)."""
        (self.root / "tarsier/commands").write_text(commands)
        with open(self.folder / "initrd", "wb") as initrd:
            names = subprocess.Popen(["find", "."], cwd=self.root, stdout=subprocess.PIPE)
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=self.root, stdin=names.stdout, stdout=initrd, check=True)
            names.wait()
        sent = self.folder / "sent"
        command = [*MACHINE, "-kernel", self.kernel, "-initrd", self.folder / "initrd", "-append",
                   "console=ttyS0 rdinit=/init quiet panic=-1", "-serial", "stdio", "-serial", f"file:{sent}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds, check=False)
        assert "tarsier: the end" in done.stdout, done.stdout[-4000:]
        out = self.folder / "out"
        with tarfile.open(sent) as archive:
            archive.extractall(out, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(out)
        return out, done.stdout
