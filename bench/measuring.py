"""What the benchmarks share: running a workload, and medians with their confidence intervals."""
import json
import math
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from jdks import one_of_each  # noqa: E402

LIBRARY = ROOT / "libtarsier.so"


def find_jdk(major):
    """A JDK of that version; the workloads are compiled by it if they are not yet."""
    jdk = next((jdk for jdk in one_of_each() if jdk.major == major), None)
    if jdk is None or not LIBRARY.exists():
        sys.exit(f"needs JDK {major} (script/jvms list) and the agent (script/build)")
    if not (ROOT / "bench/workloads/classes").exists():
        subprocess.run([ROOT / "bench/workloads/build.sh"], env=dict(os.environ, JAVA_HOME=str(jdk.home)), check=False,
                       stderr=subprocess.DEVNULL)
    return jdk


def run_workload(jdk, workload, options, java_options=(), around=()):
    """{"cpu", "wall": s of the timed iterations, "whole": s of CPU time of the whole run}."""
    command = [*around, ROOT / "bench/workloads/run.sh", workload, options.warmup, options.iterations,
               f"-Dscale={options.scale}", "-Dharness.stats=true", "-Xmx2g", *java_options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), env=dict(os.environ, JAVA_HOME=str(jdk.home)), capture_output=True,
                          text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    stats = re.search(r"wall_ms=(\d+) cpu_ms=(\d+)", done.stdout)
    if done.returncode != 0 or stats is None:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout[-800:]}\n"
                           f"{done.stderr[-800:]}")
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": int(stats[1]) / 1000, "cpu": int(stats[2]) / 1000, "whole": whole}


def read_report(file, view):
    text = subprocess.run([ROOT / "tarsier", "report", file, "--json", "--view", view], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text)


def got_of_due(file):
    """CPU time that samples stand for, of all that the kernel says the application's threads have used."""
    threads = [thread for thread in read_report(file, "threads")["threads"] if thread["kind"] == "app"]
    return sum(thread["sampled_ns"] for thread in threads) / max(1, sum(thread["cpu_ns"] for thread in threads))


def add_options(parser, workloads, rounds=5, warmup=2, iterations=3):
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--warmup", type=int, default=warmup)
    parser.add_argument("--iterations", type=int, default=iterations)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--workloads", default=workloads, help="names, separated by commas")
    parser.add_argument("--java-major", type=int, default=17)


def where(jdk, options):
    return (f"JDK {jdk.major}, {os.uname().machine}, {os.cpu_count()} CPUs, Linux {os.uname().release.split('-')[0]}, "
            f"{options.rounds} rounds, {options.warmup} + {options.iterations} iterations, scale {options.scale}")


def median_interval(values):
    """(median, low, high): the order statistics that cover the median with at least 95 %, or all of them if few."""
    values = sorted(values)
    n = len(values)
    k = max(0, int(n / 2 - 0.98 * n**0.5))
    return statistics.median(values), values[k], values[n - 1 - k]


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def percent(triple):
    return "{:+.1f} % [{:+.1f}, {:+.1f}]".format(*(100 * (value - 1) for value in triple))
