"""The programs of bench/workloads that need no packages, compiled once for the tests that measure them."""
import shutil
import subprocess

from harness import DEADLINE, ROOT, Program
from jdks import ALWAYS, found

SOURCES = ROOT / "bench/workloads/src/workloads"
NEEDED = ["Harness.java", "synthetic/ProductQueriesLock.java", "synthetic/ProductQueriesMonitor.java",
          "synthetic/SensorNetwork.java", "synthetic/ActorRing.java"]


def compile_workloads(folder, *more):
    jdk = next(jdk for jdk in found() if jdk.major >= ALWAYS)
    subprocess.run([jdk.tool("javac"), "--release", str(ALWAYS), "-Xlint:-options", "-proc:none", "-d", str(folder),
                    "-sourcepath", str(SOURCES.parent), *(str(SOURCES / source) for source in [*NEEDED, *more])], check=True,
                   timeout=DEADLINE)
    shutil.copy(ROOT / "bench/workloads/catalog.txt", folder)


def run_workload(jdk, classes, name, iterations, *options):
    """Runs it to its end; it checks its own results."""
    with Program(jdk, classes, "workloads.Harness", name, 0, iterations, options=options) as program:
        assert program.wait() == 0, program.errors
