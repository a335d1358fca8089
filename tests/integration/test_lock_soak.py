"""A minute of contended programs that are recorded all the time. Ten minutes of each: script/soak --locks."""
import pytest
from lock_soak import COLLECTORS, PROGRAMS, soak

SECONDS = 60


@pytest.mark.timeout(900)
@pytest.mark.parametrize("collector", COLLECTORS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_contended_programs_bear_being_recorded_all_the_time(jdk, workloads, tmp_path, name, collector):
    sessions, events = soak(jdk, workloads, name, collector, SECONDS / len(PROGRAMS) / len(COLLECTORS), tmp_path / "out.jfr")
    assert sessions > 0 and events > 0, f"{events} events in {sessions} sessions: this has shown nothing"
