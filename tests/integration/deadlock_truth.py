"""What tests/java/Deadlocks.java says about itself, and what a report of ours says, in the same form: a set of edges
(thread, class of the lock, its identity, owner)."""

CYCLES = [("monitors", 2), ("monitors", 3), ("monitors", 10), ("locks", 2), ("locks", 3), ("locks", 10), ("mixed", 2),
          ("mixed", 3), ("mixed", 10), ("notified", 2)]
NEAR_MISSES = ["chain", "timed", "semaphore"]


def said_by(program):
    """Once it is ready."""
    lines = [line.removeprefix("EDGE ").split("|") for line in program.lines if line.startswith("EDGE ")]
    return {tuple(line) for line in lines}


def edges_of(deadlock, with_identity=True):
    """Of a deadlock in our JSON."""
    return {(edge["thread"], edge["lock"]["class"], *([edge["lock"]["identity"]] if with_identity else []),
             edge["lock"]["held_by"]) for edge in deadlock["edges"]}
