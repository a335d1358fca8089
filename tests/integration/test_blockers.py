"""What threads park on keeps its name while collectors move it: tests/java/MovingBlockers.java counts its own parks."""
import collections

import pytest
from harness import LIBRARY, Program, report
from test_locks import need_hooks, rows_of

def park(jdk, classes, folder, rounds, rounds_of_one, options):
    """How many names we have, out of how many. None is wrong, and none is missing but those that were counted."""
    file = folder / "out.jfr"
    with Program(jdk, classes, "MovingBlockers", rounds, rounds_of_one,
                 options=["-Xmx64m", *options, f"-agentpath:{LIBRARY}=lock,file={file}"]) as program:
        assert program.wait() == 0, program.errors
        said = [line.split() for line in program.lines if line.startswith("parks ")]
    need_hooks(file)
    truth = {name: int(parks) for _, name, parks in said}
    assert len(truth) == 5
    parks_seen = {row["contention"]: (row["lock_class"], row["lock"]) for row in rows_of(file)}  # rows are pieces of them
    seen = collections.Counter(name for name, _ in parks_seen.values() if name in truth)
    print(truth, seen)  # shown if one of these fails
    lock = next(engine for engine in report(file)["recording"]["engines"] if engine["name"] == "lock")
    assert all(seen[name] <= parks for name, parks in truth.items())
    nameless = lock["counters"]["locks without a name"]
    assert sum(truth.values()) - seen.total() <= sum(lock["samples"]["dropped"].values()) + nameless
    return len({lock for name, lock in parks_seen.values() if name in truth}), nameless


@pytest.mark.every_jvm
@pytest.mark.parametrize("collector", ["Serial", "Parallel", "G1", "Z"])
def test_blockers_that_move_keep_their_names(jdk, classes, tmp_path, collector):
    if collector == "Z" and jdk.major < 17:
        pytest.skip("ZGC is an experiment before 17")
    young = [] if collector == "Z" else ["-Xmn2m"]
    _, nameless = park(jdk, classes, tmp_path, 1500, 10, [f"-XX:+Use{collector}GC", *young])
    assert nameless == 0


@pytest.mark.every_jvm
def test_there_may_be_more_of_them_than_are_known_at_a_time(jdk, classes, tmp_path):
    """16,384 are. On a machine without a free CPU some come faster than they can be written down, and are counted."""
    names, nameless = park(jdk, classes, tmp_path, 5000, 1, [])
    assert names > 30_000
    assert names + nameless > 59_900


@pytest.mark.every_jvm
def test_two_with_the_same_hash_are_told_apart_by_their_classes(jdk, classes, tmp_path):
    """31 bits are few for tens of thousands of objects. Here the hash is the address: that of many before the last
    collection, too."""
    same_again = ["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=4", "-XX:+UseSerialGC", "-Xmn2m"]
    park(jdk, classes, tmp_path, 1500, 1, same_again)
