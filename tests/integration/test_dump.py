"""`tarsier dump`: programs that know who waits for whom (tests/java/Deadlocks.java) against what we say."""
import json
import zipfile

import jsonschema
import pytest
from deadlock_truth import CYCLES, NEAR_MISSES, edges_of, said_by
from harness import ROOT, Program, tarsier

SCHEMA = json.loads((ROOT / "docs/dump.schema.json").read_text())


def dump(pid):
    document = json.loads(tarsier("dump", pid, "--json").stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.every_jvm
@pytest.mark.parametrize("kind, count", CYCLES)
def test_a_deadlock_is_found_with_its_cycle(jdk, classes, kind, count):
    with Program(jdk, classes, "Deadlocks", kind, count) as program:
        truth = said_by(program.ready())
        document = dump(program.pid)
        text = tarsier("dump", program.pid).stdout
    assert [edges_of(deadlock, with_identity=False) for deadlock in document["deadlocks"]] == [
        {edge[:2] + edge[3:] for edge in truth}]
    edges = document["deadlocks"][0]["edges"]
    following = [(edge["lock"]["held_by"], after["thread"]) for edge, after in zip(edges, edges[1:] + edges[:1])]
    assert all(owner == thread for owner, thread in following), "the edges are in the order of the cycle"
    for edge in edges:
        is_monitor = edge["lock"]["kind"] == "monitor"
        assert (edge["lock"]["held_in"] or {}).get("method") == ("Deadlocks$Monitor.hold" if is_monitor else None)
        assert edge["waits_in"]["method"].startswith("Deadlocks"), "no inside of locking"
        # The same address where it is held.
        holder = next(thread for thread in document["threads"] if thread["id"] == edge["lock"]["held_by_id"])
        assert edge["lock"]["address"] in [lock["address"] for lock in holder["holds"]]
    assert f"{len(document['threads'])} threads, 1 deadlock" in text
    assert text.index(f"DEADLOCK of {count} threads") < text.index("    at "), "deadlocks first"


@pytest.mark.every_jvm
@pytest.mark.parametrize("kind", NEAR_MISSES)
def test_what_only_looks_like_a_deadlock_is_none(jdk, classes, kind):
    with Program(jdk, classes, "Deadlocks", kind, 3) as program:
        program.ready()
        document = dump(program.pid)
    assert document["deadlocks"] == []
    waiting = [thread for thread in document["threads"] if thread["name"].startswith("worker-") and thread["awaits"]]
    assert waiting, "but they do wait"


@pytest.mark.every_jvm
def test_names_that_look_like_parts_of_a_dump_deceive_nobody(jdk, classes):
    with Program(jdk, classes, "Deadlocks", "hostile", 2) as program:
        program.ready()
        document = dump(program.pid)
        text = tarsier("dump", program.pid).stdout
    if jdk.major >= 11:  # 8 does not say which threads there are
        assert document["missing_threads"] == 0
        assert len(document["deadlocks"]) == 1
        assert not [frame for thread in document["threads"] for frame in thread["stack"] if "fake" in frame["method"]]
    assert "\x1b" not in text and "\x1b" not in json.dumps(document, ensure_ascii=False)


@pytest.mark.since(9)
def test_a_jvm_that_takes_no_agent_can_still_be_asked(jdk, classes, tmp_path):
    # Under a name that no test beside this one has.
    jar = tmp_path / f"NoAgents{jdk.major}.jar"
    with zipfile.ZipFile(jar, "w") as file:
        file.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Deadlocks\n")
        for part in classes.glob("Deadlocks*.class"):
            file.write(part, part.name)
    with Program(jdk, classes, "-jar", jar, "monitors", 2, options=["-XX:-EnableDynamicAgentLoading"]) as program:
        program.ready()
        assert len(dump(program.pid)["deadlocks"]) == 1
        assert len(dump(jar.name)["deadlocks"]) == 1, "by its name"


def test_a_jvm_that_can_not_be_asked_is_refused_with_the_reason(jdk, classes):
    with Program(jdk, classes, "Deadlocks", "monitors", 2, options=["-XX:+DisableAttachMechanism"]) as program:
        program.ready()
        assert "-XX:+DisableAttachMechanism" in tarsier("dump", program.pid, expect=4).stderr
    assert "no process" in tarsier("dump", program.pid, expect=3).stderr
    assert tarsier("dump", "--jsn", expect=2).stderr


@pytest.mark.since(21)
def test_it_says_that_virtual_threads_are_not_shown(jdk, classes):
    with Program(jdk, classes, "Deadlocks", "monitors", 2) as program:
        program.ready()
        assert "virtual threads are not shown" in tarsier("dump", program.pid).stdout
