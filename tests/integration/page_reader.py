"""What the page shows in a real browser, taken by its own Copy buttons (ui/test/browser/read_page.mjs)."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import ROOT

_UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0, "min": 60e9}


def chromium():
    return next((path for path in (os.environ.get("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/google-chrome")
                 if path and pathlib.Path(path).exists()), None)


needs_a_browser = pytest.mark.skipif(not chromium() or not shutil.which("node"), reason="no Chromium or no node")


def read(address, *fragments):
    """Of each fragment what was copied, a text for each button, and the text of the whole page. The page must have had
    nothing to complain about."""
    done = subprocess.run(["node", "test/browser/read_page.mjs", chromium(), address, *fragments], cwd=ROOT / "ui",
                          timeout=240, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert [view["complaints"] for view in seen] == [[]] * len(fragments)
    return {view["fragment"]: view for view in seen}


def table(text):
    """Rows of a text with tabs, as dictionaries."""
    head, *rows = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(head, row)) for row in rows]


def nanoseconds(text):
    """3.07 s; 1 min 20 s; < 1 ns"""
    parts = re.findall(r"([\d.,]+)\s*(min|s|ms|µs|ns)\b", text)
    assert parts, text
    return sum(float(number.replace(",", "")) * _UNITS[unit] for number, unit in parts)
