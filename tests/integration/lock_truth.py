"""The judge of lock contention: what tests/java/LockTruth.java logged of itself against what our CSV says.

Both have times of one clock (CLOCK_MONOTONIC). A true wait is from when a thread asked for a lock until it had it (after
Object.wait: from when it was notified); a true hold is from then until it was about to release it. Every row of the CSV, a
piece of a blocked interval with the one who caused it, is cut by the true waits of its thread and by the true holds of the
lock that was waited for. Where nobody held it by the logs, just before and after a release, there is no right owner: what we
say of these gaps is counted apart, but an owner who held it neither before nor after is wrong.

    python3 tests/integration/lock_truth.py TRUTH CSV
"""
import bisect
import collections
import csv
import dataclasses
import io
import pathlib
import sys

LOCK_GROUPS = ("monitor", "juc")


@dataclasses.dataclass(frozen=True)
class Section:
    """A critical section, as its thread logged it."""
    thread: str
    lock: str
    asked: int
    acquired: int
    releasing: int
    method: str
    via: str
    after_wait: bool


class Truth:
    def __init__(self, text):
        self.sections = []
        self.blocked_counts = {}  # by thread: (when it was read, how often the JVM says it was blocked)
        for line in text.splitlines():
            kind, *words = line.split("\t")
            if kind == "hold":
                thread, lock, asked, acquired, releasing, method, via, how = words
                self.sections.append(Section(thread, lock, int(asked), int(acquired), int(releasing), method, via,
                                             how == "afterWait"))
            elif kind == "blocked":
                self.blocked_counts[words[0]] = int(words[1]), int(words[2])
        assert self.sections, "the program has logged nothing"
        self.threads = sorted({section.thread for section in self.sections})
        self.waits = {thread: sorted((s for s in self.sections if s.thread == thread), key=lambda s: s.asked)
                      for thread in self.threads}
        self.holds = {lock: sorted((s for s in self.sections if s.lock == lock), key=lambda s: s.acquired)
                      for lock in {section.lock for section in self.sections}}
        for holds in self.holds.values():
            for one, next_one in zip(holds, holds[1:]):
                assert one.releasing <= next_one.acquired, f"two threads held it at one time: {one}, {next_one}"
        self._asked = {thread: [s.asked for s in waits] for thread, waits in self.waits.items()}
        self._acquired = {lock: [s.acquired for s in holds] for lock, holds in self.holds.items()}

    @classmethod
    def read(cls, file):
        return cls(pathlib.Path(file).read_text())

    def waits_within(self, thread, begin, end):
        """(section that was waited for, begin, end), for each true wait of the thread that overlaps. In nested sections a wait
        for the inner lock is no part of the wait for the outer one: a thread waits for one at a time."""
        waits, first = self.waits[thread], max(0, bisect.bisect_right(self._asked[thread], begin) - 1)
        for wait in waits[first:]:
            if wait.asked >= end:
                break
            from_, to = max(begin, wait.asked), min(end, wait.acquired)
            if from_ < to:
                yield wait, from_, to

    def owners_within(self, lock, begin, end):
        """(section or None, sections before and after, begin, end): the time without gaps, None where nobody held it."""
        holds = self.holds[lock]
        at = max(0, bisect.bisect_right(self._acquired[lock], begin) - 1)
        before, now = holds[at - 1] if at else None, begin
        for hold in holds[at:]:
            if now >= end:
                return
            if now < min(hold.acquired, end):
                yield None, (before, hold), now, min(hold.acquired, end)
                now = min(hold.acquired, end)
            if now < min(hold.releasing, end):
                yield hold, (), now, min(hold.releasing, end)
                now = min(hold.releasing, end)
            before = hold
        if now < end:
            yield None, (before,), now, end


def read_csv(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row["begin_ns"], row["end_ns"] = int(row["begin_ns"]), int(row["end_ns"])
        row["after_wait"] = row["after_wait"] in ("true", "1")
    return rows


class Judgement:
    """Nanoseconds by what is right and wrong about them; of entering locks, or of re-entering them after waits."""

    def __init__(self):
        self.true = collections.Counter()  # by thread: waited, by its own log
        self.seen = collections.Counter()  # by thread: of that, what we have too
        self.held = collections.Counter()  # while somebody held it, by what we say
        self.gaps = collections.Counter()  # while nobody did
        self.outside = 0  # the thread did not wait then
        self.other_lock = 0  # it waited for another lock
        self.mislabelled = 0  # after_wait is wrong
        self.true_blame = collections.Counter()  # by (thread, method) of the owner
        self.our_blame = collections.Counter()

    def share(self, what):
        """Of the blocked time in which somebody held the lock."""
        return self.held[what] / max(1, self.held.total())

    @property
    def right(self):
        return self.share("right") + self.share("wrong way in")

    @property
    def wrong_thread(self):
        blocked = self.held.total() + self.gaps.total()
        return (self.held["wrong thread"] + self.gaps["wrong thread"]) / max(1, blocked)

    def seen_share(self, thread=None):
        threads = [thread] if thread else list(self.true)
        return sum(self.seen[t] for t in threads) / max(1, sum(self.true[t] for t in threads))

    @property
    def outside_share(self):
        return self.outside / max(1, self.outside + self.held.total() + self.gaps.total())

    @property
    def other_lock_share(self):
        return self.other_lock / max(1, self.other_lock + self.held.total() + self.gaps.total())

    def blame_apart(self):
        """0: we blame all owners in their true proportions, 1: only innocent ones."""
        true, ours = max(1, self.true_blame.total()), max(1, self.our_blame.total())
        return sum(abs(self.true_blame[who] / true - self.our_blame[who] / ours)
                   for who in {*self.true_blame, *self.our_blame}) / 2

    def __str__(self):
        blocked = self.held.total() + self.gaps.total()
        held = ", ".join(f"{what} {self.share(what):.2%}" for what in sorted(self.held))
        gaps = ", ".join(f"{what} {ns / max(1, self.gaps.total()):.1%}" for what, ns in sorted(self.gaps.items()))
        by_thread = ", ".join(f"{thread} {self.seen_share(thread):.1%}" for thread in sorted(self.true))
        return (f"truly blocked {sum(self.true.values()) / 1e6:.1f} ms, of that seen {self.seen_share():.1%} ({by_thread})\n"
                f"held by somebody {self.held.total() / 1e6:.1f} ms: {held}\n"
                f"held by nobody {self.gaps.total() / 1e6:.1f} ms ({self.gaps.total() / max(1, blocked):.1%}): {gaps}\n"
                f"wrong thread {self.wrong_thread:.3%}; not waiting then {self.outside_share:.3%}; another lock "
                f"{self.other_lock / 1e6:.3f} ms; after_wait wrong {self.mislabelled / 1e6:.3f} ms; blame apart "
                f"{self.blame_apart():.2%}")


def judge(truth, rows, window=None):
    """(judgement of entering, judgement of re-entering after waits). `window`: only what lies between these two times."""
    first, last = window or (0, sys.maxsize)
    entering, after_wait = Judgement(), Judgement()
    for thread in truth.threads:
        for wait in truth.waits[thread]:
            begin, end = max(first, wait.asked), min(last, wait.acquired)
            if begin >= end:
                continue
            of = after_wait if wait.after_wait else entering
            of.true[thread] += end - begin
            for owner, _, from_, to in truth.owners_within(wait.lock, begin, end):
                if owner:
                    of.true_blame[owner.thread, owner.method] += to - from_
    for row in rows:
        if row["group"] in LOCK_GROUPS and row["blocked_thread"] in truth.waits:
            begin, end = max(first, row["begin_ns"]), min(last, row["end_ns"])
            if begin < end:
                _judge_row(truth, row, begin, end, entering, after_wait)
    return entering, after_wait


def _judge_row(truth, row, begin, end, entering, after_wait):
    thread, waited = row["blocked_thread"], 0
    for wait, from_, to in truth.waits_within(thread, begin, end):
        of = after_wait if wait.after_wait else entering
        waited += to - from_
        if row["lock"] != wait.lock and row["lock"].partition("@")[0] != wait.lock:
            of.other_lock += to - from_
            continue
        if row["group"] == "monitor" and row["after_wait"] != wait.after_wait:
            of.mislabelled += to - from_
        of.seen[thread] += to - from_
        if row["owner_kind"] == "chain":
            of.our_blame[row["owner_thread"], row["owner_method"]] += to - from_
        for owner, around, piece_from, piece_to in truth.owners_within(wait.lock, from_, to):
            if owner:
                of.held[_about_owner(row, owner)] += piece_to - piece_from
            else:
                of.gaps[_about_gap(row, around)] += piece_to - piece_from
    (after_wait if row["after_wait"] else entering).outside += end - begin - waited


def _about_owner(row, owner):
    if row["owner_kind"] not in ("chain", "thread"):
        return row["owner_kind"]
    if row["owner_thread"] != owner.thread:
        return "wrong thread"
    if row["owner_kind"] == "thread":
        return "thread only"
    if row["owner_method"] != owner.method:
        # All sections are called by methods of this class: one of them stands for whatever was inlined into it.
        return "caller only" if row["owner_method"].startswith("LockTruth.") else "wrong method"
    chain = row["owner_chain"].split(" < ")
    whole = "LockTruth.viaA" in chain and ("LockTruth.viaB" in chain) == (owner.via == "viaB")
    return "right" if whole else "wrong way in"


def _about_gap(row, around):
    if row["owner_kind"] not in ("chain", "thread"):
        return row["owner_kind"]
    neighbours = {section.thread for section in around if section} - {row["blocked_thread"]}  # nobody blocks itself
    return "owner before or after" if row["owner_thread"] in neighbours else "wrong thread"


def monitor_contentions(rows, truth):
    """By thread: how many contentions of monitors we have, until the thread asked the JVM for its own count."""
    found = collections.defaultdict(set)
    for row in rows:
        counted_at, _ = truth.blocked_counts.get(row["blocked_thread"], (0, 0))
        if row["group"] == "monitor" and row["begin_ns"] < counted_at:
            found[row["blocked_thread"]].add(row["contention"])
    return {thread: len(found[thread]) for thread in truth.blocked_counts}


if __name__ == "__main__":
    for title, judged in zip(("entering", "after waits"), judge(Truth.read(sys.argv[1]),
                                                                read_csv(pathlib.Path(sys.argv[2]).read_text()))):
        if judged.true:
            print(f"{title}: right {judged.right:.2%}\n{judged}")
