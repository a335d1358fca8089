"""The judge of locks that several may hold at once (--lock-detail): what tests/java/LockTruth.java and LatchTruth.java logged of
themselves against what our CSV says.

A true wait is from when a thread asked until it had it. While n others held the lock by their logs, a wait belongs to each of
them with one n-th; a latch belongs to the last one that counts down. What we say of a wait is added up by holder, and compared
with that: the time that both give to the same thread and method is right.

    python3 tests/integration/shared_lock_truth.py TRUTH CSV
"""
import bisect
import collections
import pathlib
import sys

from lock_truth import Section, read_csv


class SharedTruth:
    def __init__(self, text):
        self.sections = []
        for line in text.splitlines():
            kind, *words = line.split("\t")
            if kind == "hold":
                thread, lock, asked, acquired, releasing, method, via, _ = words
                self.sections.append(Section(thread, lock, int(asked), int(acquired), int(releasing), method, via, False))
        assert self.sections, "the program has logged nothing"
        self.holds = collections.defaultdict(list)
        for section in self.sections:
            if section.releasing > section.acquired and not section.method.endswith(".await"):
                self.holds[section.lock].append(section)

    @classmethod
    def read(cls, file):
        return cls(pathlib.Path(file).read_text())

    def blame(self, wait, begin, end):
        """By (thread, method): nanoseconds of this wait, between these times; and in how many of these several held it."""
        blame, together = collections.Counter(), 0
        holds = [hold for hold in self.holds[wait.lock] if hold.thread != wait.thread and hold.acquired < end
                 and hold.releasing > begin]
        if "CountDownLatch" in wait.lock:
            last = max(holds, key=lambda hold: hold.releasing, default=None)
            if last:
                blame[last.thread, last.method] = min(end, last.releasing) - begin
            return blame, 0
        cuts = sorted({begin, end, *(t for hold in holds for t in (hold.acquired, hold.releasing) if begin < t < end)})
        for from_, to in zip(cuts, cuts[1:]):
            now = [hold for hold in holds if hold.acquired <= from_ and hold.releasing >= to]
            together += to - from_ if len(now) > 1 else 0
            for hold in now:
                blame[hold.thread, hold.method] += (to - from_) / len(now)
        return blame, together


class SharedJudgement:
    def __init__(self):
        self.waited = 0  # by the logs
        self.seen = 0  # of that, what we have too
        self.held = 0  # of what was waited: somebody held it
        self.right = 0  # of that: given to the right thread and method
        self.ours = collections.Counter()  # of what we have, by kind of owner
        self.stranger = 0  # given to somebody who did not hold it at all in that wait
        self.together = 0  # of that: several held it at a time
        self.waits = 0

    @property
    def right_share(self):
        return self.right / max(1, self.held)

    @property
    def together_share(self):
        return self.together / max(1, self.held)

    @property
    def stranger_share(self):
        return self.stranger / max(1, self.seen)

    @property
    def seen_share(self):
        return self.seen / max(1, self.waited)

    def __str__(self):
        ours = ", ".join(f"{kind} {ns / max(1, self.seen):.1%}" for kind, ns in sorted(self.ours.items()))
        return (f"{self.waits} waits, {self.waited / 1e6:.1f} ms, of that seen {self.seen_share:.1%} ({ours}); held by somebody "
                f"{self.held / 1e6:.1f} ms, by several at a time {self.together_share:.1%}, right {self.right_share:.2%}; given to one who did not hold it {self.stranger_share:.2%}")


def judge_shared(truth, rows, window=None):
    first, last = window or (0, sys.maxsize)
    by_thread = collections.defaultdict(list)
    for row in rows:
        by_thread[row["blocked_thread"]].append(row)
    for mine in by_thread.values():
        mine.sort(key=lambda row: row["begin_ns"])
    ends = {thread: [row["end_ns"] for row in mine] for thread, mine in by_thread.items()}
    judgement = SharedJudgement()
    for wait in truth.sections:
        begin, end = max(first, wait.asked), min(last, wait.acquired)
        if begin < end:
            mine = by_thread[wait.thread]
            at = bisect.bisect_right(ends.get(wait.thread, []), begin)
            _judge_wait(truth, wait, begin, end, mine[at:], judgement)
    return judgement


def _judge_wait(truth, wait, begin, end, rows, judgement):
    (true, together), ours = truth.blame(wait, begin, end), collections.Counter()
    lock_class = wait.lock.partition("#")[0].partition("@")[0]
    judgement.waits += 1
    judgement.together += together
    judgement.waited += end - begin
    for row in rows:
        if row["begin_ns"] >= end:
            break
        if row["lock"].partition("@")[0] != lock_class:
            continue
        ns = max(0, min(end, row["end_ns"]) - max(begin, row["begin_ns"]))
        judgement.seen += ns
        judgement.ours[row["owner_kind"]] += ns
        if row["owner_kind"] == "chain":
            ours[row["owner_thread"], row["owner_method"]] += ns
    judgement.held += sum(true.values())
    judgement.right += sum(min(ns, ours[who]) for who, ns in true.items())
    holders = {thread for thread, _ in true}
    judgement.stranger += sum(ns for (thread, _), ns in ours.items() if thread not in holders)


if __name__ == "__main__":
    print(judge_shared(SharedTruth.read(sys.argv[1]), read_csv(pathlib.Path(sys.argv[2]).read_text())))
