"""The workloads of bench/workloads/catalog.txt, and which of them can't run here."""
import dataclasses
import os
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent / "workloads"


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    java_class: str
    release: int
    packages: str
    jars: tuple

    def why_not(self, java_major, jars_folder=None, classes=FOLDER / "classes"):
        """Why it can't run, or None."""
        if self.release > java_major:
            return f"needs Java {self.release}, this is {java_major}"
        jars_folder = pathlib.Path(jars_folder or os.environ.get("JARS_DIR", "/usr/share/java"))
        missing = [jar for jar in self.jars if not (jars_folder / jar).exists()]
        if missing:
            return f"{', '.join(missing)} missing: bench/workloads/install.sh installs {self.packages}"
        if not (classes / "workloads" / (self.java_class.replace(".", "/") + ".class")).exists():
            return "not compiled: bench/workloads/build.sh, with a JAVA_HOME of 21 or later for all of them"
        return None


def all_workloads(text=None):
    """{name: Workload}, in the order of the file."""
    found = {}
    for line in (text if text is not None else (FOLDER / "catalog.txt").read_text()).splitlines():
        if line.strip() and not line.startswith("#"):
            name, java_class, release, packages, jars, *_ = (field.strip() for field in line.split("|"))
            found[name] = Workload(name, java_class, int(release), packages, tuple(jar for jar in jars.split(":") if jar))
    return found
