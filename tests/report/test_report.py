"""`tarsier report` and `export --to collapsed` on real files: against the schema, and against the JDK's own reader."""
import collections
import copy
import json
import pathlib
import re
import sys

import jsonschema
import pytest
from harness import jfr_counts, samples_by_jfr

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs/report.schema.json").read_text())
ALL_VIEWS = "hot,tree,callers,threads,quality,pauses"


def validate(document):
    """The validator needs several Python frames for every level of a tree."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        jsonschema.Draft7Validator(SCHEMA).validate(document)
    finally:
        sys.setrecursionlimit(before)


@pytest.fixture
def report(tarsier):
    def run(file, *arguments, **options):
        return json.loads(tarsier("report", file, "--json", *arguments, **options).stdout)

    return run


def walk(tree):
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo += node["children"]


def test_the_schema_is_one():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("options", [(), ("--view", ALL_VIEWS), ("--view", "callers"), ("--min-share", "0"),
                                     ("--signatures", "--top", "3"), ("--thread", "main"), ("--by-thread",),
                                     ("--from", "1s", "--to", "2s", "--view", ALL_VIEWS)], ids=" ".join)
def test_the_json_is_as_the_schema_says(by_jfr, report, options):
    document = report(by_jfr[1], *options)
    validate(document)
    views = options[options.index("--view") + 1].split(",") if "--view" in options else "hot tree threads quality pauses".split()
    assert set(document) == {"recording", "verdict", *views}


def breakages():
    """Ways in which a report could go wrong, each on a document of its own."""
    def at(*path):
        def find(document):
            for step in path:
                document = document[step]
            return document
        return find

    row, node, engine = at("hot", 0), at("tree", "children", 0), at("recording", "engines", 0)
    yield "share above 1", lambda d: row(d).update(self=1.1)
    yield "share as text", lambda d: row(d).update(self="0.5")
    yield "interval of three", lambda d: row(d)["self_ci95"].append(1)
    yield "fraction of a sample", lambda d: row(d).update(samples=1.5)
    yield "no method", lambda d: row(d).pop("method")
    yield "misspelt key", lambda d: row(d).update(sefl=0)
    yield "unknown frame type", lambda d: node(d).update(type="jit")
    yield "weight in seconds", lambda d: node(d).update(weight=0.5)
    yield "no children", lambda d: node(d).pop("children")
    yield "dropped as a number", lambda d: engine(d)["samples"].update(dropped=0)
    yield "time as a number", lambda d: d["recording"].update(start=0)
    yield "verdict as text", lambda d: d.update(verdict="fine")
    yield "unknown kind of thread", lambda d: d["threads"][0].update(kind="application")
    yield "missing recording", lambda d: d.pop("recording")
    yield "unknown view", lambda d: d.update(hots=[])
    yield "failed as a number", lambda d: d["quality"].update(failed=1)


def test_the_schema_refuses_what_is_wrong(by_jfr, report):
    document = report(by_jfr[1])
    validate(document)
    for what, damage in breakages():
        damaged = copy.deepcopy(document)
        damage(damaged)
        with pytest.raises(jsonschema.ValidationError):
            validate(damaged)
            pytest.fail(f"not refused: {what}")


def test_numbers_agree_with_the_jdks_own_reader(by_jfr, report):
    jdk, file = by_jfr
    samples = samples_by_jfr(jdk, file, depth=64)
    document = report(file, "--top", "1000000", "--min-share", "0")
    assert document["quality"]["samples"] == len(samples) == jfr_counts(jdk, file)["jdk.ExecutionSample"] > 50
    by_self = collections.Counter(sample.top for sample in samples)
    by_total = collections.Counter(name for sample in samples for name in set(sample.frames))
    rows = {row["method"]: row for row in document["hot"]}
    assert {name: row["samples"] for name, row in rows.items() if row["samples"]} == dict(by_self)
    for name, count in by_total.items():
        assert rows[name]["total"] == pytest.approx(count / len(samples)), name
    by_thread = collections.Counter(sample.os_thread_id for sample in samples)
    assert {row["tid"]: row["samples"] for row in document["threads"]} == dict(by_thread)
    period = document["recording"]["engines"][0]["interval_ns"]
    assert period in (10_000_000, 20_000_000)
    assert document["tree"]["weight"] == len(samples) * period


def test_the_tree_adds_up(by_jfr, report):
    tree = report(by_jfr[1], "--view", "tree", "--min-share", "0")["tree"]
    for node in walk(tree):
        assert node["weight"] == node["self"] + sum(child["weight"] for child in node["children"]), node["method"]
        weights = [child["weight"] for child in node["children"]]
        assert weights == sorted(weights, reverse=True)
        names = [child["method"] for child in node["children"]]
        assert len(names) == len(set(names))


def test_a_pruned_tree_has_no_light_nodes(by_jfr, report):
    tree = report(by_jfr[1], "--view", "tree", "--min-share", "10%")["tree"]
    assert all(node["weight"] >= 0.1 * tree["weight"] for node in walk(tree))


def test_windows_of_time_are_parts_of_the_whole(by_jfr, report):
    whole = report(by_jfr[1], "--view", "quality")["quality"]["samples"]
    first = report(by_jfr[1], "--view", "quality", "--to", "2s")["quality"]["samples"]
    second = report(by_jfr[1], "--view", "quality", "--from", "2s")["quality"]["samples"]
    assert 0 < first < whole and first + second == whole


def test_the_text_is_harmless_narrow_and_always_the_same(by_jfr, tarsier):
    text = tarsier("report", by_jfr[1], "--view", ALL_VIEWS).stdout
    assert text == tarsier("report", by_jfr[1], "--view", ALL_VIEWS).stdout
    lines = text.decode("utf-8").split("\n")
    assert not [line for line in lines if re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", line)]
    assert max(map(len, lines)) <= 100
    assert r"evil\u{1b}[31m\u{202e};name\u{a}" in text.decode()


def test_json_keeps_hostile_names_as_they_are(by_jfr, report):
    names = [row["name"] for row in report(by_jfr[1], "--view", "threads")["threads"]]
    assert "evil\x1b[31m\u202e;name\n" in names


def test_collapsed_stacks_hold_every_sample(by_jfr, tarsier, tmp_path):
    jdk, file = by_jfr
    out = tmp_path / "out.txt"
    tarsier("export", file, "--to", "collapsed", "-o", out)
    counts = collections.Counter()
    for line in out.read_text().splitlines():
        stack, count = line.rsplit(" ", 1)
        counts[tuple(stack.split(";"))] += int(count)
    samples = samples_by_jfr(jdk, file, depth=64)
    assert sum(counts.values()) == len(samples)
    leaves = collections.Counter()
    for stack, count in counts.items():
        leaves[stack[-1]] += count
    assert leaves == collections.Counter(sample.top for sample in samples)


def test_of_a_cut_file_the_intact_part_is_shown_and_the_exit_code_is_5(by_jfr, tarsier, tmp_path):
    whole = by_jfr[1].read_bytes()
    cut = tmp_path / "cut.jfr"
    cut.write_bytes(whole + whole[:len(whole) // 2])
    done = tarsier("report", cut, "--json", expect=5)
    document = json.loads(done.stdout)
    validate(document)
    assert document["recording"]["damaged"] and document["recording"]["problems"]
    assert any(line.startswith("Warning: the file is damaged") for line in document["verdict"])
    assert done.stderr


@pytest.mark.parametrize("arguments, cause", [
    (("--view", "hott"), "hott"), (("--thread", "("), "("), (("--thread", "nobody"), "nobody"),
    (("--from", "3s", "--to", "2s"), "before"), (("--from", "1h"), "lasts")], ids=lambda a: " ".join(a) if a else "")
def test_options_that_make_no_sense_are_usage_errors_that_name_the_cause(by_jfr, tarsier, arguments, cause):
    assert cause in tarsier("report", by_jfr[1], *arguments, expect=2).stderr.decode()


@pytest.mark.parametrize("content", [b"", b"not a recording", b"FLR\0" + bytes(64), bytes(1000)], ids=range(4))
def test_what_is_no_recording_is_refused_with_its_name(tarsier, tmp_path, content):
    file = tmp_path / "x.jfr"
    file.write_bytes(content)
    assert "x.jfr" in tarsier("report", file, expect=1).stderr.decode()
