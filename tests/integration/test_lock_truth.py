"""The judge of the lock tests is judged here: it must see each kind of lie."""
import pytest
from lock_truth import Truth, judge, monitor_contentions, read_csv

A, B = "Sections.holdA", "Sections.holdB"
# one holds it 100..200, two 210..300, three 320..400; two waits from 110 on, three from 120 on. After that one, who waited on
# it, is notified by three at 350 and has it 410..420.
TRUTH = Truth("\n".join("\t".join(map(str, words)) for words in [
    ("hold", "one", "L@1", 99, 100, 200, A, "viaA", "enter"),
    ("hold", "two", "L@1", 110, 210, 300, B, "viaB", "enter"),
    ("hold", "three", "L@1", 120, 320, 400, A, "viaA", "enter"),
    ("hold", "one", "L@1", 350, 410, 420, A, "viaA", "afterWait"),
    ("blocked", "one", 500, 1), ("blocked", "two", 500, 1), ("blocked", "three", 500, 1)]))
COLUMNS = ("group,after_wait,lock_class,lock,contention,blocked_thread,blocked_method,blocked_chain,begin_ns,end_ns,"
           "owner_kind,owner_thread,owner_method,owner_chain")
# contention, blocked thread, begin, end, kind, owner, method, called by
RIGHT = [(1, "two", 110, 202, "chain", "one", A, "viaA"), (1, "two", 202, 210, "hand-off", "", "", ""),
         (2, "three", 120, 202, "chain", "one", A, "viaA"), (2, "three", 202, 210, "hand-off", "", "", ""),
         (2, "three", 210, 301, "chain", "two", B, "viaB"), (2, "three", 301, 319, "hand-off", "", "", ""),
         (3, "one", 351, 403, "chain", "three", A, "viaA"), (3, "one", 403, 409, "unknown", "", "", "")]


def rows(pieces, group="monitor", lock="L@1", after_wait_of=("one",)):
    lines = [COLUMNS]
    for contention, thread, begin, end, kind, owner, method, via in pieces:
        ways = {"viaA": "LockTruth.viaA", "viaB": "LockTruth.viaA < LockTruth.viaB"}
        chain = f"{method} < {ways[via]}" if via else ""
        again = str(thread in after_wait_of).lower()
        lines.append(f"{group},{again},L,{lock},{contention},{thread},x,x,{begin},{end},{kind},{owner},{method},{chain}")
    return read_csv("\n".join(lines))


def changed(index, **changes):
    names = ("contention", "thread", "begin", "end", "kind", "owner", "method", "via")
    pieces = list(RIGHT)
    pieces[index] = tuple({**dict(zip(names, pieces[index])), **changes}.values())
    return rows(pieces)


def test_the_truth_is_right():
    entering, after_wait = judge(TRUTH, rows(RIGHT))
    for judged in (entering, after_wait):
        assert judged.right == 1 and judged.wrong_thread == 0 and judged.outside == 0, str(judged)
        assert judged.other_lock == judged.mislabelled == 0
    assert entering.held.total() == 90 + 80 + 90
    assert entering.gaps == {"hand-off": 8 + 8 + 18, "owner before or after": 2 + 2 + 1}
    assert entering.seen_share("two") == 1 and entering.seen_share("three") == 199 / 200
    assert entering.blame_apart() < 0.02
    assert after_wait.held == {"right": 49} and after_wait.seen_share() == 58 / 60
    assert monitor_contentions(rows(RIGHT), TRUTH) == {"one": 1, "two": 1, "three": 1}


@pytest.mark.parametrize("kind, owner, method, via, called", [
    ("chain", "three", A, "viaA", "wrong thread"), ("thread", "three", "", "", "wrong thread"),
    ("thread", "one", "", "", "thread only"), ("chain", "one", B, "viaA", "wrong method"),
    ("chain", "one", A, "viaB", "wrong way in"), ("hand-off", "", "", "", "hand-off"), ("unknown", "", "", "", "unknown")])
def test_a_wrong_owner_is_seen(kind, owner, method, via, called):
    entering, _ = judge(TRUTH, changed(0, kind=kind, owner=owner, method=method, via=via))
    assert entering.held == {"right": 80 + 90, called: 90}
    assert (entering.wrong_thread > 0.3) == (called == "wrong thread")
    assert entering.blame_apart() > 0.1 or called in ("wrong way in", "wrong thread") or kind != "chain"


def test_an_owner_that_stays_too_long_is_wrong_from_the_next_one_on():
    entering, _ = judge(TRUTH, changed(2, end=250))
    assert entering.held["wrong thread"] == 40


@pytest.mark.parametrize("owner", ["three", "two"])
def test_an_owner_who_was_not_near_a_gap_is_wrong_there_and_so_is_the_blocked_one(owner):
    entering, _ = judge(TRUTH, changed(1, kind="chain", owner=owner, method=A, via="viaA"))
    assert entering.gaps["wrong thread"] == 8


def test_blocked_time_that_is_missing_or_made_up_is_seen():
    entering, _ = judge(TRUTH, rows(RIGHT[2:]))
    assert entering.seen_share("two") == 0
    entering, _ = judge(TRUTH, changed(0, begin=50))
    assert entering.outside == 60


def test_another_lock_and_a_wrong_flag_are_seen():
    entering, after_wait = judge(TRUTH, rows(RIGHT, lock="L@2"))
    assert entering.other_lock == 100 + 199 and entering.seen.total() == 0 and after_wait.other_lock == 58
    entering, after_wait = judge(TRUTH, rows(RIGHT, after_wait_of=("two",)))
    assert entering.mislabelled == 100 and after_wait.mislabelled == 58


def test_only_the_window_counts():
    entering, after_wait = judge(TRUTH, rows(RIGHT), window=(150, 250))
    assert entering.true == {"two": 60, "three": 100} and entering.seen == entering.true
    assert entering.held == {"right": 50 + 50 + 40} and not after_wait.true


def test_parks_that_are_no_locks_are_left_out():
    entering, _ = judge(TRUTH, rows(RIGHT, group="condition"))
    assert entering.seen.total() == 0


def test_a_program_whose_logs_contradict_each_other_is_refused():
    with pytest.raises(AssertionError, match="at one time"):
        Truth("hold\tone\tL\t1\t2\t9\tA\tviaA\tenter\nhold\ttwo\tL\t1\t8\t11\tA\tviaA\tenter")
