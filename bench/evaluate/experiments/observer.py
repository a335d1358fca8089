"""Does profiling change what is observed: which methods the JVM compiles, and which calls it inlines?

Two runs of the same program differ as well. So there are two unprofiled ones in every round, and a way of profiling is
harmless if it differs from them no more than they do from each other."""
import gzip
import json
import statistics

import compilations
import page
from measuring import WAYS, quartiles
from plan import AGREEMENT_INTERVAL, UNPROFILED, Step, shuffled
from plot import bars

NAME = "observer"
ASPECTS = {"c1": "methods compiled by C1", "c2": "methods compiled by C2", "inlined": "calls inlined by C2"}
NOISE = "unprofiled"
COLUMNS = (NOISE, *WAYS)


def steps(workload, index, size):
    if index >= size.observer_rounds or size.observed and workload not in size.observed:
        return []
    each = [(UNPROFILED, "a"), (UNPROFILED, "b"), *((way, "") for way in WAYS)]
    return [Step(NAME, workload, way, AGREEMENT_INTERVAL, detail, index)
            for way, detail in shuffled(each, NAME, workload, index)]


def run(runner, step):
    log = runner.scratch("compilations.xml")
    recording = runner.scratch("observed.jfr")
    log.unlink(missing_ok=True)
    result, _ = runner.start(step, recording, [*compilations.OPTIONS, f"-XX:LogFile={log}"])
    with open(log, encoding="utf-8", errors="replace") as lines:
        found = compilations.read_log(lines)
    log.unlink()
    file = runner.folder / "compilations" / f"{step.workload}-{step.way}{step.detail}-{step.round}.json.gz"
    file.parent.mkdir(exist_ok=True)
    with gzip.open(file, "wt") as out:
        json.dump(found, out)
    return result | {"file": str(file.relative_to(runner.folder)), "methods": len(found["methods"]),
                     "inlined": len(found["inlined"])}


def aspects(found):
    return {"c1": [method for method in found["methods"] if method[1] < compilations.C2],
            "c2": [method for method in found["methods"] if method[1] == compilations.C2], "inlined": found["inlined"]}


def summary(rows, folder):
    """{workload: {aspect: {column: {"alike": [first, median, third], "count": median}}}}"""
    found = {}
    for row in rows:
        if row["experiment"] == NAME and "result" in row:
            with gzip.open(folder / row["result"]["file"], "rt") as file:
                found.setdefault(row["workload"], {}).setdefault(row["round"], {})[row["way"] + row["detail"]] = \
                    aspects(json.load(file))
    return {workload: {aspect: of_aspect(rounds.values(), aspect) for aspect in ASPECTS} for workload, rounds in found.items()}


def of_aspect(rounds, aspect):
    alike, counts = {}, {}
    for runs in rounds:
        unprofiled = {name: runs[name] for name in (UNPROFILED + "a", UNPROFILED + "b") if name in runs}
        for name, run_ in runs.items():
            column = NOISE if name in unprofiled else name
            counts.setdefault(column, []).append(len(run_[aspect]))
            others = [other for other_name, other in unprofiled.items() if other_name != name]
            alike.setdefault(column, []).extend(compilations.alike(run_[aspect], other[aspect]) for other in others)
    return {column: {"alike": list(quartiles(alike[column])), "count": statistics.median(counts[column])}
            for column in COLUMNS if alike.get(column)}


def section(found):
    parts = ["<p>What a run has compiled or inlined against what the unprofiled runs of the same round have, as the share "
             "that both have of what any of them has; the median over the rounds, with quartiles. The first bar is one unprofiled "
             "run against the other: the noise. A way of profiling that is as high as that changes nothing.</p>"]
    for aspect, title in ASPECTS.items():
        workloads = [workload for workload, of in found.items() if of[aspect]]
        if not workloads:
            continue
        each = {column: {workload: found[workload][aspect].get(column) for workload in workloads} for column in COLUMNS}
        values = {column: {workload: 100 * of["alike"][1] for workload, of in row.items() if of}
                  for column, row in each.items()}
        whiskers = {column: {workload: (100 * of["alike"][0], 100 * of["alike"][2]) for workload, of in row.items() if of}
                    for column, row in each.items()}
        parts.append(bars(f"Alike: {title}", workloads, COLUMNS, values, spread=whiskers))
        rows = [[workload, *(cell(each[column][workload]) for column in COLUMNS)] for workload in workloads]
        parts.append(page.table([f"{title}: alike (number)", *COLUMNS], rows))
    return page.section("Observer effect", parts)


def cell(of):
    return f"{100 * of['alike'][1]:.1f} % ({of['count']:,.0f})" if of else ""
