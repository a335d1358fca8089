import pytest

import harness


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; only run by script/test --long")
    config.addinivalue_line("markers", "signal_path: also run for the other architecture, by script/test --other-arch")


def pytest_generate_tests(metafunc):
    if "jdk" in metafunc.fixturenames:
        metafunc.parametrize("jdk", harness.jdks(), ids=repr)


@pytest.fixture(autouse=True)
def watch_the_hypervisor():
    harness.STOLEN.start_over()


@pytest.fixture(scope="session")
def classes(tmp_path_factory):
    """The folder with the compiled programs of tests/java."""
    folder = tmp_path_factory.mktemp("classes")
    harness.compile_programs(folder)
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
