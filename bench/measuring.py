"""What the benchmarks share: running a workload, and medians with their confidence intervals."""
import json
import math
import os
import pathlib
import random
import re
import resource
import signal
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from jdks import one_of_each  # noqa: E402

LIBRARY = ROOT / "libtarsier.so"

# Every engine and path of ours that samples CPU time, and the agent's options for it.
WAYS = {"signal": "engine=fragment,clock=perf", "kernel": "engine=fragment,clock=ebpf",
        "rings": "engine=fragment,clock=perf-rings", "agct": "engine=agct,clock=perf", "handshake": "engine=handshake",
        "safepoint": "engine=safepoint"}


def find_jdk(major):
    """A JDK of that version; the workloads are compiled by it if they are not yet."""
    jdk = next((jdk for jdk in one_of_each() if jdk.major == major), None)
    if jdk is None:
        sys.exit(f"needs JDK {major} (script/jvms list)")
    prepare(jdk)
    return jdk


def prepare(jdk):
    if not LIBRARY.exists():
        sys.exit("needs the agent (script/build)")
    if not (ROOT / "bench/workloads/classes").exists():
        subprocess.run([ROOT / "bench/workloads/build.sh"], env=dict(os.environ, JAVA_HOME=str(jdk.home)), check=False,
                       stderr=subprocess.DEVNULL)


def agent_option(way, interval, file):
    return f"-agentpath:{LIBRARY}=cpu,{WAYS[way]},interval={interval},file={file}"


def run_workload(jdk, workload, options, java_options=(), around=()):
    """{"cpu", "wall": s of the timed iterations, "whole": s of CPU time of the whole run}."""
    result, _ = run_and_read(jdk, workload, options, java_options, around)
    return {key: result[key] for key in ("wall", "cpu", "whole")}


def run_and_read(jdk, workload, options, java_options=(), around=(), timeout=None):
    """The same with "warm", s from the JVM's start to that of the timed iterations; and what the program has printed."""
    command = [*around, ROOT / "bench/workloads/run.sh", workload, options.warmup, options.iterations,
               f"-Dscale={options.scale}", "-Dharness.stats=true", "-Xmx2g", *java_options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, stdout, stderr = run_group(command, dict(os.environ, JAVA_HOME=str(jdk.home)), timeout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    stats = re.search(r"wall_ms=(\d+) cpu_ms=(\d+).* warm_ms=(\d+)", stdout)
    if code == 0 and stats is None:
        raise RuntimeError(f"{workload} does not tell its times: it was compiled from older sources. Run bench/workloads/build.sh")
    if code != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {code}\n{stdout[-800:]}\n{stderr[-800:]}")
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": int(stats[1]) / 1000, "cpu": int(stats[2]) / 1000, "whole": whole, "warm": int(stats[3]) / 1000}, stdout


def run_group(command, environment, timeout=None):
    """(exit code, stdout, stderr). In a process group of its own, of which nothing is left if this ends early."""
    with subprocess.Popen(list(map(str, command)), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as program:
        try:
            stdout, stderr = program.communicate(timeout=timeout)
        except BaseException as error:
            os.killpg(program.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise RuntimeError(f"{' '.join(map(str, command))} did not end within {timeout:.0f} s") from None
            raise
    return program.returncode, stdout, stderr


def read_report(file, view, *more):
    text = subprocess.run([ROOT / "tarsier", "report", file, "--json", "--view", view, *more], check=True,
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


def quartiles(values):
    """(first quartile, median, third quartile), with linear interpolation between the values."""
    values = sorted(values)
    if len(values) == 1:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def mean_of_medians(groups):
    """The geometric mean of the groups' medians: one group for each workload, with a ratio from each round."""
    return geometric_mean([statistics.median(group) for group in groups])


def bootstrap_interval(groups, statistic=mean_of_medians, times=1000, confidence=0.95, seed=1):
    """(statistic, low, high): the interval between the percentiles of the statistic if everything is drawn anew, with
    replacement: the groups, and of each its values. So the interval tells what other rounds of other workloads of the same
    kind could have given. (Drawing the values alone makes intervals far too narrow if there are but two of them.)"""
    draw = random.Random(seed)
    found = sorted(statistic([draw.choices(group, k=len(group)) for group in draw.choices(groups, k=len(groups))])
                   for _ in range(times))
    outside = int(times * (1 - confidence) / 2)
    return statistic(groups), found[outside], found[times - 1 - outside]


UNITS = {"us": 1_000, "ms": 1_000_000}


def nanoseconds(text):
    """Of an interval, as 100us."""
    number, unit = text[:-2], text[-2:]
    if unit not in UNITS or not number.isdigit():
        sys.exit(f"an interval is a number with us or ms, not {text}")
    return int(number) * UNITS[unit]


def points(triple):
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * value for value in triple))


def percent(triple):
    return "{:+.1f} % [{:+.1f}, {:+.1f}]".format(*(100 * (value - 1) for value in triple))
