"""Tests that judge who held a lock when: a machine that does not let the threads run tells nothing of who made whom wait.

A judgement that fails is worth something only where the program's threads had their CPUs: LockTruth logs how long each could
have run and did not, the kernel how much the hypervisor took away. Where that is much the program runs again; what was
disturbed each time is skipped, and says so."""
import functools
import os
import pathlib
import time

import pytest
from lock_truth import Truth

RUNS = 5
LITTLE = 0.03  # of the threads' time: a judgement that fails beside it has failed
MUCH = 0.1  # beside that nothing can be said
THREADS = 4  # of LockTruth


class Disturbance:
    def __init__(self):
        self.begin, self.stolen = time.monotonic(), self._stolen_s()

    @staticmethod
    def _stolen_s():
        return int(pathlib.Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")

    def share(self, folder):
        """Of the time since then, of each CPU or thread."""
        seconds = time.monotonic() - self.begin
        logs = [Truth.read(file) for file in folder.glob("truth*.txt") if file.stat().st_size]
        without_cpu = max((log.without_cpu / 1e9 / THREADS / log.seconds() for log in logs), default=0)
        return (self._stolen_s() - self.stolen) / os.cpu_count() / seconds + without_cpu


def undisturbed(test):
    """For tests with a `tmp_path`, in which the log of LockTruth is truth.txt."""
    @functools.wraps(test)
    def again_if_disturbed(*, tmp_path, **arguments):
        least = 1
        for run in range(RUNS):
            folder = tmp_path / f"run{run}"
            folder.mkdir()
            disturbance = Disturbance()
            try:
                return test(tmp_path=folder, **arguments)
            except AssertionError as failure:
                share = disturbance.share(folder)
                print(f"without a CPU for {share:.1%} of the time: {failure}")
                least = min(least, share)
                if share <= LITTLE or (run == RUNS - 1 and least <= MUCH):
                    raise
            time.sleep(run)  # others may be done then
        pytest.skip(f"in each of {RUNS} runs the threads were without a CPU for {least:.0%} of the time or more")
    return again_if_disturbed
