"""Threads that hand over to each other all the time: perf's clock spares them, and still sees all that they use."""
import json
import re

import pytest
from harness import engine, perf_allowed, report, tarsier

ACTORS, TOKENS, MILLIS = 8, 4, 3000


@pytest.mark.parametrize("name", ["fragment", "agct"])
def test_samples_of_threads_that_switch_all_the_time_stand_for_what_these_have_used(jdk, classes, tmp_path, name):
    if not perf_allowed():
        pytest.skip("perf events are not permitted here")
    file = tmp_path / "out.jfr"
    done = tarsier("record", "--cpu", "--engine", name, "--clock", "perf", "-o", file, "--", jdk.tool("java"),
                   "-XX:+UseSerialGC", "-cp", classes, "HandOvers", ACTORS, TOKENS, MILLIS)
    truth = json.loads(re.search(r"^truth (.*)$", done.stdout, re.MULTILINE)[1])
    document = report(file, "hot,threads")
    if "kernel stacks included" not in engine(document, name)["why"]:
        pytest.skip("time in the kernel may not be seen here: nobody is spared")
    counters = engine(document, name)["counters"]
    # Those that wait for a CPU most of the time, on a machine that has much to do, may not switch as often.
    assert counters["threads that were spared, since they switch all the time"] >= ACTORS / 2, counters
    actors = [thread for thread in document["threads"] if thread["name"].startswith("actor-")]
    assert len(actors) == ACTORS
    used, sampled = (sum(thread[key] for thread in actors) for key in ("cpu_ns", "sampled_ns"))
    assert 0.9 * used < sampled < 1.1 * used, (used, sampled, truth)
