"""bench/evaluate without a JVM: statistics, plan, store, what is read from HotSpot's log, and the report."""
import pathlib
import re
import statistics
import sys
import xml.etree.ElementTree

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH / "evaluate"), str(BENCH)]

import catalog  # noqa: E402
import compilations  # noqa: E402
import machine  # noqa: E402
import measuring  # noqa: E402
import plot  # noqa: E402
import progress  # noqa: E402
import results  # noqa: E402
from experiments import agreement, causality, latency, observer, overhead, recording  # noqa: E402
from plan import FULL, INTERVALS, QUICK, UNPROFILED, Step, broken, left_to_do, steps_of  # noqa: E402
from store import DoesNotFit, Store  # noqa: E402

EXPERIMENTS = (recording, observer, causality)
WAYS = list(measuring.WAYS)


def row(step, result=None, error=None, seconds=1.0):
    made = {"key": step.key, "experiment": step.experiment, "workload": step.workload, "way": step.way,
            "interval": step.interval, "detail": step.detail, "round": step.round, "began": 1000.0, "load": 0.5,
            "seconds": seconds, "stolen_s": 0.25}
    return made | ({"error": error} if error else {"result": result or {}})


def recorded(workload, way, interval, index, wall, cpu=1.0, detail="", **more):
    return row(Step("recording", workload, way, interval, detail, index), {"wall": wall, "cpu": cpu, "warm": 1.0, **more})


# Statistics


def test_quartiles_interpolate_between_values():
    assert measuring.quartiles([1, 2, 3, 4, 5]) == (2, 3, 4)
    assert measuring.quartiles([4, 1]) == (1.75, 2.5, 3.25)
    assert measuring.quartiles([7]) == (7, 7, 7)


def test_mean_of_medians_is_geometric():
    assert measuring.mean_of_medians([[2, 100, 1], [8, 8, 8]]) == pytest.approx(4)


def test_bootstrap_of_equal_values_has_no_width():
    assert measuring.bootstrap_interval([[1.5, 1.5], [1.5]]) == pytest.approx((1.5, 1.5, 1.5))


def test_bootstrap_covers_the_middle_of_what_it_draws_from_and_no_more_than_all_of_it():
    value, low, high = measuring.bootstrap_interval([[1.0, 1.1, 1.2, 1.3, 1.4]])
    assert value == pytest.approx(1.2)
    assert 1.0 <= low < 1.2 < high <= 1.4


def test_bootstrap_gets_narrower_with_more_workloads():
    def width(groups):
        _, low, high = measuring.bootstrap_interval(groups)
        return high - low

    assert width([[1.0, 1.2, 1.4]] * 16) < width([[1.0, 1.2, 1.4]]) / 2


# Plan


def test_each_round_has_every_way_once_at_every_interval_and_two_unprofiled_runs_beside_it():
    steps = recording.steps("javac", 0, QUICK)
    assert sorted((step.way, step.interval) for step in steps) == sorted(
        (way, interval) for way in [UNPROFILED, UNPROFILED, *WAYS] for interval in INTERVALS)
    for begin in range(0, len(steps), len(WAYS) + 2):
        assert len({step.interval for step in steps[begin:begin + len(WAYS) + 2]}) == 1, "intervals are mixed"


def test_the_order_is_the_same_in_every_start_and_another_in_every_round():
    def order(index):
        return [(step.way, step.interval) for step in recording.steps("javac", index, FULL)]

    assert order(0) == order(0)
    assert order(0) != order(1)


def test_keys_tell_all_runs_apart():
    steps = steps_of(EXPERIMENTS, QUICK.workloads, QUICK, 3)
    assert len({step.key for step in steps}) == len(steps)


def test_more_rounds_only_add_steps():
    two, three = (steps_of(EXPERIMENTS, QUICK.workloads, QUICK, rounds) for rounds in (2, 3))
    assert three[:len(two)] == two and len(three) > len(two)


def test_sizes_name_workloads_that_exist_and_quick_needs_no_packages():
    known = catalog.all_workloads()
    for size in (QUICK, FULL):
        assert {*size.workloads, *size.observed, *size.injected, *size.scales} <= known.keys()
    assert len(QUICK.workloads) == 4
    assert not any(known[name].jars for name in QUICK.workloads)
    assert set(QUICK.injected) <= set(QUICK.workloads) and set(QUICK.observed) <= set(QUICK.workloads)


def test_what_has_been_measured_is_not_measured_again():
    steps = steps_of(EXPERIMENTS, ["javac"], QUICK, 1)
    rows = [row(step) for step in steps[:5]]
    assert left_to_do(steps, rows) == steps[5:]


def test_a_workload_that_fails_unprofiled_is_given_up_after_two_tries():
    steps = steps_of(EXPERIMENTS, ["javac", "numeric"], QUICK, 1)
    unprofiled = [step for step in steps if step.workload == "javac" and step.unprofiled]
    once = [row(unprofiled[0], error="boom")]
    assert any(step.workload == "javac" for step in left_to_do(steps, once))
    twice = [*once, row(unprofiled[1], error="boom")]
    assert {step.workload for step in left_to_do(steps, twice)} == {"numeric"}
    assert broken(twice) == {("javac", UNPROFILED): "boom"}


def test_a_way_that_fails_is_given_up_for_that_workload_alone_and_not_if_it_ever_worked():
    steps = steps_of([recording], ["javac", "numeric"], QUICK, 2)
    of_kernel = [step for step in steps if step.way == "kernel" and step.workload == "javac"]
    rows = [row(step, error="no rights") for step in of_kernel[:2]]
    left = left_to_do(steps, rows)
    assert not any(step.way == "kernel" and step.workload == "javac" for step in left)
    assert any(step.way == "kernel" and step.workload == "numeric" for step in left)
    assert any(step.way == "signal" and step.workload == "javac" for step in left)
    rows.append(row(of_kernel[2]))
    assert any(step.way == "kernel" and step.workload == "javac" for step in left_to_do(steps, rows))


def test_the_estimate_takes_a_step_for_as_long_as_its_likes():
    slow, fast = Step("recording", "slow", "none", "1ms", "", 0), Step("recording", "fast", "none", "1ms", "", 0)
    rows = [row(slow, seconds=10), row(fast, seconds=1)]
    assert progress.estimate([], [slow]) is None
    assert progress.estimate(rows, [slow, slow, fast]) == 21
    assert progress.estimate(rows, [Step("observer", "slow", "none", "1ms", "", 0)]) == 10
    assert progress.estimate(rows, [Step("recording", "new", "none", "1ms", "", 0)]) == statistics.median([10, 1])


def test_the_timed_part_begins_after_most_warm_ups_and_then_always_at_that_time():
    rows = [recorded("javac", "signal", "10ms", index, 1.0) for index in range(4)]
    assert recording.timed_at(rows, "javac") == 1.3  # 1.0 s and a quarter, in tenths
    assert recording.timed_at(rows, "numeric") == 0
    rows.append(recorded("javac", "signal", "1ms", 0, 1.0, timed_at=1.3))
    rows.append(recorded("javac", "signal", "10ms", 5, 1.0) | {"result": {"warm": 100.0}})
    assert recording.timed_at(rows, "javac") == 1.3


def test_a_workload_says_why_it_can_not_run(tmp_path):
    text = "# name | ..\nold | real.Old | 17 | libold-java | a.jar:b.jar | -Dx\nnew | synthetic.New | 21 | | |\n"
    found = catalog.all_workloads(text)
    (tmp_path / "a.jar").touch()
    reason = found["old"].why_not(17, tmp_path, tmp_path)
    assert reason.startswith("b.jar missing") and "libold-java" in reason
    assert "Java 21" in found["new"].why_not(17, tmp_path, tmp_path)
    assert "not compiled" in found["new"].why_not(25, tmp_path, tmp_path)
    (tmp_path / "workloads/synthetic").mkdir(parents=True)
    (tmp_path / "workloads/synthetic/New.class").touch()
    assert found["new"].why_not(25, tmp_path, tmp_path) is None


# Store


def test_an_evaluation_goes_on_where_it_was(tmp_path):
    file = tmp_path / "runs.jsonl"
    store = Store(file, {"jdk": "17"})
    store.append({"key": "a"})
    store.close()
    store = Store(file, {"jdk": "17"})
    assert store.rows == [{"key": "a"}]
    store.append({"key": "b"})
    store.close()
    assert [one["key"] for one in Store(file, {"jdk": "17"}).rows] == ["a", "b"]


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_cut_off_anywhere_is_as_good_as_none(tmp_path, cut):
    file = tmp_path / "runs.jsonl"
    store = Store(file, {})
    store.append({"key": "a"})
    store.append({"key": "b"})
    store.close()
    file.write_bytes(file.read_bytes()[:-cut])
    store = Store(file, {})
    assert [one["key"] for one in store.rows] == ["a"]
    store.append({"key": "c"})
    store.close()
    assert [one["key"] for one in Store(file, {}).rows] == ["a", "c"]


def test_a_first_line_cut_off_begins_anew(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text('{"parameters": {"jd')
    assert Store(file, {"jdk": "17"}).rows == []


def test_other_parameters_are_an_error_that_names_them(tmp_path):
    file = tmp_path / "runs.jsonl"
    Store(file, {"jdk": "17", "commit": "x"}).close()
    with pytest.raises(DoesNotFit, match="jdk was '17' and is '25'") as error:
        Store(file, {"jdk": "25", "commit": "x"})
    assert "commit" not in str(error.value)
    Store(file, {"jdk": "17", "commit": "x"}).close()


@pytest.mark.parametrize("text", ["not json\n", "[1]\n", '{"key": "a"}\n', '{"parameters": {}}\nnonsense\n{"key": "a"}\n',
                                  '{"parameters": {}}\n{"no": "key"}\n'])
def test_what_is_no_file_of_an_evaluation_is_refused_and_left_alone(tmp_path, text):
    file = tmp_path / "runs.jsonl"
    file.write_text(text)
    with pytest.raises(DoesNotFit):
        Store(file, {})
    assert file.read_text() == text


def test_two_evaluations_do_not_write_into_one_file(tmp_path):
    store = Store(tmp_path / "runs.jsonl", {})
    with pytest.raises(DoesNotFit, match="another evaluation"):
        Store(tmp_path / "runs.jsonl", {})
    store.close()


# Reading what HotSpot did

LOG = """<?xml version='1.0' encoding='UTF-8'?>
<task_queued compile_id='1' method='app.Main never ()V'/>
<task compile_id='1' method='app.Main run ()V' bytes='10' level='3' stamp='0.1'>
<klass id='1' name='app.Main' flags='1'/>
<method id='2' holder='1' name='run' bytes='10'/>
<parse method='2' stamp='0.1'>
<method id='3' holder='1' name='small' bytes='3'/>
<call method='3' count='1'/>
<inline_success reason='inline'/>
<parse method='3' stamp='0.1'>
</parse>
</parse>
<task_done success='1' nmsize='1'/>
</task>
<task compile_id='2' method='app.Main run ()V' bytes='10' stamp='0.2'>
<klass id='1' name='app.Main' flags='1'/>
<klass id='9' name='app.Main$$Lambda+0x00007f1c' flags='1'/>
<method id='2' holder='1' name='run' bytes='10'/>
<method id='3' holder='1' name='&lt;init&gt;' bytes='3'/>
<method id='4' holder='9' name='get' bytes='3'/>
<parse method='2' stamp='0.2'>
<call method='3' count='1'/>
<parse method='3' stamp='0.2'>
<parse method='4' stamp='0.2'>
</parse>
</parse>
<call method='4' count='1'/>
<inline_fail reason='too big'/>
</parse>
<late_inline method='4' inline_id='5'>
</late_inline>
<parse method='4' stamp='0.2'>
</parse>
<task_done success='1' nmsize='1'/>
</task>
<task compile_id='3' method='app.Main fails ()V' bytes='10' level='4' stamp='0.3'>
<failure reason='x' phase='compile'/>
<task_done success='0' nmsize='0'/>
</task>
some text in between
<task compile_id='4' method='app.Main cut ()V' level='3'
"""


def test_the_log_tells_what_was_compiled_at_which_tier_and_what_c2_inlined_where():
    found = compilations.read_log(LOG.splitlines())
    assert found["methods"] == [("app.Main.run", 3), ("app.Main.run", 4)]
    assert found["inlined"] == [("app.Main.<init>", "app.Main$$Lambda.get"), ("app.Main.run", "app.Main$$Lambda.get"),
                                ("app.Main.run", "app.Main.<init>")]


@pytest.mark.parametrize("name, plain", [
    ("app.Main$$Lambda$14/0x00000008000c2000.run", "app.Main$$Lambda.run"),
    ("app.Main$$Lambda/0x0000.run", "app.Main$$Lambda.run"),
    ("java.lang.invoke.LambdaForm$MH/0x0000000800066400.invoke", "java.lang.invoke.LambdaForm$MH.invoke"),
    ("jdk.proxy2.$Proxy7.get", "jdk.proxy2.$Proxy.get"), ("app.Unit12.make3", "app.Unit12.make3")])
def test_names_that_are_numbered_anew_in_every_run_are_made_plain(name, plain):
    assert compilations.plain_name(name) == plain


def test_alike_is_what_both_have_of_what_any_has():
    assert compilations.alike([("a", 3), ("b", 3)], [["a", 3], ["c", 3]]) == pytest.approx(1 / 3)
    assert compilations.alike([], []) == 1
    assert compilations.alike([("a", 3)], [("a", 4)]) == 0


def test_the_observer_effect_is_told_beside_what_unprofiled_runs_differ_by():
    x, y = ["x", 4], ["y", 4]
    runs = {"nonea": {"c2": [x, y]}, "noneb": {"c2": [x]}, "signal": {"c2": [x, y]}, "safepoint": {"c2": []}}
    found = observer.of_aspect([runs], "c2")
    assert found["unprofiled"]["alike"][1] == 0.5
    assert found["signal"]["alike"] == [0.625, 0.75, 0.875]  # the same as one, half of the other
    assert found["safepoint"]["alike"][1] == 0
    assert found["signal"]["count"] == 2


def test_steal_time_is_the_eighth_number():
    tick = 1 / machine.stolen_s("cpu 0 0 0 0 0 0 0 1 0 0\n")
    assert machine.stolen_s("cpu 1 2 3 4 5 6 7 800 9 10\ncpu0 0 0 0 0 0 0 0 5 0 0\n") == pytest.approx(800 / tick)
    assert machine.stolen_s("cpu 1 2 3 4\n") == 0


# Summaries


def made_up_rows():
    rows = []
    for workload, factor in (("a", 2.0), ("b", 8.0)):
        for index in range(3):
            rows += [recorded(workload, UNPROFILED, interval, index, 10.0) for interval in INTERVALS]
            rows.append(recorded(workload, "signal", "1ms", index, 10.0 * factor, latency=None))
            rows.append(recorded(workload, "handshake", "1ms", index, 10.0 * factor, latency={
                "p50_ns": 1000 * (index + 1), "p90_ns": 5000, "p99_ns": 9000, "max_ns": 90000}))
    return rows


def test_overhead_is_the_ratio_to_the_unprofiled_run_of_the_same_round_and_interval():
    rows = made_up_rows()
    rows.append(recorded("a", UNPROFILED, "1ms", 3, 20.0))
    rows.append(recorded("a", "signal", "1ms", 3, 60.0))
    rows.append(recorded("a", UNPROFILED, "1ms", 3, 22.0, detail="again"))
    found = overhead.summary(rows)["wall"]["1ms"]
    assert found["workloads"]["signal"]["a"]["ratios"] == [2, 2, 2, 3]
    assert found["workloads"]["signal"]["a"]["median"] == 2
    assert found["mean"]["signal"]["mean"] == pytest.approx(4)
    assert found["mean"][overhead.NOISE]["mean"] == pytest.approx(1.1)
    assert "kernel" not in found["mean"]


def test_a_profiled_run_whose_unprofiled_one_failed_is_not_compared_with_another():
    failed = row(Step("recording", "a", UNPROFILED, "1ms", "", 0), error="boom")
    found = overhead.summary([failed, recorded("a", UNPROFILED, "1ms", 1, 1.0), recorded("a", "signal", "1ms", 0, 2.0)])
    assert found["wall"]["1ms"]["workloads"]["signal"] == {}


def test_latency_is_the_median_over_the_rounds():
    found = latency.summary(made_up_rows())
    assert found["1ms"]["handshake"]["a"]["p50_ns"] == 2000
    assert found["1ms"]["safepoint"] == {} and found["10ms"]["handshake"] == {}


def test_agreement_takes_pairs_of_recordings_and_never_one_with_itself():
    values = [[1.0, 0.8, 0.5, 0.9], [0.8, 1.0, 0.3, 0.9], [0.5, 0.3, 1.0, 0.9], [0.9, 0.9, 0.9, 1.0]]  # the last: the average
    found = agreement.by_way(values, ["signal", "signal", "agct"], ["signal", "agct"])
    assert found[0][0] == 0.8
    assert found[0][1] == found[1][0] == pytest.approx(0.4)
    assert found[1][1] is None


def test_recordings_are_cut_only_if_their_timed_parts_begin_together():
    assert agreement.beginning([{"timed_at": 2.0}, {"timed_at": 2.0}]) == pytest.approx(2.0 + agreement.STARTING_S)
    assert agreement.beginning([{"timed_at": 2.0}, {"timed_at": 3.0}]) == 0
    assert agreement.beginning([{"timed_at": 2.0}, {}]) == 0


def test_causality_tells_the_error_in_points():
    step = Step("causality", "javac", "signal", "1ms", "10", 0)
    found = causality.summary([row(step, {"true": 0.1, "reported": 0.085, "thread_s": 5.0})])
    assert found["shares"]["10"]["signal"]["javac"]["errors"] == [pytest.approx(-1.5)]
    assert found["shares"]["5"]["signal"] == {} and found["disturbed"] == []


def test_causality_leaves_out_runs_that_the_hypervisor_disturbed_and_says_so():
    step = Step("causality", "javac", "signal", "1ms", "10", 0)
    found = causality.summary([row(step, {"true": 0.1, "reported": 0.16, "thread_s": 2.0})])  # 0.25 s were stolen
    assert found["shares"]["10"]["signal"] == {} and found["disturbed"] == [step.key]


def test_steal_time_and_failures_are_part_of_the_results():
    rows = [row(Step("recording", "a", "none", "1ms", "", 0), {"wall": 1, "cpu": 1}),
            row(Step("recording", "a", "signal", "1ms", "", 0), error="boom")]
    assert results.surroundings(rows)["stolen_s"] == 0.5
    assert results.failures(rows)["runs"] == [{"key": "recording|a|signal|1ms||0", "error": "boom"}]


# The report

HOSTILE = "<script>alert('x')</script>&\"]]>"


def hostile_results(tmp_path):
    rows = made_up_rows()
    for one in rows:
        one["workload"] = one["workload"].replace("a", HOSTILE)
    rows.append(row(Step("recording", HOSTILE, "kernel", "1ms", "", 0), error=HOSTILE))
    rows.append(row(Step("causality", HOSTILE, "signal", "1ms", "5", 0), {"true": 0.05, "reported": 0.06, "thread_s": 5.0}))
    about = {"parameters": {"commit": HOSTILE}, "jdk": {"version": [HOSTILE]}, "planned": 9, "commands": {HOSTILE: HOSTILE},
             "machine": {"architecture": "x", "cpus": 2, "cpu": HOSTILE, "memory_mb": 1, "kernel": "6"}, "unfinished": HOSTILE,
             "left_out": {HOSTILE: HOSTILE}}
    found = results.summarise(rows, tmp_path, about)
    found["agreement"] = {HOSTILE: {"ways": [HOSTILE, "x"], "from_s": 0.0, "late": 0, "recordings": 2,
                                    "overlap": [[None, 0.5], [0.5, None]], "coverage": [[None, 0.5], [0.25, None]]},
                          "other" + HOSTILE: {"error": HOSTILE}}
    noise = {"unprofiled": {"alike": [0.5, 0.5, 0.5], "count": 3}}
    found["observer"] = {HOSTILE: {aspect: noise for aspect in observer.ASPECTS}}
    return found


def test_hostile_text_stays_text_and_plots_are_well_formed(tmp_path):
    html = results.as_page(hostile_results(tmp_path))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") > 20
    drawings = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(drawings) > 6
    for drawing in drawings:
        xml.etree.ElementTree.fromstring(drawing)


def test_the_report_needs_nothing_beside_itself_and_tells_the_steal_time(tmp_path):
    html = results.as_page(hostile_results(tmp_path))
    assert not re.search(r"(?:src|href)\s*=|url\(|@import", html)
    assert "taken by the hypervisor" in html


def test_an_evaluation_of_nothing_has_a_report(tmp_path):
    about = {"parameters": {"commit": "x"}, "jdk": {"version": []}, "planned": 0, "commands": {}, "unfinished": "",
             "left_out": {}, "machine": {"architecture": "x", "cpus": 2, "cpu": "x", "memory_mb": 1, "kernel": "6"}}
    assert "0 of 0" in results.as_page(results.summarise([], tmp_path, about))


@pytest.mark.parametrize("values", [[], [0.0], [3.7], [-2.0, 41.0], [-0.3, 0.1], [-900.0, -1.0], [1e-6], [99.9, 100.1]])
def test_an_axis_has_room_for_all_values_and_zero(values):
    low, high = plot.limits(values)
    assert low <= min([0.0, *values]) and max([0.0, *values]) <= high and low < high


def test_bars_below_zero_hang_from_it():
    drawing = plot.bars("t", ["a"], ["s"], {"s": {"a": -5.0}}, -10.0, 10.0)
    rect = next(re.finditer(r'<rect x="[\d.]+" y="([\d.]+)" width="12.0" height="([\d.]+)"', drawing))
    assert float(rect[1]) == plot.Axis(-10, 10, "%").y(0)
    assert float(rect[2]) == pytest.approx(plot.HEIGHT / 4)
