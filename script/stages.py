"""The stages of a test run, one after the other; called by script/test.

Every stage has a deadline, so nothing that hangs hangs the run. A stage that can't start because an earlier one failed
is named as skipped; the run has failed then anyway."""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"


class Counts:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.reasons = []  # "what: why" of everything skipped
        self.unsteady = []  # what passed only when it was run a second time, and why not at first
        self.failures = []  # the names of what failed
        self.told = []  # the end of what each of these printed

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.reasons += other.reasons
        self.unsteady += other.unsteady
        self.failures += other.failures
        self.told += other.told

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def skipped(what, why):
    counts = Counts(skipped=1)
    counts.reasons.append(f"{what}: {why}")
    return counts


def failed(what):
    counts = Counts(failed=1)
    counts.failures.append(what)
    return counts


def run(command, seconds, cwd=ROOT, show=True):
    """(exit code, output). Ends the whole process group at the deadline."""
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", TARSIER_BUILD=str(ROOT / "build/release"))
    process = subprocess.Popen([str(part) for part in command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\n{command[0]}: ended after {seconds} s\n"
        code = 124
    if code and show:
        print(output, end="" if output.endswith("\n") else "\n", flush=True)
    return code, output


def check(*command, seconds=120):
    """A command that is one test."""
    code, _ = run(command, seconds)
    return failed(" ".join(map(str, command))) if code else Counts(passed=1)


def junit(file):
    """Counts of a JUnit file of ctest or pytest."""
    counts = Counts()
    for case in xml.parse(file).getroot().iter("testcase"):
        name = ".".join(dict.fromkeys(filter(None, (case.get("classname"), case.get("name")))))  # ctest says it twice
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            counts.add(failed(name))
        elif skip is not None or case.get("status") in ("notrun", "disabled"):
            counts.add(skipped(name, (skip.get("message") if skip is not None else None) or "not run"))
        else:
            counts.passed += 1
    return counts


def counted(command, seconds, report):
    """A program that writes a JUnit file; dying without one is a failure."""
    code, output = run(command, seconds, show=False)
    counts = junit(report) if report.exists() and report.stat().st_size else Counts()
    if counts.failed:
        output = failures(report) or output
    elif code:
        counts.add(failed(" ".join(map(str, command))))
    if counts.failed:
        print(output, flush=True)
        counts.told.append("\n".join(output.splitlines()[-30:]))
    return counts


def failures(report):
    """What the failed tests of a ctest report have printed. pytest keeps to its own failures: nothing."""
    cases = [c for c in xml.parse(report).getroot().iter("testcase") if c.get("status") == "fail"]
    return "\n".join(f"FAILED: {case.get('name')}\n{of_failed(case.findtext('system-out') or '')}" for case in cases)


def of_failed(output):
    """The part of a googletest program's output that tells of failures: its failed tests, and of one that died the end."""
    blocks = re.findall(r"^\[ RUN      \].*?^\[  (?:     OK|FAILED |SKIPPED) \][^\n]*\n", output, re.MULTILINE | re.DOTALL)
    told = "".join(block for block in blocks if "\n[  FAILED  ]" in block)
    ended = output.rfind("[==========]") > 0
    return told if told and ended else told + "\n".join(output.splitlines()[-60:])


FEW = 12  # failures that may be the machine's
NO_CHANCE = ("JvmCrashed", "Timeout", "has not ended")  # a crash or something that hangs is never the machine's fault


def cases_of(report):
    """{name as pytest wants it: (passed?, what went wrong)} of a JUnit file."""
    cases = {}
    for case in xml.parse(report).getroot().iter("testcase"):
        # xdist adds the group that a test belongs to.
        name = f"{case.get('classname').replace('.', '/')}.py::{re.sub(r'@[^]]*$', '', case.get('name'))}"
        problem = next((case.find(kind) for kind in ("failure", "error", "skipped") if case.find(kind) is not None), None)
        cases[name] = (problem is None, "" if problem is None else f"{problem.tag} {problem.get('message', '')}")
    return cases


def same_case(of_junit, of_pytest):
    """pytest's JUnit names and those it is called with: a.b.test_c[d@group], a/b.py::test_c[d]."""
    return re.sub(r"@[^]]*$", "", of_junit).replace(".", "/") == of_pytest.replace(".py::", "/").replace(".", "/")


def second_try(command, seconds, report, counts):
    """Tests that measure a program on a machine that others use, too, fail now and then by chance. A few of them are run
    once more, alone, those that fail again a third time: who never passes has failed, who does is named in the summary.
    Crashes get no second try."""
    failed = {name: why for name, (_, why) in cases_of(report).items() if why.startswith("failure")}
    if len(failed) != counts.failed or len(failed) > FEW or any(word in why for why in failed.values() for word in NO_CHANCE):
        return
    for _ in range(2):
        print(f"run once more, alone: {' '.join(failed)}", flush=True)
        report.unlink(missing_ok=True)
        counted([*command, *failed], seconds, report)
        again = cases_of(report) if report.exists() else {}
        for name, why in list(failed.items()):
            passed, problem = again.get(name, (False, "not run"))
            if not passed and not problem.startswith("skipped"):
                continue
            del failed[name]
            counts.failed -= 1
            counts.failures = [other for other in counts.failures if not same_case(other, name)]
            if passed:
                counts.passed += 1
                counts.unsteady.append(f"{name}: {why.splitlines()[0][:200]}")
            else:
                counts.add(skipped(name, problem.removeprefix("skipped ")))
        if not failed:
            counts.told.clear()
            return


def pytest(folder, *arguments, seconds=600, build_tests=False, on_each_jvm=False, measures=False):
    """A folder of pytest; `build_tests`: it runs programs that are built with the unit tests; `on_each_jvm`: `seconds`
    are for the JVMs of a usual run, three at most; `measures`: what it asserts depends on the machine's load."""
    def stage(options):
        if build_tests and run(["script/build", "--tests"], 1800)[0]:
            return failed("script/build --tests")
        with tempfile.TemporaryDirectory() as scratch:
            report = pathlib.Path(scratch) / "report.xml"
            marker = [] if options.long else ["-m", "not long"]
            command = [PYTHON, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--timeout=300", f"--junitxml={report}"]
            patience = (6 if options.long else 1) * (all_jvms() / 3 if options.all_jvms and on_each_jvm else 1)
            counts = counted([*command, *marker, *arguments, folder], seconds * max(1, patience), report)
            if counts.failed and measures and not options.strict and report.exists():
                second_try(command, seconds, report, counts)
        return counts
    return stage


def all_jvms():
    """How many JVMs --all-jvms runs."""
    return len(run(["script/jvms", "--homes"], 300)[1].split())


def unit(preset):
    def stage(options):
        # Sanitizers of these compilers can't stand the address layouts of newer kernels: without randomization they can.
        plain = ["setarch", "-R"] if preset == "tsan" and run(["setarch", "-R", "true"], 10, show=False)[0] == 0 else []
        built, _ = run([*plain, "script/build", "--preset", preset, "--tests"], 2700)
        if built:
            return failed(f"script/build --preset {preset} --tests")
        with tempfile.TemporaryDirectory() as scratch:
            report = pathlib.Path(scratch) / "report.xml"
            command = [*plain, "ctest", "--preset", preset, "--timeout", "400", "--output-junit", report]
            counts = counted([*command, "-j2"], 900, report)
            if counts.failed and not options.strict and report.exists():
                second_try_of_units(command, report, counts)
            return counts
    return stage


def second_try_of_units(command, report, counts):
    """As second_try: some of them wait for real ticks and sleeps. What died, or a sanitizer has found, has failed."""
    cases = [c for c in xml.parse(report).getroot().iter("testcase") if c.get("status") == "fail"]
    outputs = {case.get("name"): case.findtext("system-out") or "" for case in cases}
    chance = all("FAILED TEST" in output and not re.search("Sanitizer|runtime error", output) for output in outputs.values())
    if len(outputs) != counts.failed or not chance:
        return
    for name, output in outputs.items():
        print(f"run once more, alone: {name}", flush=True)
        report.unlink(missing_ok=True)
        again = counted([*command, "-R", f"^{re.escape(name)}$"], 300, report)
        if again.passed and not again.failed:
            counts.failed -= 1
            counts.passed += 1
            counts.failures.remove(name)
            tests = set(re.findall(r"^\[  FAILED  \] (\w+\.\w+)", output, re.MULTILINE)) - {name}
            counts.unsteady.append(" ".join([name, *sorted(tests)]))
    if not counts.failed:
        counts.told.clear()


def checks(_):
    counts = Counts()
    scripts = [f for f in sorted((ROOT / "script").iterdir()) if f.is_file() and f.read_bytes().startswith(b"#!/usr/bin/env bash")]
    counts.add(check("shellcheck", "-x", *scripts, ROOT / "script/functions.sh"))
    counts.add(check("script/format", "--check"))
    counts.add(check("script/check-layers", "--self-test"))
    counts.add(check("script/check-layers"))
    return counts


def build(_):
    return check("script/build", seconds=1800)


def sigsafe(_):
    counts = check("script/check-sigsafe", "--self-test")
    counts.add(check("script/check-sigsafe"))
    return counts


def tidy(options):
    """Of all files it takes minutes: only of those that have changed, unless asked for."""
    return check("script/tidy", *(["--all"] if options.long else []), seconds=1800)


def page(options):
    if not (ROOT / "ui/package.json").exists():
        return skipped("ui", "no page there")
    counts = Counts()
    scripts = (ROOT / "ui/package.json").read_text()
    for name in ("check", "test", "test:browser"):
        if f'"{name}"' not in scripts:
            counts.add(skipped(f"ui: npm run {name}", "package.json has no such script"))
            continue
        command = ["npm", "run", "--silent", name]
        code, output = run(command, 300, ROOT / "ui", show=False)
        once = node_counts(name, code, output)
        if once.failed and name == "test:browser" and not options.strict:  # as second_try: its clicks race with a page that loads
            print(f"run once more: npm run {name}", flush=True)
            once = node_counts(name, *run(command, 300, ROOT / "ui", show=False))
            if not once.failed:
                once.unsteady += [f"the page: {test}" for test in re.findall(r"^\s*not ok \d+ - (.*)$", output, re.MULTILINE)]
        counts.add(once)
    return counts


def node_counts(name, code, output):
    """Sums the summaries of node's test runner (`# pass 3` or `i pass 3`); without one the command is one test."""
    reason = re.search(r"^SKIPPED: (.*)$", output, re.MULTILINE)
    if reason and not code:
        return skipped(f"ui: npm run {name}", reason[1])
    sums = {"pass": 0, "fail": 0, "skipped": 0}
    for word, number in re.findall(r"^\W* ?(pass|fail|skipped) (\d+)$", output, re.MULTILINE):
        sums[word] += int(number)
    counts = Counts(sums["pass"], sums["fail"], sums["skipped"])
    if sums["skipped"]:
        counts.reasons.append(f"ui: npm run {name}: {sums['skipped']} by its own word")
    if code and not counts.failed:
        counts.failed = 1
    if counts.failed:
        counts.failures.append(f"ui: npm run {name}")
    elif not code and not counts.passed:
        counts.passed = 1
    if counts.failed:
        print(output, flush=True)
    return counts


def cross(options):
    """The agent, where all that depends on the architecture is; all of it takes another ten minutes where the cache of
    compilations is empty."""
    return check("script/build", "--preset", "cross", *([] if options.long else ["--agent"]), seconds=1800)


def other_architecture(options):
    """The tests of the signal path on a JVM of the other architecture, under qemu-user."""
    if not options.other_arch:
        return Counts()
    debian = {"aarch64": "amd64", "x86_64": "arm64"}[os.uname().machine]
    if run(["script/jvms", "install", f"17:{debian}"], 600)[0] or run(["script/build", "--preset", "cross"], 1800)[0]:
        return failed(f"a JVM or a build of {debian}")
    os.environ["TARSIER_OTHER_ARCH"] = "1"
    try:
        return pytest("tests/integration", "-m", "signal_path and not long", seconds=3600)(options)
    finally:
        del os.environ["TARSIER_OTHER_ARCH"]


def other_kernel(options):
    """The eBPF programs and perf's clocks on a kernel for x86_64, in an emulator of a whole machine."""
    if not options.other_kernel:
        return Counts()
    if os.uname().machine != "aarch64":
        return skipped("other-kernel", "this machine's own kernel is one for x86_64, or none that we know")
    for command in (["script/bootstrap", "--other-kernel"], ["script/jvms", "install", "17:amd64"],
                    ["script/build", "--preset", "cross"]):
        if run(command, 1800)[0]:
            return failed(" ".join(command))
    return pytest("tests/other_kernel", seconds=2400)(options)


def fuzz(options):
    """Every fuzzer for a while; the seeds alone find what was found before. A new find is for script/fuzz and its
    author, not for whoever happens to run the tests: here the same inputs are tried each time. Only if asked for: the
    fuzzers are a build of their own."""
    if not options.long and "fuzz" not in (options.only or "").split(","):
        return Counts()
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.xml"
        seconds = options.fuzz_seconds
        return counted(["script/fuzz", "--seed", 1, "--seconds", seconds, "--junit", report], 1800 + 10 * seconds, report)


def demo(_):
    """The README's first command: it must show the program's hot spot and leave its picture."""
    picture = ROOT / "demo.html"
    picture.unlink(missing_ok=True)
    code, output = run(["script/demo"], 600, show=False)
    good = code == 0 and "Pricing.isPrime" in output and picture.exists()
    if not good:
        print(output, flush=True)
    return Counts(passed=1) if good else failed("script/demo")


# name, function, needs the build?
STAGES = [
    ("checks", checks, False),
    ("build", build, False),
    ("sigsafe", sigsafe, True),
    ("tidy", tidy, True),
    ("cross", cross, True),
    ("unit", unit("release"), False),
    ("asan", unit("asan"), False),
    ("tsan", unit("tsan"), False),
    ("format", pytest("tests/format", build_tests=True), True),
    ("cli", pytest("tests/cli"), True),
    ("report", pytest("tests/report"), True),
    ("integration", pytest("tests/integration", "-n2", "--dist=loadgroup", seconds=2400, on_each_jvm=True,
                           measures=True), True),
    ("antagonists", pytest("tests/antagonists", "-n2", seconds=900, measures=True), True),
    ("other-arch", other_architecture, True),
    ("other-kernel", other_kernel, True),
    ("page", page, True),
    ("demo", demo, True),
    ("fuzz", fuzz, False),
]


def main():
    parser = argparse.ArgumentParser(prog="script/test", description="Installs, builds, and runs every test.")
    parser.add_argument("--long", action="store_true", help="also the tests that take minutes each")
    parser.add_argument("--all-jvms", action="store_true", help="on every JDK that script/jvms finds, not only three of them")
    parser.add_argument("--other-arch", action="store_true", help="also the signal path on the other architecture, emulated")
    parser.add_argument("--other-kernel", action="store_true", help="also eBPF and perf on a kernel for x86_64, emulated")
    parser.add_argument("--only", metavar="STAGE,..", help="only these stages (and the build, if one needs it)")
    parser.add_argument("--fuzz-seconds", type=int, default=10, metavar="N", help="for each fuzzer (10)")
    parser.add_argument("--strict", action="store_true", help="no second try for tests that measure")
    parser.add_argument("--list", action="store_true", help="print the names of the stages")
    options = parser.parse_args()
    names = [name for name, _, _ in STAGES]
    if options.list:
        print("\n".join(names))
        return 0
    wanted = set(options.only.split(",")) if options.only else set(names)
    if wanted - set(names):
        parser.error(f"no stage {', '.join(sorted(wanted - set(names)))}; there are: {', '.join(names)}")
    if options.all_jvms:
        os.environ["TARSIER_TEST_JVMS"] = "all"
    if any(needs for name, _, needs in STAGES if name in wanted):
        wanted.add("build")

    total, rows, built = Counts(), [], True
    for name, stage, needs_build in STAGES:
        if name not in wanted:
            continue
        print(f"== {name}", flush=True)
        began = time.monotonic()
        counts = stage(options) if built or not needs_build else skipped(name, "the build failed")
        if name == "build":
            built = not counts.failed
        rows.append((name, counts, time.monotonic() - began))
        total.add(counts)

    print("\n== summary")
    for name, counts, took in rows:
        print(f"{name:12} {took:7.1f} s   {counts}")
    for reason in dict.fromkeys(total.reasons):
        print(f"skipped: {reason}")
    for name in total.unsteady:
        print(f"unsteady: passed only when run once more, alone: {name}")
    if not options.long:
        print("not asked for: the tests that take minutes each, and the command for the other architecture (--long)")
    if not options.long and not options.only:
        print("not asked for: fuzzers (--long, or script/fuzz)")
    if (left_out := run([PYTHON, "tests/jdks.py"], 300)[1].split("\n")[:-1]) and not options.all_jvms:
        print(f"not asked for: {', '.join(left_out)} (--all-jvms)")
    if not options.other_arch:
        print("not asked for: the signal path on the other architecture (--other-arch)")
    if not options.other_kernel:
        print("not asked for: eBPF and perf on a kernel for x86_64 (--other-kernel)")
    for end in total.told if total.failed else []:
        print(f"the end of what a failure printed:\n{end}\n")
    for name in dict.fromkeys(total.failures):
        print(f"failed: {name}")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
