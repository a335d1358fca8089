"""The command from outside: its words, its exit codes, its manners. JVMs are started by the harness of the integration
tests; what an agent might do wrong is played by fake_agent.py."""
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration")]

import harness  # noqa: E402  (lies there)


def pytest_generate_tests(metafunc):
    if "jdk" in metafunc.fixturenames:
        metafunc.parametrize("jdk", harness.jdks(), ids=repr)


@pytest.fixture(scope="session")
def classes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    harness.compile_programs(folder)
    return folder


@pytest.fixture
def with_fake_agent(tmp_path):
    """Runs `tarsier record -- fake_agent.py SCENARIO`: no JVM, but the whole conversation."""

    def run(scenario, *options, expect, file="x.jfr", seconds=60):
        command = [str(harness.TARSIER), "record", "-o", str(tmp_path / file), *options, "--", "/usr/bin/python3",
                   str(HERE / "fake_agent.py"), scenario]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, NO_COLOR="1"))
        assert done.returncode == expect, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
