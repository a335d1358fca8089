"""The data of `export --to html` has the numbers of `report --json`, and what the JDK reads."""
import collections
import json
import re
import subprocess

import harness
import pytest
from page_parts import Locks, parts_of
from test_locks import HERE, locks_by_jfr  # noqa: F401  (a fixture)


@pytest.fixture
def page(tarsier, tmp_path):
    def parts(file):
        tarsier("export", file, "--to", "html", "-o", tmp_path / "page.html")
        return parts_of(tmp_path / "page.html")

    return parts


def test_a_profile_has_the_weights_of_the_report(by_jfr, tarsier, page):
    report = json.loads(tarsier("report", by_jfr[1], "--json", "--view", "hot,tree", "--top", 1_000_000).stdout)
    parts = page(by_jfr[1])
    profile = parts["profile-cpu"]
    own, samples = collections.Counter(), collections.Counter()
    for name, self, count in zip(profile["node_name"], profile["self"], profile["samples"]):
        own[profile["names"][name]] += self
        samples[profile["names"][name]] += count
    weight = report["tree"]["weight"]
    assert sum(own.values()) == weight
    rows = {row["method"]: row for row in report["hot"]}
    assert rows.keys() == own.keys()
    for name, row in rows.items():
        assert own[name] / weight == pytest.approx(row["self"]), name
        assert samples[name] == row["samples"], name
    # By moment it is the same, whatever is taken together.
    assert sum(profile["moment_samples"]) == sum(profile["samples"])
    assert len(profile["moment_rows"]) == parts["head"]["moments"] <= 8192
    assert sum(profile["moment_rows"]) == len(profile["moment_node"]) <= 2_000_000


@pytest.mark.parametrize("aspects", ["class,blocked-method,blocked-thread", "owner-thread,object,blocked-chain",
                                     "group,after-wait,blocked-thread,owner-chain"])
def test_locks_give_the_same_rows_as_the_report(locks_by_jfr, tarsier, page, aspects):  # noqa: F811
    report = json.loads(tarsier("report", locks_by_jfr[1], "--json", "--view", "locks", "--by", aspects, "--top",
                                1_000_000, "--min-share", "0").stdout)["locks"]
    expected = {}

    def walk(rows, path):
        for row in rows:
            expected[path + (row["label"],)] = [row["blocked_ns"], row["count"], row["max_ns"]]
            walk(row["children"], path + (row["label"],))

    walk(report["rows"], ())
    assert len(expected) > 4
    assert Locks(page(locks_by_jfr[1])).by(*aspects.split(",")) == expected


@pytest.fixture(scope="module", params=[jdk for jdk in harness.jdks() if jdk.major >= 17], ids=repr)
def with_pauses(request, tmp_path_factory):
    """A recording by JFR of a program that has to pause: (jdk, file)."""
    jdk = request.param
    folder = tmp_path_factory.mktemp("pauses")
    subprocess.run([jdk.tool("javac"), "-d", str(folder), str(HERE / "PauseTarget.java")], check=True, timeout=240)
    file = folder / "pauses.jfr"
    subprocess.run([jdk.tool("java"), "-Xmx64m", "-cp", str(folder),
                    f"-XX:StartFlightRecording=settings=profile,filename={file}", "PauseTarget"],
                   check=True, timeout=240, capture_output=True)
    return jdk, file


def ns_of(events):
    lengths = [re.fullmatch(r"PT(?:(\d+)M)?([\d.]+)S", each["values"]["duration"]) for each in events]
    return sorted(round((60 * int(each[1] or 0) + float(each[2])) * 1e9) for each in lengths)


def test_collections_and_pauses_are_those_that_the_jdk_reads(with_pauses, page):
    jdk, file = with_pauses
    read = json.loads(harness.jfr(jdk, "print", file, "--json", "--events",
                                  "jdk.GarbageCollection,jdk.GCPhasePause,jdk.ExecuteVMOperation"))["recording"]["events"]
    by_type = collections.defaultdict(list)
    for each in read:
        by_type[each["type"]].append(each)
    timeline = page(file)["timeline"]
    kinds = collections.defaultdict(list)
    for kind, length, name in zip(timeline["pause_kind"], timeline["pause_length"], timeline["pause_name"]):
        kinds[kind].append((length, timeline["pause_names"][name]))
    collections_read = by_type["jdk.GarbageCollection"]
    assert len(collections_read) >= 5
    assert sorted(length for length, _ in kinds[0]) == pytest.approx(ns_of(collections_read), abs=1)
    assert sorted(name for _, name in kinds[0]) == \
        sorted(f"{each['values']['name']}: {each['values']['cause']}" for each in collections_read)
    assert any("System.gc()" in name for _, name in kinds[0])
    assert sorted(length for length, _ in kinds[1]) == pytest.approx(ns_of(by_type["jdk.GCPhasePause"]), abs=1)
    # A safepoint lasts at least as long as what is done in it, and the names of all are there.
    operations = [each for each in by_type["jdk.ExecuteVMOperation"] if each["values"]["safepoint"]]
    assert operations
    assert sum(length for length, _ in kinds[2]) >= sum(ns_of(operations))
    names = " ".join(name for _, name in kinds[2])
    for each in operations:
        assert each["values"]["operation"] in names
    assert timeline["pause_begin"] == sorted(timeline["pause_begin"])
    assert max(timeline["pause_begin"]) <= page(file)["head"]["duration_ns"]


def test_the_report_of_a_recording_by_jfr_adds_up_its_pauses(with_pauses, tarsier):
    jdk, file = with_pauses
    read = json.loads(harness.jfr(jdk, "print", file, "--json", "--events", "jdk.GCPhasePause"))["recording"]["events"]
    lengths = ns_of(read)
    said = json.loads(tarsier("report", file, "--json").stdout)
    gc, safepoints = said["pauses"]["gc"], said["pauses"]["safepoints"]
    assert gc["count"] == len(lengths) >= 5
    assert gc["total_ns"] == pytest.approx(sum(lengths), abs=len(lengths))
    assert gc["longest_ns"] == pytest.approx(max(lengths), abs=1)
    assert safepoints["count"] >= 5 and safepoints["total_ns"] >= gc["total_ns"] and safepoints["to_stop_ns"] is None
    assert any(line.startswith(f"GC: {gc['count']} pauses, ") and "; safepoints: " in line for line in said["verdict"])
