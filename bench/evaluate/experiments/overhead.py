"""What each way of profiling costs, at each interval: execution time and CPU time against the unprofiled run beside it."""
from html import escape

import page
from experiments.recording import AGAIN
from measuring import WAYS, bootstrap_interval, quartiles
from plan import INTERVALS, UNPROFILED
from plot import bars, boxes, limits

MEASURES = {"wall": "execution time", "cpu": "CPU time"}
NOISE = "unprofiled again"
COLUMNS = (*WAYS, NOISE)
MEAN = "geometric mean"


def summary(rows):
    """{measure: {interval: {"workloads": {way: {workload: {..}}}, "mean": {way: {..}}}}}; ratios, 1 is no overhead."""
    runs = {(row["workload"], NOISE if row["detail"] == AGAIN else row["way"], row["interval"], row["round"]): row["result"]
            for row in rows if row["experiment"] == "recording" and "result" in row}
    return {measure: {interval: of_interval(runs, measure, interval) for interval in INTERVALS} for measure in MEASURES}


def of_interval(runs, measure, interval):
    ratios = {column: {} for column in COLUMNS}
    for (workload, column, at, index), result in runs.items():
        base = runs.get((workload, UNPROFILED, interval, index))
        if at == interval and column != UNPROFILED and base and base[measure] > 0:
            ratios[column].setdefault(workload, []).append(result[measure] / base[measure])
    return {"workloads": {column: {workload: spread(values) for workload, values in of.items()}
                          for column, of in ratios.items()},
            "mean": {column: mean(of.values()) for column, of in ratios.items() if of}}


def spread(values):
    first, median, third = quartiles(values)
    return {"median": median, "first": first, "third": third, "ratios": values}


def mean(groups):
    value, low, high = bootstrap_interval(list(groups))
    return {"mean": value, "ci95": [low, high]}


def points(ratio):
    return 100 * (ratio - 1)


def section(found):
    parts = ["<p>Each bar is the median over the rounds of the ratio to the unprofiled run of the same round, in per cent "
             "above it; its whisker goes from the first to the third quartile. The last group is the geometric mean over the "
             "workloads of those medians, its whisker the 95&nbsp;% confidence interval (bootstrap over workloads and rounds). "
             f"<i>{escape(NOISE)}</i> is one unprofiled run against another: whatever is no larger than that is noise.</p>"]
    for measure, name in MEASURES.items():
        for interval in INTERVALS:
            one = found[measure][interval]
            if one["mean"]:
                parts += [plot(one, f"{name.capitalize()} at {interval}"), table(one, f"{name}, {interval}")]
        parts.append(over_workloads(found[measure], f"{name.capitalize()}: the workloads' medians"))
    return page.section("Overhead", parts)


def columns_of(one):
    return [column for column in COLUMNS if column in one["mean"]]


def workloads_of(one):
    return list(dict.fromkeys(workload for of in one["workloads"].values() for workload in of))


def plot(one, title):
    columns = columns_of(one)
    values = {column: {workload: points(of["median"]) for workload, of in one["workloads"][column].items()}
              for column in columns}
    whiskers = {column: {workload: (points(of["first"]), points(of["third"]))
                         for workload, of in one["workloads"][column].items()} for column in columns}
    for column in columns:
        values[column][MEAN] = points(one["mean"][column]["mean"])
        whiskers[column][MEAN] = tuple(map(points, one["mean"][column]["ci95"]))
    ends = [end for of in whiskers.values() for both in of.values() for end in both]
    low, high = limits(ends + [value for of in values.values() for value in of.values()])
    return bars(title, [*workloads_of(one), MEAN], columns, values, low, high, spread=whiskers)


def table(one, corner):
    columns = columns_of(one)
    rows = []
    for workload in workloads_of(one):
        cells = [one["workloads"][column].get(workload) for column in columns]
        rows.append([workload, *(in_percent(of["median"], of["first"], of["third"]) if of else "" for of in cells)])
    rows.append([MEAN, *(in_percent(one["mean"][column]["mean"], *one["mean"][column]["ci95"]) for column in columns)])
    return page.table([corner, *columns], rows)


def in_percent(value, low, high):
    return f"{points(value):+.1f} % [{points(low):+.1f}, {points(high):+.1f}]"


def over_workloads(of_measure, title):
    intervals = [interval for interval in INTERVALS if of_measure[interval]["mean"]]
    values = {column: {} for column in COLUMNS}
    for interval in intervals:
        for column, of in of_measure[interval]["workloads"].items():
            medians = [points(one["median"]) for one in of.values()]
            if medians:
                values[column][interval] = (min(medians), *quartiles(medians), max(medians))
    return boxes(title, intervals, COLUMNS, values, "%")
