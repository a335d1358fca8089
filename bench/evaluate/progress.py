"""How much is done, and how long the rest will take."""
import statistics
import sys


def estimate(rows, steps):
    """Seconds that the steps will take: each as long as its likes did, by the median; None if nothing is known yet."""
    if not rows:
        return None
    likes = {}
    for row in rows:
        for like in ((row["experiment"], row["workload"]), row["workload"], ""):
            likes.setdefault(like, []).append(row["seconds"])
    medians = {like: statistics.median(seconds) for like, seconds in likes.items()}
    return sum(next(medians[like] for like in ((step.experiment, step.workload), step.workload, "") if like in medians)
               for step in steps)


def duration(seconds):
    minutes = round(seconds / 60)
    if minutes >= 100:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min" if minutes else "less than a minute"


def show(done, total, rows, steps, limit_left=None, stream=sys.stderr):
    """One line: rewritten on a terminal, and a line of its own in a file."""
    left = estimate(rows, steps)
    if left is not None and limit_left is not None:
        left = min(left, max(0.0, limit_left))
    rest = "" if left is None else f", {duration(left)} left"
    terminal = stream.isatty()
    begin = "\r\x1b[K" if terminal else ""
    print(f"{begin}{done} of {total}{rest}: {steps[0]}", end="" if terminal else "\n", file=stream,
          flush=True)
