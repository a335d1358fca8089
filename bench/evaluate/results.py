"""From the rows of the store to results.json and report.html."""
import json
import os
import shlex
import statistics
import sys
import time

import machine
import page
from experiments import agreement, causality, latency, observer, overhead
from measuring import LIBRARY, ROOT, WAYS, agent_option
from plan import AGREEMENT_INTERVAL, broken


def summarise(rows, folder, about):
    """All of it, as results.json has it; `about`: what is known of the evaluation beside its rows."""
    return {"about": about, "surroundings": surroundings(rows), "failures": failures(rows),
            "overhead": overhead.summary(rows), "latency": latency.summary(rows), "agreement": agreement.summary(rows, folder),
            "observer": observer.summary(rows, folder), "causality": causality.summary(rows), "runs": rows}


def surroundings(rows):
    """What the hypervisor took while runs went on, and how busy the machine was when they began."""
    measured = sum(row["seconds"] for row in rows)
    capacity = measured * len(os.sched_getaffinity(0))
    stolen = sum(row["stolen_s"] for row in rows)
    loads = [row["load"] for row in rows] or [0.0]
    return {"measured_s": measured, "stolen_s": stolen, "stolen_share": stolen / capacity if capacity else 0.0,
            "load_median": statistics.median(loads), "load_highest": max(loads),
            "began": min((row["began"] for row in rows), default=None),
            "ended": max((row["began"] + row["seconds"] for row in rows), default=None)}


def failures(rows):
    """Runs that failed, and which workloads or ways were given up for it."""
    given_up = [{"workload": workload, "way": way, "reason": reason} for (workload, way), reason in broken(rows).items()]
    return {"given_up": given_up, "runs": [{"key": row["key"], "error": row["error"]} for row in rows if "error" in row]}


def commands(jdk, size):
    """What was run, to be done again by hand."""
    run = ["bench/workloads/run.sh", "WORKLOAD", size.warmup, "ITERATIONS", "-Dscale=SCALE", "-Dharness.stats=true",
           "-Xmx2g"]
    ways = {way: [*run, agent_option(way, AGREEMENT_INTERVAL, "FILE").replace(str(LIBRARY), "libtarsier.so")]
            for way in WAYS}
    return {"evaluation": shlex.join([os.path.relpath(sys.argv[0], ROOT), *sys.argv[1:]]),
            "environment": f"JAVA_HOME={jdk.home}",
            "ITERATIONS": f"{size.iterations}, at {AGREEMENT_INTERVAL} {size.agreement_iterations}, with extra work "
                          f"{size.causality_iterations}",
            "SCALE": ", ".join(f"{name} {scale}" for name, scale in size.scales.items()) or "1",
            **{way: shlex.join(map(str, command)) for way, command in {"none": run, **ways}.items()}}


def write(results, folder):
    """Both files; each replaces its predecessor in one step."""
    for name, text in (("results.json", json.dumps(results, indent=1)), ("report.html", as_page(results))):
        file = folder / (name + ".new")
        file.write_text(text, encoding="utf-8")
        file.rename(folder / name)


def as_page(results):
    return page.whole("tarsier: evaluation", [
        about_section(results), overhead.section(results["overhead"]), latency.section(results["latency"]),
        agreement.section(results["agreement"]), observer.section(results["observer"]),
        causality.section(results["causality"])])


def about_section(results):
    about, around = results["about"], results["surroundings"]
    where = about["machine"]
    rows = [["tarsier", about["parameters"]["commit"]], ["JDK", "; ".join(about["jdk"]["version"])],
            ["machine", f"{where['architecture']}, {where['cpus']} CPUs ({where['cpu']}), {where['memory_mb']:,} MB, "
             f"Linux {where['kernel']}"],
            ["runs", f"{len(results['runs'])} of {about['planned']} planned, in {around['measured_s'] / 60:.0f} min"],
            ["begun", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(around["began"])) if around["began"] else ""],
            ["load", f"{around['load_median']:.1f} (median), {around['load_highest']:.1f} (highest)"],
            ["steal time", f"{around['stolen_s']:.1f} s, {100 * around['stolen_share']:.2f} % of all CPU time, were taken by "
             "the hypervisor"]]
    parts = [page.table(["", ""], rows, "words"), "<p>Ways of profiling:</p>",
             page.table(["way", "command, here at 1ms"], [[name, text] for name, text in about["commands"].items()], "words")]
    if about["unfinished"]:
        parts.append(page.note(about["unfinished"]))
    missing = [[name, "", reason] for name, reason in about["left_out"].items()]
    missing += [[one["workload"], one["way"], one["reason"]] for one in results["failures"]["given_up"]]
    if missing:
        parts += ["<p>Left out:</p>", page.table(["workload", "way", "reason"], missing, "words")]
    parts.append(page.note(f"{len(results['failures']['runs'])} runs failed."))
    parts += [page.note(one["key"] + ": " + one["error"]) for one in results["failures"]["runs"][:20]]
    return page.section("What was measured", parts)


def describe(jdk, parameters, size, left_out, planned, unfinished):
    return {"parameters": parameters, "machine": machine.describe(), "jdk": machine.describe_jdk(jdk),
            "commands": commands(jdk, size), "left_out": left_out, "planned": planned, "unfinished": unfinished}
