"""Runs every workload unprofiled and in all ways at all intervals. Overhead, latency and agreement are read from these.

Each interval has two unprofiled runs of its own, right among the others: one to compare all with, and one to see what chance
does. The interval whose recordings
are compared comes last: how long the workload warms up is known by then, and its timed part begins at the same time after
the start of each JVM, so that the warm-up can be cut off all recordings alike."""
import math

from measuring import WAYS, got_of_due, quartiles, read_report
from plan import AGREEMENT_INTERVAL, INTERVALS, UNPROFILED, Step, shuffled
from runner import engine_of

NAME = "recording"
AGAIN = "again"


def steps(workload, index, size):
    found = []
    others = [interval for interval in INTERVALS if interval != AGREEMENT_INTERVAL]
    for interval in [*shuffled(others, NAME, workload, index), AGREEMENT_INTERVAL]:
        each = [(UNPROFILED, ""), (UNPROFILED, AGAIN), *((way, "") for way in WAYS)]
        found += [Step(NAME, workload, way, interval, detail, index)
                  for way, detail in shuffled(each, NAME, workload, index, interval)]
    return found


def run(runner, step):
    aligned = step.interval == AGREEMENT_INTERVAL
    kept = aligned and not step.unprofiled
    name = f"{step.workload}-{step.way}-{step.round}.jfr"
    file = runner.folder / "recordings" / name if kept else runner.scratch(name)
    at = timed_at(runner.rows, step.workload) if aligned else 0
    result, _ = runner.start(step, file, [f"-Dtimed.at={round(1000 * at)}"] if at else [],
                             runner.size.agreement_iterations if aligned else None)
    if at:
        result["timed_at"] = at
    if step.unprofiled:
        return result
    document = read_report(file, "quality")
    engine, quality = engine_of(document), document["quality"]
    result.update(mechanism=engine["mechanism"], taken=engine["samples"]["taken"],
                  dropped=sum(engine["samples"]["dropped"].values()), complete=quality["complete"],
                  samples=quality["samples"], got=got_of_due(file), latency=quality["latency"])
    if kept:
        result["file"] = str(file.relative_to(runner.folder))
    else:
        file.unlink()
    return result


def timed_at(rows, workload, spare=1.25):
    """When the timed part shall begin, in s: as the last time, or later than most so far; 0 if nothing is known."""
    results = [row["result"] for row in rows
               if row["experiment"] == NAME and row["workload"] == workload and "result" in row]
    before = [result["timed_at"] for result in results if "timed_at" in result]
    if before:
        return before[-1]
    return math.ceil(10 * spare * quartiles([result["warm"] for result in results])[2]) / 10 if results else 0
