"""Which waits become events, and that the others are counted: with many more of them than anybody can write down.

The program's actors hand tokens over as fast as the machine can. That they have gone to sleep so many times is known from the
kernel's own count, which each of them reads when it ends.
"""
import json
import re

import pytest
from harness import TARSIER, books_by_jfr, engine, jfr_counts, report, samples_by_jfr, tarsier
from test_waits import PARTS, found_by  # noqa: F401  (a fixture)

ACTORS, TOKENS, MILLIS = 8, 4, 2500
SLEEPERS = {"sleeps-2": "short_waits", "sleeps-20": "waits", "sleeps-100": "long_waits"}


def record(jdk, classes, file, waits, by, *options):
    """The program's truth, and the report."""
    done = tarsier("record", "--cpu", f"--waits={waits}", "--waits-by", by, *options, "-o", file, "--", jdk.tool("java"),
                   "-XX:+UseSerialGC", "-cp", classes, "HandOvers", ACTORS, TOKENS, MILLIS)
    truth = json.loads(re.search(r"^truth (.*)$", done.stdout, re.MULTILINE)[1])
    return truth, report(file, "waits,threads")


def times_of(document, truth):
    return {thread["name"]: thread["time"] for thread in document["threads"] if thread["name"] in truth}


def test_only_waits_within_the_limits_are_events_and_the_sums_have_the_others(jdk, classes, tmp_path, found_by):  # noqa: F811
    file = tmp_path / "out.jfr"
    truth, document = record(jdk, classes, file, "10ms,50ms", found_by)
    waits = samples_by_jfr(jdk, file, event="tarsier.Wait")
    assert waits and all(0.01 <= wait.weight <= 0.05 for wait in waits), sorted(wait.weight for wait in waits)
    times = times_of(document, truth)
    for name, part in SLEEPERS.items():
        mine, time = truth[name], times[name]
        # All that it did was to sleep; its queue, and what it ran, are those of all its life. To be started is a wait, too,
        # as long as the machine is busy.
        low = mine["wall"] - mine["queued"] - mine["cpu"]
        missed, unseen = time["missed_waits"], time["missed_waits"]["ns"]
        if found_by == "watcher":  # of what lies between two looks it may not know to which of two waits it belongs
            unseen += engine(document, "waits")["counters"]["longest time between two looks (ns)"]
        assert 0.98 * low - unseen <= time[part]["ns"], (name, time, mine)
        assert time[part]["count"] + missed["count"] >= 0.98 * mine["rounds"] - 1, (name, time, mine)
        if part != "short_waits":
            assert time[part]["count"] <= mine["rounds"] + 4, (name, time, mine)
    events = [wait for wait in waits if "HandOvers.sleepsOften" in wait.frames and wait.kind == "sleeping"]
    # A timer may be late; and by the watcher, two that lie between the same two looks may have changed places.
    right = sum(wait.thread == "sleeps-20" for wait in events)
    assert right >= (0.95 if found_by == "ebpf" else 0.9) * len(events) > 0, [(wait.thread, wait.weight) for wait in events]


@pytest.mark.every_jvm
def test_of_far_too_many_waits_none_is_lost_uncounted(jdk, classes, tmp_path, found_by):  # noqa: F811
    file = tmp_path / "out.jfr"
    truth, document = record(jdk, classes, file, "1us", found_by)
    times = times_of(document, truth)
    # The books balance, and what was written is there.
    samples = engine(document, "waits")["samples"]
    taken, written, dropped = books_by_jfr(jdk, file, "waits")
    assert taken == written + sum(dropped.values()) and written == samples["written"]
    assert jfr_counts(jdk, file)["tarsier.Wait"] == written == document["waits"]["count"]
    # Each has gone to sleep as often as the kernel says, but for what came before it was known, and after it had looked.
    for name, mine in truth.items():
        time = times[name]
        count = sum(time[part]["count"] for part in PARTS)
        # (The watcher takes time that it can't explain for a wait: of a microsecond, here.)
        assert count == pytest.approx(mine["voluntary"], rel=0.01 if found_by == "ebpf" else 0.04, abs=10), (name, time, mine)
        assert time["life_ns"] == time["cpu_ns"] + time["run_queue_ns"] + sum(time[part]["ns"] for part in PARTS), name
    hand_overs = sum(mine["voluntary"] for name, mine in truth.items() if name.startswith("actor-"))
    assert hand_overs > 1000, "the program is no test of this"
    # What the threads have is what the engine has.
    of_all = document["waits"]["time"]
    assert of_all["waits"]["count"] == written and of_all["missed_waits"]["count"] == sum(dropped.values())


LEFT_OUT = "left out to keep the cost down"


def test_more_waits_than_the_budget_has_room_for_are_left_out_by_chance(jdk, classes, tmp_path, found_by):  # noqa: F811
    if found_by != "ebpf":
        pytest.skip("the watcher has a budget of its own")
    for budget in ("0.01%", "0"):
        truth, document = record(jdk, classes, tmp_path / f"{budget}.jfr", "1us", "ebpf", "--waits-budget", budget)
        samples = engine(document, "waits")["samples"]
        assert samples["taken"] == samples["written"] + sum(samples["dropped"].values())
        if budget == "0":
            assert samples["dropped"][LEFT_OUT] == 0
            continue
        # What is kept for bursts is used up first.
        assert samples["dropped"][LEFT_OUT] > 0.1 * samples["taken"], samples
        # The actors do the same, so chance leaves out as many of each.
        times = times_of(document, truth)
        kept = [times[name]["waits"]["count"] / mine["voluntary"] for name, mine in truth.items() if name.startswith("actor-")]
        assert max(kept) < 2 * min(kept), kept


def test_limits_that_make_no_sense_are_refused(tmp_path):
    for waits, word in (("10ms,5ms", "5ms"), ("nonsense", "nonsense"), ("1ms,2ms,3ms", "3ms"), ("-1ms", "1ms")):
        refused = tarsier("record", f"--waits={waits}", "-o", tmp_path / "out.jfr", "--", TARSIER, "ps", expect=2)
        assert "--waits" in refused.stderr and word in refused.stderr, (waits, refused.stderr)
        assert not (tmp_path / "out.jfr").exists()
