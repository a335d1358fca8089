"""Runs one step, and notes what surrounded it."""
import os
import subprocess
import time
import types

import machine
from measuring import agent_option, run_and_read

TIMEOUT_S = 900


class Runner:
    def __init__(self, jdk, size, folder, rows):
        self.jdk, self.size, self.folder, self.rows = jdk, size, folder, rows

    def row(self, experiment, step):
        """What becomes a line of the store: with `result`, or with `error` if the run failed."""
        row = {"key": step.key, "experiment": step.experiment, "workload": step.workload, "way": step.way,
               "interval": step.interval, "detail": step.detail, "round": step.round, "began": time.time(),
               "load": os.getloadavg()[0]}
        stolen, began = machine.stolen_s(), time.monotonic()
        try:
            row["result"] = experiment.run(self, step)
        except (RuntimeError, OSError, LookupError, subprocess.CalledProcessError) as error:
            row["error"] = f"{type(error).__name__}: {error}"[-2000:]
        row["seconds"] = time.monotonic() - began
        row["stolen_s"] = machine.stolen_s() - stolen
        return row

    def start(self, step, file, java_options=(), iterations=None):
        """Runs the workload of a step, profiled into the file unless it is an unprofiled one: (times, what it printed)."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        options = types.SimpleNamespace(warmup=self.size.warmup, iterations=iterations or self.size.iterations,
                                        scale=self.size.scales.get(step.workload, 1))
        agent = [] if step.unprofiled else [agent_option(step.way, step.interval, file)]
        return run_and_read(self.jdk, step.workload, options, [*agent, *java_options], timeout=TIMEOUT_S)

    def scratch(self, name):
        return self.folder / "scratch" / name


def engine_of(document):
    """The one that sampled, in what `tarsier report --json` says."""
    found = [engine for engine in document["recording"]["engines"] if engine["samples"]["taken"] > 0]
    if not found:
        raise RuntimeError("the recording has no samples")
    return found[0]
