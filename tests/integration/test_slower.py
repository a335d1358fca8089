"""Two runs of a job that does the same work each time, and one in which a method takes twice as long (tests/java/
Slower.java, which measures what each method has really used)."""
import json

import pytest
from harness import tarsier


def compare(*arguments):
    return json.loads(tarsier("compare", "--json", "--top", 1_000_000, *arguments).stdout)


@pytest.fixture
def run(jdk, classes, tmp_path):
    """Records a whole run of it; (file, {method: seconds of CPU time by its own account})."""

    def record(name, *options):
        file = tmp_path / f"{name}.jfr"
        done = tarsier("record", "--cpu", "-o", file, "--", jdk.tool("java"), *options, "-cp", classes, "Slower",
                       seconds=240)
        (truth,) = [line for line in done.stdout.splitlines() if line.startswith("truth ")]
        return file, {f"Slower.{name}": spent / 1e9 for name, spent in json.loads(truth[6:]).items()}

    return record


def test_runs_of_the_same_differ_by_noise_and_a_slower_method_is_named_first(run):
    (one, one_truth), (other, other_truth), (slow, slow_truth) = run("one"), run("other"), run("slow", "-Dslower=2")
    for method, spent in one_truth.items():  # the job keeps its word
        assert abs(other_truth[method] / spent - 1) < 0.04, (one_truth, other_truth)
        assert abs(slow_truth[method] / spent / (2 if method == "Slower.third" else 1) - 1) < 0.04, slow_truth

    for scale in ("run", "share"):
        same = compare(one, other, "--per", scale)
        assert same["changes"]["significant"] == 0 and same["changes"]["tested"] >= 4, same["changes"]["rows"][:5]
        assert same["verdict"][0].startswith("No significant change")

        changes = compare(one, slow, "--per", scale)
        first = changes["changes"]["rows"][0]
        assert first["method"] == "Slower.third" and first["significant"], changes["changes"]["rows"][:5]
        assert changes["verdict"][0].startswith("Slower.third ")

    changes = compare(one, slow, "--per", "run")["changes"]
    assert changes["significant"] == 1, changes["rows"][:5]
    assert changes["rows"][0]["outcome"] == "slower" and changes["whole"]["significant"]
    back = compare(slow, one, "--per", "run")["changes"]
    assert (back["rows"][0]["method"], back["rows"][0]["outcome"]) == ("Slower.third", "faster")
    # What the change really was lies in its interval, widened to 99.99 %: this is no test of chance.
    low, high = changes["rows"][0]["change_ci95"]
    true = (slow_truth["Slower.third"] - one_truth["Slower.third"]) * 1e9
    assert abs(true - (low + high) / 2) < 2.1 * (high - low) / 2, (true, changes["rows"][0])

    # With all that it calls main changed by as much (which may be within the noise of all of it, on a loaded machine); in its
    # context it is the same method.
    by_total = compare(one, slow, "--per", "run", "--by", "total")["changes"]
    changed = {row["method"] for row in by_total["rows"] if row["significant"]}
    assert {"Slower.third"} <= changed <= {"Slower.main", "Slower.work", "Slower.third"}
    context = compare(one, slow, "--per", "run", "--by", "context")["changes"]["rows"][0]
    assert (context["method"], context["callers"]) == ("Slower.third", ["Slower.work", "Slower.main"])

    three = compare(one, other, slow)
    assert three["overlap"][0][1] == max(three["overlap"][0][1], three["overlap"][0][2], three["overlap"][1][2])
    assert three["consistency"]["coverage_by_average"]["median"] == 1
