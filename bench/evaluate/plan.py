"""Which runs an evaluation is made of, and in which order.

The order depends on nothing but the parameters, so that an evaluation that was broken off goes on where it was. Rounds come
first, then experiments: whenever it ends, all workloads have been measured about equally often."""
import dataclasses
import random

INTERVALS = ("10ms", "1ms", "100us")
AGREEMENT_INTERVAL = "1ms"  # recordings of it are kept and compared; observer effect and causality are measured at it
UNPROFILED = "none"


@dataclasses.dataclass(frozen=True)
class Size:
    """How much an evaluation does."""
    rounds: int
    warmup: int
    iterations: int
    agreement_iterations: int  # at the interval whose recordings are compared: overlap needs samples
    scales: dict  # amount of work of an iteration, by workload; 1 unless named
    workloads: tuple  # none: all that there are
    observed: tuple  # for the observer effect; none: all
    observer_rounds: int
    injected: tuple  # for causality
    causality_rounds: int
    causality_iterations: int
    limit_s: float  # of measuring; 0: none


# Workloads that need no packages, one of them with many threads. javac, the one real program, takes as long as all others.
QUICK = Size(rounds=2, warmup=1, iterations=2, agreement_iterations=4,
             scales={"quicksort": 0.3, "numeric": 0.6, "javac": 0.15, "sensornet": 0.3},
             workloads=("quicksort", "numeric", "sensornet", "javac"), observed=("quicksort", "sensornet"), observer_rounds=1,
             injected=("javac",), causality_rounds=1, causality_iterations=3, limit_s=520)
# The injected ones are real programs that work in the thread that iterates, where the extra work is done as well.
FULL = Size(rounds=5, warmup=3, iterations=5, agreement_iterations=10, scales={}, workloads=(), observed=(), observer_rounds=3,
            injected=("javac", "jython", "fop", "batik", "checkstyle"), causality_rounds=5, causality_iterations=8, limit_s=0)


@dataclasses.dataclass(frozen=True)
class Step:
    """One run of a JVM."""
    experiment: str
    workload: str
    way: str
    interval: str
    detail: str  # what the experiment wants to tell apart
    round: int

    @property
    def key(self):
        return "|".join(map(str, dataclasses.astuple(self)))

    @property
    def unprofiled(self):
        return self.way == UNPROFILED

    def __str__(self):
        parts = (self.experiment, self.workload, self.way, "" if self.unprofiled else self.interval, self.detail)
        return " ".join(part for part in parts if part)


def shuffled(steps, *seed):
    """In an order of its own for each round, so that a noisy neighbour disturbs all alike."""
    return random.Random("|".join(map(str, seed))).sample(steps, len(steps))


def steps_of(experiments, workloads, size, rounds):
    """All steps: `experiments` give those of one workload in one round."""
    return [step for index in range(rounds) for experiment in experiments for workload in workloads
            for step in experiment.steps(workload, index, size)]


def left_to_do(steps, rows):
    """Steps without a row, but none of what can't work: a workload whose unprofiled runs failed twice, a way of profiling
    it that failed twice."""
    done = {row["key"] for row in rows}
    hopeless = broken(rows)
    return [step for step in steps if step.key not in done and (step.workload, step.way) not in hopeless
            and (step.workload, UNPROFILED) not in hopeless]


def broken(rows, tries=2):
    """{(workload, way): reason} of those that failed that often without ever working."""
    failures, worked = {}, set()
    for row in rows:
        pair = (row["workload"], row["way"])
        if "error" in row:
            failures.setdefault(pair, []).append(row["error"])
        else:
            worked.add(pair)
    return {pair: errors[-1] for pair, errors in failures.items() if len(errors) >= tries and pair not in worked}
