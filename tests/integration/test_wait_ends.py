"""How waits and parks end: notified and by whom, interrupted, or because their time was up."""
import collections
import json

import pytest
from harness import Program, jfr, tarsier

HAS_INTERRUPTED_FIELD = 14


@pytest.fixture
def events(jdk, classes, tmp_path):
    """{(type, thread): [values]}, of a program whose threads are named after how their waits end."""
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "WaitEnds") as program:
        program.ready()
        tarsier("record", "--lock", "-d", "2s", "-o", file, program.pid)
        program.ask("stop")
    text = jfr(jdk, "print", file, "--json", "--stack-depth", "64", "--events", "jdk.JavaMonitorWait,jdk.ThreadPark")
    by_thread = collections.defaultdict(list)
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        by_thread[event["type"], values["eventThread"]["javaName"]].append(values)
    return by_thread


def share(events, is_so):
    return sum(map(is_so, events)) / len(events)


def test_how_waits_and_parks_end(jdk, events):
    def parks(thread):
        # The first and the last may have begun before the recording, or not have ended.
        return [values for values in events["jdk.ThreadPark", thread] if not values["ongoing"]][1:]

    def waits(thread):
        return events["jdk.JavaMonitorWait", thread]

    assert share(parks("park-timeout"), lambda v: v["ended"] == "timeout") > 0.95
    assert share(parks("park-deadline"), lambda v: v["ended"] == "timeout") > 0.9  # a deadline is in whole ms
    assert share(parks("unparked"), lambda v: v["ended"] is None) > 0.95
    if jdk.major >= HAS_INTERRUPTED_FIELD:
        assert share(parks("interrupted"), lambda v: v["ended"] == "interrupt") > 0.9
    assert share(waits("wait-timeout"), lambda v: v["timedOut"] and v["notifier"] is None) > 0.95
    assert share(waits("notified"), lambda v: not v["timedOut"]) == 1
    notifiers = [values["notifier"] for values in waits("notified")]
    named = [notifier["javaName"] for notifier in notifiers if notifier is not None]
    assert set(named) == {"notifier"} and len(named) > 0.9 * len(notifiers)
    assert {values["monitorClass"]["name"] for values in waits("notified")} == {"java/lang/Object"}


def test_waits_have_their_stacks_and_lengths(events):
    timeouts = events["jdk.JavaMonitorWait", "wait-timeout"]
    assert timeouts
    for values in timeouts:
        methods = [frame["method"]["name"] for frame in values["stackTrace"]["frames"]]
        assert "await" in methods and methods[-1] == "run", methods
        assert values["identity"] != 0
    lengths = sorted(seconds(values["duration"]) for values in timeouts)
    assert lengths[0] >= 0.0049  # Object.wait(5) does not return earlier


def seconds(duration):
    """Of a duration as the JDK prints it: PT0.005S."""
    return float(duration.removeprefix("PT").removesuffix("S"))
