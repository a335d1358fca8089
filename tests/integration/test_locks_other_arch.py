"""The hooks of locks on the other architecture, emulated: slow, so with long sections, few kinds and wide bounds."""
import other_arch
import pytest
from lock_truth import judge
from test_locks import contend

pytestmark = [pytest.mark.signal_path,
              pytest.mark.skipif(not other_arch.is_asked_for(), reason="here test_locks.py does it (--other-arch)")]


@pytest.mark.parametrize("compiler", ["-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation"])
@pytest.mark.parametrize("mode", ["sync", "wait", "reentrant"])
def test_blocked_time_has_its_true_owner(jdk, classes, tmp_path, mode, compiler):
    entering, _ = judge(*contend(jdk, classes, tmp_path, mode, hold_us=10000, options=[compiler]))
    print(entering)
    assert entering.right >= 0.9
    assert entering.wrong_thread <= 0.05
