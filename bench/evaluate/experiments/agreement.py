"""How much a way of profiling agrees with itself (consistency) and with the others: `tarsier compare` of all recordings of a
workload, without their warm-up."""
import json
import statistics
import subprocess

import page
from measuring import ROOT, WAYS
from plot import matrix

KINDS = {"overlap": "Degree of overlap", "coverage": "Hot-edge coverage"}
STARTING_S = 0.1  # a recording may begin that much before or after the JVM says it did


def summary(rows, folder):
    """{workload: {"ways", "from_s", "late", "recordings", "overlap": matrix, "coverage": matrix}}: medians over the pairs of
    recordings, on the diagonal those of one way in different rounds; null where there is no pair. Or {"error"}."""
    recordings = {}
    for row in rows:
        file = row.get("result", {}).get("file") if row["experiment"] == "recording" else None
        if file and (folder / file).exists():
            recordings.setdefault(row["workload"], []).append((row["way"], row["round"], file, row["result"]))
    return {workload: of_workload(sorted(of, key=lambda one: (list(WAYS).index(one[0]), one[1])), folder)
            for workload, of in recordings.items() if len(of) > 1}


def of_workload(recordings, folder):
    ways = list(dict.fromkeys(way for way, *_ in recordings))
    warm = beginning([result for *_, result in recordings])
    command = [ROOT / "tarsier", "compare", *(folder / file for _, _, file, _ in recordings), "--json", "--threshold", "0.1",
               "--from", f"{round(1000 * warm)}ms"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in (0, 5):
        return {"error": done.stderr.strip()[-500:]}
    document = json.loads(done.stdout)
    owners = [way for way, *_ in recordings]
    late = sum(result["warm"] > warm for *_, result in recordings)
    matrices = {kind: by_way(document[kind], owners, ways) for kind in KINDS}
    return {"ways": ways, "from_s": warm, "late": late, "recordings": len(recordings), **matrices}


def beginning(results):
    """Where the timed parts begin; 0 if they do not begin at the same time."""
    times = {result.get("timed_at") for result in results}
    return times.pop() + STARTING_S if len(times) == 1 and None not in times else 0.0


def by_way(values, owners, ways):
    """values[i][j] of recordings i, j and others (the average tree): of ways, the medians over the pairs of recordings."""
    def cell(a, b):
        found = [values[i][j] for i, one in enumerate(owners) for j, other in enumerate(owners)
                 if i != j and one == a and other == b]
        return statistics.median(found) if found else None
    return [[cell(a, b) for b in ways] for a in ways]


def median_matrix(matrices):
    """Of matrices of the same ways, cell by cell."""
    def cell(i, j):
        found = [one[i][j] for one in matrices if one[i][j] is not None]
        return statistics.median(found) if found else None
    return [[cell(i, j) for j in range(len(matrices[0]))] for i in range(len(matrices[0]))]


def section(found):
    parts = ["<p>Each cell is the median over all pairs of recordings of the two ways, at 1&nbsp;ms; on the diagonal over "
             "pairs of different rounds of one way: that is its consistency, and no two ways can be expected to agree better "
             "than each with itself. Overlap is symmetric. Coverage: which share of the column's hot edges (at least 10&nbsp;% of "
             "the hottest) the row has. docs/compare.md defines both.</p>"]
    whole = [of for of in found.values() if "error" not in of and of["ways"] == list(WAYS)]
    for kind, title in KINDS.items():
        if len(whole) > 1:
            parts.append(matrix(f"{title}, median over the workloads", list(WAYS), median_matrix([of[kind] for of in whole])))
    for workload, of in found.items():
        if "error" in of:
            parts.append(page.note(f"{workload}: {of['error']}"))
            continue
        since = f"from {of['from_s']:.1f} s on" if of["from_s"] else "warm-up included"
        late = f"; {of['late']} had not ended their warm-up then" if of["late"] and of["from_s"] else ""
        parts.append(page.note(f"{workload}: {of['recordings']} recordings, {since}{late}"))
        parts.append(page.beside([matrix(f"{title}, {workload}", of["ways"], of[kind]) for kind, title in KINDS.items()]))
    return page.section("Consistency and agreement", parts)
