"""tarsier compare: what it says to good and bad input. Whether it is right: src/analysis/*_test.cpp and
tests/integration/test_slower.py."""
import base64
import gzip
import json
import os
import re
import shutil

import jsonschema
import pytest
from harness import ROOT, Program, jdks, tarsier

FIXTURES = ROOT / "tests/fixtures/recording"
SCHEMA = json.loads((ROOT / "docs/compare.schema.json").read_text())


@pytest.fixture(scope="module")
def one(classes, tmp_path_factory):
    """A recording of a JVM."""
    file = tmp_path_factory.mktemp("recorded") / "one.jfr"
    with Program(jdks()[0], classes, "KnownAnswer") as program:
        program.ready()
        tarsier("record", "--cpu", "-d", "1s", "-o", file, program.pid)
    return file


@pytest.fixture
def copy(one, tmp_path):
    """The same content in another file is another recording."""
    shutil.copy(one, tmp_path / "copy.jfr")
    return tmp_path / "copy.jfr"


def compare_json(*arguments, expect=0):
    document = json.loads(tarsier("compare", "--json", *arguments, expect=expect).stdout)
    jsonschema.validate(document, SCHEMA)
    return document


def complaint(*arguments, expect):
    done = tarsier("compare", *arguments, expect=expect)
    assert done.stdout == ""
    return done.stderr


def test_a_recording_and_its_copy_are_the_same(one, copy):
    for by in ("self", "total", "context"):
        for per in ("second", "run", "share"):
            document = compare_json(one, copy, "--by", by, "--per", per)
            assert all(row == pytest.approx([1] * 3) for row in document["overlap"] + document["coverage"])
            assert document["changes"]["significant"] == 0
            assert all(row["change"] == 0 for row in document["changes"]["rows"])
            assert (document["changes"]["by"], document["changes"]["per"]) == (by, per)


def test_the_first_line_is_the_verdict(one, copy):
    text = tarsier("compare", one, copy).stdout
    assert text.startswith(("No significant change", "Nothing can be said"))
    assert "overlap by 100.0 %" in text and str(copy) in text
    assert max(map(len, text.splitlines())) <= 100


def test_of_three_it_tells_how_consistent_they_are(one, copy, tmp_path):
    shutil.copy(one, tmp_path / "third.jfr")
    document = compare_json(one, copy, tmp_path / "third.jfr", "--top", 1_000_000)
    assert "changes" not in document and len(document["overlap"]) == 4
    assert document["consistency"]["overlap_of_pairs"]["least"] == pytest.approx(1)
    assert sum(row["mean"] for row in document["average"]) == pytest.approx(1)
    text = tarsier("compare", one, copy, tmp_path / "third.jfr").stdout
    assert text.startswith("3 recordings: ") and "Degree of overlap" in text and "Hot-edge coverage" in text
    assert max(map(len, text.splitlines())) <= 100


def test_archives_are_recordings_too(one, tmp_path):
    tarsier("export", one, "--to", "jfr.zst", "-o", tmp_path / "a.jfr.zst")
    assert compare_json(one, tmp_path / "a.jfr.zst")["overlap"][0][1] == pytest.approx(1)


def test_top_and_narrowing(one, copy):
    assert len(compare_json(one, copy, "--top", 1)["changes"]["rows"]) == 1
    assert "matches none" in complaint(one, copy, "--thread", "no such thread", expect=2)
    assert "lasts only" in complaint(one, copy, "--from", "1000s", expect=2)


def test_too_few_and_the_same_twice_are_refused(one, copy, tmp_path):
    assert "which recordings?" in complaint(expect=2)
    assert "with what?" in complaint(one, expect=2)
    assert "the same recording twice" in complaint(one, one, expect=2)
    os.link(copy, tmp_path / "linked.jfr")
    assert "linked.jfr" in complaint(copy, tmp_path / "linked.jfr", expect=2)
    assert "second, run, share" in complaint(one, copy, "--per", "hour", expect=2)


def test_what_is_no_recording_is_named(copy, tmp_path):
    (tmp_path / "text.jfr").write_text("this is no recording")
    assert "text.jfr" in complaint(copy, tmp_path / "text.jfr", expect=1)
    assert "missing.jfr" in complaint(copy, tmp_path / "missing.jfr", expect=1)
    assert "regular file" in complaint(copy, tmp_path, expect=2)


def test_a_recording_without_such_samples_is_named_with_what_it_has(copy):
    words = complaint(copy, FIXTURES / "empty-chunk.jfr", expect=2)
    assert "empty-chunk.jfr" in words and "none at all" in words
    words = complaint(copy, FIXTURES / "all-events.jfr", expect=2)
    assert "all-events.jfr" in words and "'cpu'" in words and "wall" in words


def test_of_a_damaged_one_what_is_intact_is_compared_and_said(tmp_path):
    shutil.copy(FIXTURES / "all-events.jfr", tmp_path / "whole.jfr")
    done = tarsier("compare", tmp_path / "whole.jfr", FIXTURES / "cut.jfr", "--weight", "wall", expect=5)
    assert "cut.jfr is damaged" in done.stdout and "cut.jfr: chunk" in done.stderr
    document = compare_json(tmp_path / "whole.jfr", FIXTURES / "cut.jfr", "--weight", "wall", expect=5)
    assert document["recordings"][1]["damaged"] and document["profile"] == "wall"


def head_of_page(file):
    (block,) = re.findall('id="tarsier-part-head">([^<]*)<', file.read_text())
    return json.loads(gzip.decompress(base64.b64decode(block)))


def test_the_page_shows_a_recording_against_another(one, copy, tmp_path):
    page = tmp_path / "x.html"
    tarsier("export", one, "--to", "html", "--against", copy, "--per", "share", "-o", page)
    head = head_of_page(page)
    assert head["against"]["file"] == str(copy) and head["against"]["per"] == "share"
    assert head["verdict"][0].startswith("No significant change")
    assert head["title"] == "one.jfr against copy.jfr"
    assert "for --to html" in tarsier("export", one, "--to", "pprof", "--against", copy, "-o", page, expect=2).stderr
    assert "same recording twice" in tarsier("export", one, "--to", "html", "--against", one, expect=2).stderr
    before = copy.read_bytes()
    for mine in one, copy:
        words = tarsier("export", one, "--to", "html", "--against", copy, "-o", mine, expect=2).stderr
        assert f"'{mine}' is the recording itself" in words
    assert copy.read_bytes() == before
    words = tarsier("export", one, "--to", "html", "--against", FIXTURES / "all-events.jfr", expect=2).stderr
    assert "all-events.jfr" in words and "'cpu'" in words
