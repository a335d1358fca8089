import pytest

import harness


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; only run by script/test --long")


def pytest_generate_tests(metafunc):
    if "jdk" in metafunc.fixturenames:
        metafunc.parametrize("jdk", harness.jdks(), ids=repr)


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
