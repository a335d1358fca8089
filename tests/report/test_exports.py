"""`export --to pprof` and `--to speedscope`: by their published formats, and against `report --json`."""
import collections
import json

import jsonschema
import pytest
from pprof_text import FIXTURES, Profile, decode

SPEEDSCOPE = json.loads((FIXTURES / "speedscope.schema.json").read_text())


@pytest.fixture
def exported(tarsier, tmp_path):
    def run(file, to):
        out = tmp_path / f"out.{to}"
        tarsier("export", file, "--to", to, "-o", out)
        return out

    return run


def hot_rows(tarsier, file):
    document = json.loads(tarsier("report", file, "--json", "--view", "hot,tree", "--top", 1_000_000).stdout)
    return {row["method"]: row for row in document["hot"]}, document["tree"]["weight"]


def test_protoc_reads_the_known_profile():
    assert decode((FIXTURES / "known.pprof").read_bytes()) == (FIXTURES / "known.pprof.txt").read_text()


def test_pprof_agrees_with_the_report(by_jfr, tarsier, exported):
    profile = Profile(exported(by_jfr[1], "pprof"))
    rows, weight = hot_rows(tarsier, by_jfr[1])
    assert profile.types == [("samples", "count"), ("cpu", "nanoseconds")]
    counts, _ = profile.totals(0)
    own, total = profile.totals(1)
    assert sum(own.values()) == weight
    assert {name: count for name, count in counts.items() if count} == \
        {name: row["samples"] for name, row in rows.items() if row["samples"]}
    assert total.keys() == rows.keys()
    for name, row in rows.items():
        assert own.get(name, 0) / weight == pytest.approx(row["self"]), name
        assert total[name] / weight == pytest.approx(row["total"]), name
    assert {"ReportTarget.java"} <= {file for _, _, file in profile.functions.values()}
    assert any(system == "ReportTarget.spin(IJ)J" for _, system, _ in profile.functions.values())
    stack, _, labels = next(sample for sample in profile.samples if sample[0][0][0] == "ReportTarget.spin"
                            and sample[2]["thread"] == "main")
    assert labels["thread_kind"] == "app" and labels["thread_id"] > 0 and labels["frame_type"]
    assert stack[-1][0] == "ReportTarget.main" and all(line > 0 for _, line in stack)


def test_the_same_recording_gives_the_same_bytes(by_jfr, exported):
    for to in ("pprof", "speedscope"):
        assert exported(by_jfr[1], to).read_bytes() == exported(by_jfr[1], to).read_bytes()


def test_speedscope_agrees_with_its_format_and_the_report(by_jfr, tarsier, exported):
    document = json.loads(exported(by_jfr[1], "speedscope").read_text())
    jsonschema.Draft7Validator(SPEEDSCOPE).validate(document)
    rows, weight = hot_rows(tarsier, by_jfr[1])
    names = [frame["name"] for frame in document["shared"]["frames"]]
    whole, *threads = document["profiles"]
    own, total = collections.Counter(), collections.Counter()
    assert len({tuple(stack) for stack in whole["samples"]}) == len(whole["samples"]) == len(whole["weights"])
    for stack, ns in zip(whole["samples"], whole["weights"]):
        own[names[stack[-1]]] += ns
        for name in {names[frame] for frame in stack}:
            total[name] += ns
    assert sum(own.values()) == whole["endValue"] == weight
    for name, row in rows.items():
        assert own[name] / weight == pytest.approx(row["self"]), name
        assert total[name] / weight == pytest.approx(row["total"]), name
    assert sum(sum(thread["weights"]) for thread in threads) == sum(thread["endValue"] for thread in threads) == weight
