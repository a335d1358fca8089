"""Contended programs recorded over and over, locks and CPU time at once. For a test, and for script/soak."""
import json
import random
import time

from harness import Program, tarsier

PROGRAMS = ["productsync", "productlock", "sensornet", "actorring"]
COLLECTORS = ["G1", "Z"]


def soak(jdk, classes, name, collector, seconds, file):
    """Sessions until that time is over; (how many, lock events). A crash, a hang or a book that does not balance fails."""
    options = ["-Xmx600m", f"-XX:+Use{collector}GC"]
    sessions = events = 0
    with Program(jdk, classes, "workloads.Harness", name, 0, 10**6, options=options) as program:
        program.wait_for("iter 1 ")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            tarsier("record", "--cpu", "--lock", "-d", f"{random.randrange(50, 3000)}ms", "-o", file, program.pid)
            recording = json.loads(tarsier("report", file, "--json", "--view", "quality").stdout)["recording"]
            for engine in recording["engines"]:
                samples = engine["samples"]
                assert samples["taken"] == samples["written"] + sum(samples["dropped"].values()), (engine["name"], samples)
            assert not recording["problems"], recording["problems"]
            sessions += 1
            events += sum(engine["samples"]["taken"] for engine in recording["engines"] if engine["name"] == "lock")
        # Whoever hangs takes the others with it, sooner or later: they all work on one thing.
        done = sum(line.startswith("iter ") for line in program.lines)
        program.wait_for(f"iter {done + 3} ")
    return sessions, events
