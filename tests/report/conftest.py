"""Recordings of JFR itself, made by every JDK here, and the command that reports them.

TARSIER=PATH tests another build of the command."""
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "integration")]

import harness  # noqa: E402  (lies there)

TARSIER = os.environ.get("TARSIER", str(harness.TARSIER))


def pytest_generate_tests(metafunc):
    if "by_jfr" in metafunc.fixturenames:
        # JFR of 8, a backport, takes one sample a second of this program on aarch64: nothing to compare with.
        jdks = [jdk for jdk in harness.jdks() if jdk.major >= 11]
        metafunc.parametrize("by_jfr", jdks, ids=repr, indirect=True, scope="session")


@pytest.fixture(scope="session")
def by_jfr(request, tmp_path_factory):
    """A recording of ReportTarget by JFR: (jdk, file)."""
    jdk = request.param
    folder = tmp_path_factory.mktemp("by-jfr")
    subprocess.run([jdk.tool("javac"), "-d", str(folder), str(HERE / "ReportTarget.java")], check=True, timeout=60)
    file = folder / "by.jfr"
    subprocess.run([jdk.tool("java"), "-cp", str(folder), f"-XX:StartFlightRecording=settings=profile,filename={file}",
                    "ReportTarget", "4"], check=True, timeout=120, capture_output=True)
    return jdk, file


@pytest.fixture
def tarsier():
    def run(*arguments, expect=0):
        done = subprocess.run([TARSIER, *map(str, arguments)], capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, env=dict(os.environ, NO_COLOR="1"))
        assert done.returncode == expect, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
