"""The JDKs and our own small programs that these tests run.

JDKs: those in TARSIER_JDKS (colon separated homes), else every one under /usr/lib/jvm. Programs: in TARSIER_BUILD, or in
the newest build folder.
"""
import glob
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def jdks():
    listed = os.environ.get("TARSIER_JDKS")
    homes = listed.split(":") if listed else sorted(glob.glob("/usr/lib/jvm/*"))
    found = {}
    for home in homes:
        jfr = pathlib.Path(home, "bin", "jfr")
        if jfr.exists():
            found.setdefault(jfr.resolve(), pathlib.Path(home))
    return list(found.values())


JDKS = jdks()
needs_jdk = pytest.mark.skipif(not JDKS, reason="no JDK with a jfr tool: set TARSIER_JDKS or install one in /usr/lib/jvm")


def program(name):
    folder = os.environ.get("TARSIER_BUILD")
    places = [folder] if folder else glob.glob(str(ROOT / "build" / "*"))
    found = [p for place in places for p in pathlib.Path(place).rglob(name) if p.is_file() and os.access(p, os.X_OK)]
    if not found:
        pytest.skip(f"{name} is not built: script/build --tests does that")
    return max(found, key=lambda p: p.stat().st_mtime)


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, f"{command}: {result.stdout[-500:]} {result.stderr[-500:]}"
    return result.stdout
