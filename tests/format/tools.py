"""The JDKs and our own small programs that these tests run. Programs: in TARSIER_BUILD, or in the newest build folder."""
import glob
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from jdks import jdks  # noqa: E402  (lies there)

JDKS = jdks()


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
