"""The progress line, where it is drawn for people and where for logs."""
import os
import pathlib
import pty
import select
import subprocess
import time

from harness import TARSIER

FAKE = [str(pathlib.Path(__file__).with_name("fake_agent.py")), "reports_progress"]


def command(tmp_path):
    return [str(TARSIER), "record", "-d", "60s", "-o", str(tmp_path / "x.jfr"), "--", "/usr/bin/python3", *FAKE]


def on_a_terminal(arguments, seconds=30):
    """All that a program writes to stderr when that is a terminal of 60 columns."""
    leader, follower = pty.openpty()
    subprocess.run(["stty", "cols", "60", "rows", "20"], stdin=follower, check=True)
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower,
                               env=dict(os.environ, TERM="xterm"))
    os.close(follower)
    output, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not select.select([leader], [], [], 0.2)[0]:
            continue
        try:
            output += os.read(leader, 4096)
        except OSError:  # the last writer has closed it
            break
    os.close(leader)
    process.wait(seconds)
    return output.decode()


def test_on_a_terminal_one_line_is_drawn_anew_and_fits(tmp_path):
    output = on_a_terminal(command(tmp_path))
    drawn = [part.split("\x1b[K")[0] for part in output.split("\r") if "samples" in part]
    assert len(drawn) >= 3, output
    assert all(len(line) < 60 for line in drawn), drawn
    assert "59 s left" in drawn[0] and "1,000 samples" in drawn[0]
    assert "\x1b[2J" not in output, "a method's name has reached the terminal"
    rest = output.split("\x1b[K")[-1]
    assert "samples" not in rest.split("\n")[0], "the line is cleared before anything else is said"


def test_in_a_log_a_line_comes_every_ten_seconds(tmp_path):
    done = subprocess.run(command(tmp_path), capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    lines = [line for line in done.stderr.splitlines() if "samples" in line]
    assert len(lines) == 2, done.stderr  # at 10 and 20 of the 25 seconds that the agent plays
    assert "50 s left" in lines[0] and "40 s left" in lines[1]
    assert "\x1b" not in done.stderr and "\r" not in done.stderr
