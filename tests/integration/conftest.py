import os

import pytest

import harness
from workloads import compile_workloads


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; only run by script/test --long")
    config.addinivalue_line("markers", "every_jvm: on each JDK of the run, not on one of them in turn")
    config.addinivalue_line("markers", "since(major): needs that JDK or a later one")
    config.addinivalue_line("markers", "signal_path: also run for the other architecture, by script/test --other-arch")


def pytest_generate_tests(metafunc):
    """Each test meets one of the JDKs that fit, in turn, so that all of them have their share; what is the heart of the
    matter, what is long, and what is asked for by TARSIER_TEST_JVMS (script/test --all-jvms) meets every one."""
    if "jdk" not in metafunc.fixturenames:
        return
    test = metafunc.definition
    since = test.get_closest_marker("since")
    jdks = [jdk for jdk in harness.jdks() if not since or jdk.major >= since.args[0]]
    if not jdks:
        jdks = [pytest.param(None, marks=pytest.mark.skip(f"no JDK {since.args[0]} or later here"))]
    everywhere = test.get_closest_marker("every_jvm") or test.get_closest_marker("long")
    if not everywhere and not os.environ.get("TARSIER_TEST_JVMS"):
        jdks = harness.in_turn(test, jdks)
    metafunc.parametrize("jdk", jdks, ids=repr)


@pytest.fixture(autouse=True)
def watch_the_hypervisor():
    harness.STOLEN.start_over()


@pytest.fixture(scope="session")
def classes(tmp_path_factory):
    """The folder with the compiled programs of tests/java."""
    folder = tmp_path_factory.mktemp("classes")
    harness.compile_programs(folder)
    return folder


@pytest.fixture(scope="session")
def workloads(tmp_path_factory):
    """The folder with the compiled workloads of bench/ that are full of locks."""
    folder = tmp_path_factory.mktemp("workloads")
    compile_workloads(folder)
    return folder


@pytest.fixture
def known_answer(jdk, classes):
    """KnownAnswer, warm and running, with the collector that leaves counted loops without polls."""
    with harness.Program(jdk, classes, "KnownAnswer", options=["-XX:+UseSerialGC"]) as program:
        yield program.ready()


@pytest.fixture(params=["perf", "cputimer", "timekeeper", "itimer"])
def clock(request):
    """Each clock of the CPU engine that may be used here."""
    if request.param == "perf" and not harness.perf_allowed():
        pytest.skip("perf events are not permitted here (perf_event_paranoid, seccomp, emulation)")
    return request.param
