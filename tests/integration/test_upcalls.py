"""C code that calls Java through a function pointer: below the upcall comes who has called the C code."""
import pytest
from harness import LIBRARY, Program, ebpf_allowed, engine, report, samples_by_jfr
from test_fragment import check_complete


@pytest.mark.since(21)
@pytest.mark.parametrize("code", ["", "-Xint"])
@pytest.mark.parametrize("clock", ["perf", "ebpf"])
def test_the_stack_goes_on_behind_c_code(jdk, classes, tmp_path, clock, code):
    if clock == "ebpf" and not ebpf_allowed():
        pytest.skip("no right to load eBPF programs here, or a kernel without types (BTF)")
    file = tmp_path / "out.jfr"
    agent = f"-agentpath:{LIBRARY}=cpu,engine=fragment,clock={clock},file={file}"
    foreign = ["--enable-native-access=ALL-UNNAMED", *(["--enable-preview"] if jdk.major < 22 else [])]
    with Program(jdk, classes, "Upcalls", 3, options=[*foreign, *([code] if code else []), agent]) as program:
        assert program.wait() == 0, program.errors
    samples = samples_by_jfr(jdk, file, depth=100)
    burning = [sample for sample in samples if "Upcalls.burn" in sample.frames]
    through = [sample for sample in burning if sample.frames[-1] == "Upcalls.main" and "Upcalls.sort" in sample.frames
               and sample.frames.index("Upcalls.compare") < sample.frames.index("Upcalls.sort")]
    assert len(through) >= 0.995 * len(burning) > 100, [s.frames for s in burning if s not in through][:3]
    document = report(file)
    check_complete(document, 0.995)
    assert engine(document, "fragment")["counters"]["edges: wrong"] <= 1
