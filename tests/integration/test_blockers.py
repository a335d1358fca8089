"""What threads park on keeps its name while collectors move it: tests/java/MovingBlockers.java counts its own parks."""
import collections

import pytest
from harness import LIBRARY, Program, report
from test_locks import need_hooks, rows_of

ROUNDS = 1500


@pytest.mark.every_jvm
@pytest.mark.parametrize("collector", ["Serial", "Parallel", "G1", "Z"])
def test_blockers_that_move_keep_their_names(jdk, classes, tmp_path, collector):
    if collector == "Z" and jdk.major < 17:
        pytest.skip("ZGC is an experiment before 17")
    file = tmp_path / "out.jfr"
    with Program(jdk, classes, "MovingBlockers", ROUNDS,
                 options=[f"-XX:+Use{collector}GC", "-Xmx64m", *([] if collector == "Z" else ["-Xmn2m"]),
                          f"-agentpath:{LIBRARY}=lock,file={file}"]) as program:
        assert program.wait() == 0, program.errors
        said = [line.split() for line in program.lines if line.startswith("parks ")]
    need_hooks(file)
    truth = {name: int(parks) for _, name, parks in said}
    assert len(truth) == 5
    parks_seen = {row["contention"]: row["lock_class"] for row in rows_of(file)}  # rows are pieces of them
    seen = collections.Counter(name for name in parks_seen.values() if name in truth)
    print(truth, seen)
    lock = next(engine for engine in report(file)["recording"]["engines"] if engine["name"] == "lock")
    assert all(seen[name] <= parks for name, parks in truth.items())
    assert sum(truth.values()) - seen.total() <= sum(lock["samples"]["dropped"].values())
