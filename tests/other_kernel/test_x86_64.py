"""The agent on a kernel for x86_64, in an emulator: perf's clock by signals, perf's rings, and the eBPF programs that
sample, find waits and say who ended them. The emulator is slow, and interrupts come between blocks of its code only: what
is counted here is whether stacks, waits and wakers are right, not how many there are; nor what they cost.

    script/test --other-kernel --only other-kernel
"""
import json
import re
import shutil
import sys

import pytest
from guest import ROOT, Guest

sys.path.insert(0, str(ROOT / "tests" / "integration"))
from harness import compile_programs, engine, report  # noqa: E402

pytestmark = pytest.mark.timeout(1500)

CLOCKS = ("perf", "ebpf", "perf-rings")
JAVA = "/jdk/bin/java -Xmx300m -cp /tarsier/classes"
COMMANDS = "\n".join([
    *(f"{JAVA} -agentpath:/tarsier/libtarsier.so=cpu,engine=fragment,clock={clock},interval=4ms,file=/out/{clock}.jfr "
      f"KnownAnswer 6 > {clock}.txt" for clock in CLOCKS),
    "dd if=/dev/zero of=/tmp/file bs=1M count=1",
    f"{JAVA} -agentpath:/tarsier/libtarsier.so=cpu,interval=20ms,waits=100us,waitsby=ebpf,waitsbudget=0,file=/out/waits.jfr "
    "Wakers 10 100 /tmp/file /tmp/file > waits.txt",
    "/tarsier/tarsier doctor > doctor.txt",
])
# In which method who waits is ended how, by which thread, in which method of theirs.
WAKERS = {
    "awaitsB": ("thread", "B", "endsA"),
    "awaitsC": ("thread", "C", "endsB"),
    "readsSocket": ("thread", "sender", "endsRead"),
    "waitsForNotify": ("thread", "notifier", "endsWait"),
    "joins": ("thread", "joined", ""),
    "sleeps": ("interrupt", None, ""),
    "asksProcess": ("process", "sh", ""),
}


@pytest.fixture(scope="session")
def out(tmp_path_factory):
    if not shutil.which("qemu-system-x86_64") or not shutil.which("cpio"):
        pytest.skip("needs the Debian packages qemu-system-x86 and cpio")
    jdk, agent = ROOT / "jvms/17-amd64", ROOT / "build/cross"
    assert jdk.exists() and agent.exists(), "script/jvms install 17:amd64; script/build --preset cross"
    guest = Guest(tmp_path_factory.mktemp("guest"), jdk, agent)
    (guest.root / "tarsier/classes").mkdir()
    compile_programs(guest.root / "tarsier/classes")
    folder, said = guest.run(COMMANDS, 900)
    print(said[-2000:])
    return folder


def test_doctor_finds_all_that_is_there(out):
    said = (out / "doctor.txt").read_text()
    assert " on x86_64" in said and re.search(r"ok +ebpf ", said) and "0 problems" in said, said


@pytest.mark.parametrize("clock", CLOCKS)
def test_stacks_are_whole_and_shares_are_what_the_program_says(out, clock):
    document = report(out / f"{clock}.jfr", "hot,quality")
    assert engine(document)["mechanism"] == clock
    quality = document["quality"]
    assert quality["samples"] > 500
    assert quality["complete"] >= (0.98 if clock == "perf-rings" else 0.99) * quality["samples"], quality
    truth = json.loads(re.search(r"^truth (.*)", (out / f"{clock}.txt").read_text(), re.M)[1])
    total = {row["method"].rsplit(".", 1)[1]: row["total"] for row in document["hot"] if row["method"].startswith("Work.")}
    for method in ("seventy", "twenty", "ten"):
        expected = truth[method] / sum(truth.values())
        got = total.get(method, 0) / sum(total.get(name, 0) for name in truth)
        assert abs(got - expected) < 0.1, (method, expected, got)


@pytest.mark.parametrize("method", WAKERS)
def test_who_ends_a_wait_is_known(out, method):
    document = report(out / "waits.jfr", "waits")
    assert document["waits"]["wakers_recorded"]
    rows = [row for row in document["waits"]["rows"] if f"Wakers.{method}" in row["blocked_chain"]]
    total = sum(row["ns"] for row in rows)
    assert total >= 0.3 * 10 * 100e6, rows
    by, waker, ended_in = WAKERS[method]
    right = sum(row["ns"] for row in rows if row["woken_by"] == by and row["waker"] == waker
                and (not ended_in or f"Wakers.{ended_in}" in row["waker_chain"]))
    assert right >= 0.9 * total, rows
