"""How long the engines that ask for stacks wait for them, by their own account."""
import statistics

import page
from plan import INTERVALS
from plot import boxes

ENGINES = ("handshake", "safepoint")
QUANTILES = {"p50_ns": "median", "p90_ns": "90 %", "p99_ns": "99 %", "max_ns": "longest"}


def summary(rows):
    """{interval: {engine: {workload: {quantile: ns, the median over the rounds}}}}"""
    found = {}
    for row in rows:
        latency = row.get("result", {}).get("latency") if row["experiment"] == "recording" else None
        if latency:
            found.setdefault((row["interval"], row["way"], row["workload"]), []).append(latency)
    result = {interval: {engine: {} for engine in ENGINES} for interval in INTERVALS}
    for (interval, engine, workload), each in found.items():
        result[interval].setdefault(engine, {})[workload] = {name: statistics.median(one[name] for one in each)
                                                             for name in QUANTILES}
    return result


def section(found):
    parts = ["<p>From asking for a stack to having it; of a run's answers, the median over the rounds. A box begins at the "
             "median, its line is the 90th percentile, it ends at the 99th; the whisker reaches to the longest. The scale is "
             "logarithmic.</p>"]
    for interval, engines in found.items():
        names = list(dict.fromkeys(name for of in engines.values() for name in of))
        if not names:
            continue
        values = {engine: {name: five(one) for name, one in of.items()} for engine, of in engines.items()}
        parts.append(boxes(f"Latency at {interval}", names, list(engines), values, "us", logarithmic=True))
        rows = [[name, engine, *(f"{one[quantile] / 1e3:,.1f}" for quantile in QUANTILES)]
                for name in names for engine, of in engines.items() for one in [of.get(name)] if one]
        parts.append(page.table([f"us, {interval}", "engine", *QUANTILES.values()], rows))
    return page.section("Latency", parts)


def five(one):
    p50, p90, p99, longest = (one[quantile] / 1e3 for quantile in QUANTILES)
    return p50, p50, p90, p99, longest
