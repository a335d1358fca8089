"""Where it is measured: machine, JDK, commit; and what the hypervisor took."""
import os
import pathlib
import subprocess

from measuring import ROOT


def cpu_name(text):
    """Of /proc/cpuinfo: a name on x86, numbers of implementer and part on aarch64."""
    fields = dict(map(str.strip, line.split(":", 1)) for line in text.splitlines() if ":" in line)
    return fields.get("model name") or f"implementer {fields.get('CPU implementer', '?')}, part {fields.get('CPU part', '?')}"


def describe():
    system = os.uname()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"architecture": system.machine, "cpus": len(os.sched_getaffinity(0)), "kernel": system.release,
            "cpu": cpu_name(pathlib.Path("/proc/cpuinfo").read_text()), "memory_mb": pages >> 20}


def describe_jdk(jdk):
    version = subprocess.run([jdk.tool("java"), "-version"], capture_output=True, text=True, check=True, timeout=60)
    return {"home": str(jdk.home), "version": version.stderr.splitlines()}


def commit():
    """Of tarsier, with `-dirty` if files that git knows were changed."""
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def stolen_s(text=None):
    """CPU time that the hypervisor has given to others since the machine started, of all CPUs."""
    fields = (text if text is not None else pathlib.Path("/proc/stat").read_text()).splitlines()[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0.0
