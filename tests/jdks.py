"""Which JDKs a test run uses.

All that `script/jvms --homes` finds are candidates, one of each version (the system's before others). Normally the run
takes the oldest, the newest and 17, to keep it short. TARSIER_TEST_JVMS=all takes every home, which is what
`script/test --all-jvms` sets; TARSIER_TEST_JVMS=11,21 takes those versions. `script/test --other-arch` takes an emulated
one of the other architecture (tests/other_arch.py)."""
import functools
import os
import pathlib
import re
import subprocess
import sys
import zlib

import other_arch

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALWAYS = 17  # installed by script/bootstrap


class Jdk:
    def __init__(self, home):
        self.home = pathlib.Path(home)
        # Debian's 8 has no file "release".
        release = self.home / "release"
        text = release.read_text() if release.exists() else subprocess.run(
            [self.tool("java"), "-version"], capture_output=True, text=True, check=True, timeout=60).stderr
        version = re.search(r'(?:JAVA_VERSION=|version )"([^"]+)"', text)[1]
        self.major = int(re.match(r"\d+", version.removeprefix("1."))[0])
        self.name = f"jdk{self.major}"

    def tool(self, name):
        return str(self.home / "bin" / name)

    @property
    def libjvm(self):
        return next(path for pattern in ("lib/server/libjvm.so", "jre/lib/*/server/libjvm.so")
                    for path in self.home.glob(pattern))

    @functools.cache
    def has_collector(self, name):
        return subprocess.run([self.tool("java"), f"-XX:+Use{name}GC", "-version"], capture_output=True, check=False,
                              timeout=60).returncode == 0

    def __repr__(self):
        return self.name


@functools.cache
def found():
    """Every JDK that runs here, the oldest first."""
    homes = subprocess.run([ROOT / "script/jvms", "--homes"], check=True, capture_output=True, text=True, timeout=300)
    all_of_them = sorted((Jdk(home) for home in homes.stdout.split("\n") if home), key=lambda jdk: jdk.major)
    assert all_of_them, "script/jvms --homes finds no JDK; script/bootstrap installs one"
    return all_of_them


@functools.cache
def one_of_each():
    each = {}
    for jdk in found():
        each.setdefault(jdk.major, jdk)
    return list(each.values())


def in_turn(test, candidates):
    """One of them for a test: always the same, and all have their share of the tests."""
    return [candidates[zlib.crc32(test.name.encode()) % len(candidates)]]


@functools.cache
def jdks():
    """The JDKs of this run, the oldest first."""
    if other_arch.is_asked_for():
        return [Jdk(other_arch.prepare(next(jdk for jdk in found() if jdk.major == ALWAYS)))]
    wanted = os.environ.get("TARSIER_TEST_JVMS", "")
    each = one_of_each()
    if wanted == "all":
        for jdk in found():
            if jdk not in each:
                jdk.name += f"-{jdk.home.name}"
        return found()
    majors = {int(word) for word in wanted.split(",")} if wanted else {each[0].major, ALWAYS, each[-1].major}
    chosen = [jdk for jdk in each if jdk.major in majors]
    assert chosen, f"TARSIER_TEST_JVMS={wanted} names none of the JDKs here: {each}"
    return chosen


def javac():
    """A compiler for programs that every JVM from 8 on must run: javac and the options."""
    jdk = next(jdk for jdk in found() if jdk.major > 8)
    return [jdk.tool("javac"), "--release", "8", "-Xlint:-options"]


if __name__ == "__main__":  # for script/stages.py: what a run leaves out
    left_out = [jdk for jdk in found() if jdk not in jdks()]
    for jdk in left_out:
        print(f"{jdk} ({jdk.home})")
    sys.exit(0)
