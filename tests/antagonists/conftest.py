"""Programs, disks, limits and users that try to break us, or to be broken by us. The harness is that of the integration
tests; native code is compiled by the system's compiler."""
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration")]

import harness  # noqa: E402  (lies there)


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; only run by script/test --long")


def pytest_generate_tests(metafunc):
    """Each test meets one of the JDKs, in turn, so that all of them have their share; long ones meet every one."""
    if "jdk" not in metafunc.fixturenames:
        return
    jdks = harness.jdks()
    if not metafunc.definition.get_closest_marker("long"):
        jdks = harness.in_turn(metafunc.definition, jdks)
    metafunc.parametrize("jdk", jdks, ids=repr)


@pytest.fixture(scope="session")
def classes():
    """Where other users' JVMs can read them: pytest closes its own folders to them."""
    with tempfile.TemporaryDirectory(prefix="tarsier-test-", dir="/var/tmp") as folder:
        pathlib.Path(folder).chmod(0o755)
        harness.compile_programs(folder)
        yield pathlib.Path(folder)


def compiled(folder, source, *options):
    output = folder / source.replace(".c", ".so" if "-shared" in options else "")
    include = harness.jdks()[-1].home / "include"
    subprocess.run(["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", *options, f"-I{include}", f"-I{include}/linux",
                    "-o", str(output), str(HERE / source), "-lpthread"], check=True, timeout=60)
    return output


@pytest.fixture(scope="session")
def natives(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("natives"), "natives.c", "-shared", "-fPIC")


@pytest.fixture(scope="session")
def forbid_perf(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("natives"), "forbid_perf.c")


@pytest.fixture
def antagonist(jdk, classes, natives):
    with harness.Program(jdk, classes, "Antagonist", natives) as program:
        yield program.ready()
