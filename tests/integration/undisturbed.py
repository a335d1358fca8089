"""Tests that judge who held a lock when: a machine that does not let the threads run tells nothing of who made whom wait.

A judgement that fails is worth something only where the program's threads had their CPUs: LockTruth logs how long each could
have run and did not, the kernel how much the hypervisor took away. Where that is much the program runs again; what was
disturbed each time is skipped, and says so."""
import functools
import os
import pathlib
import time

import pytest

RUNS = 5
LITTLE = 0.01  # of the threads' time: a judgement that fails beside it has failed
MUCH = 0.1  # beside that nothing can be said


class Disturbance:
    def __init__(self):
        self.begin, self.stolen = time.monotonic(), self._stolen_s()

    @staticmethod
    def _stolen_s():
        return int(pathlib.Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")

    def share(self, folder):
        """Of the time since then, of each CPU or thread."""
        seconds = time.monotonic() - self.begin
        stolen = (self._stolen_s() - self.stolen) / os.cpu_count() / seconds
        return stolen + max(map(share_without_cpu, folder.glob("truth*.txt")), default=0)


def share_without_cpu(log):
    """Of the time that the threads that wrote this log wanted a lock or had it: in which they could have run, and did not."""
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    holds = [list(map(int, words[3:6])) for words in lines if words[0] == "hold"]
    without_cpu = [int(words[2]) for words in lines if words[0] == "without-cpu"]
    if not holds or not without_cpu:
        return 0
    return sum(without_cpu) / len(without_cpu) / (max(map(max, holds)) - min(map(min, holds)))


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
