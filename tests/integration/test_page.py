"""The page shows the numbers of the report: on recordings of real programs, in a real browser."""
import contextlib
import re
import signal
import subprocess

import pytest

from harness import DEADLINE, ROOT, TARSIER, javac, jdks, report, tarsier
from page_reader import nanoseconds, needs_a_browser, read, table
from workloads import compile_workloads

# One worker, so one recording of each program.
pytestmark = [needs_a_browser, pytest.mark.xdist_group("page")]

ENGINES = ["--cpu", "--alloc", "--lock", "--waits=1ms"]
# Recorded from their start to their end: what they do, and for how long, does not matter here.
PROGRAMS = {
    "demo": ["-cp", "{demo}", "Demo"],
    "productlock": ["-cp", "{workloads}", "workloads.Harness", "productlock", "0", "2"],
    "productsync": ["-cp", "{workloads}", "workloads.Harness", "productsync", "0", "2"],
    "cpuwait": ["-cp", "{workloads}", "workloads.Harness", "cpuwait", "0", "1"],
    "javac": ["-cp", "{workloads}", "workloads.Harness", "javac", "0", "1"],
    "deeprecursion": ["-cp", "{workloads}", "workloads.Harness", "deeprecursion", "0", "2"],
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    demo = tmp_path_factory.mktemp("demo")
    subprocess.run([*javac(), "-d", str(demo), str(ROOT / "demo/Demo.java")], check=True, timeout=DEADLINE)
    workloads = tmp_path_factory.mktemp("page-workloads")
    compile_workloads(workloads, "synthetic/CpuWaitPatterns.java", "synthetic/DeepRecursion.java", "real/Javac.java")
    return {"demo": demo, "workloads": workloads}


@pytest.fixture(scope="session")
def recorded(tmp_path_factory, folders):
    """By the name of a program: its recording, and the page that was made of it."""
    made = {}

    def make(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            file, page = folder / f"{name}.jfr", folder / f"{name}.html"
            java = jdks()[0].tool("java")
            command = [argument.format(**folders) for argument in PROGRAMS.get(name, PROGRAMS["demo"])]
            if name == "jfr":
                subprocess.run(["timeout", "-s", "TERM", "8", java,
                                f"-XX:StartFlightRecording=filename={file},settings=profile", *command],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE)
            else:
                tarsier("record", *ENGINES, "-d", "4s", "-o", file, "--", java, *command, expect=None)
            tarsier("export", file, "--to", "html", "-o", page)
            made[name] = file, page
        return made[name]

    return make


def assert_methods(shown, file, *arguments):
    """Self and total of every method that the report has."""
    hot = report(file, "hot", *arguments)["hot"]
    rows = {row["method"]: row for row in table(shown)}
    # A marker in which no time was spent is no method to the report.
    shown_methods = {name for name, row in rows.items() if row["self"] != "0" or not name.startswith("[")}
    assert hot and shown_methods == {method["method"] for method in hot}
    for method in hot:
        row = rows[method["method"]]
        assert float(row["self share"]) == pytest.approx(method["self"], abs=2e-6), method
        assert float(row["total share"]) == pytest.approx(method["total"], abs=2e-6), method
        assert int(row["samples"]) == method["samples"]


def weights_of(file):
    names = {engine["name"] for engine in report(file)["recording"]["engines"] if engine["samples"]["written"] > 0}
    weights = [weight for weight, engine in (("cpu", "fragment"), ("alloc", "alloc"), ("waits", "waits")) if engine in names]
    locks = report(file, "locks")["locks"]
    if locks["count"] > 0:
        weights += ["locks", "owners"] if locks["owners_recorded"] else ["locks"]
    return weights


@pytest.mark.parametrize("name", [*PROGRAMS, "jfr"])
def test_methods_have_the_weights_of_the_report(recorded, name):
    file, page = recorded(name)
    weights = weights_of(file) or ["cpu"]
    views = {weight: f"view=methods&weight={weight}" for weight in weights}
    shown = read(page.as_uri(), *views.values())
    for weight, view in views.items():
        assert_methods(shown[view]["copied"][0], file, "--weight", weight)


def paths(tree, above=()):
    """(method, .., method): weight, of a tree of the report. Frames of a method that differ in type or line are one."""
    out = {}
    for child in tree["children"]:
        path = (*above, child["method"])
        out[path] = out.get(path, 0) + child["weight"]
        for below, weight in paths(child, path).items():
            out[below] = out.get(below, 0) + weight
    return out


def shown_paths(text):
    """Of a copied call tree, in which two blanks are a level."""
    out, above = {}, []
    for row in table(text):
        level = (len(row["method"]) - len(row["method"].lstrip(" "))) // 2
        above[level:] = [row["method"].strip()]
        out[tuple(above)] = out.get(tuple(above), 0) + int(row["total"])
    return out


@pytest.mark.parametrize("name", ["demo", "javac", "jfr"])
def test_the_call_tree_is_that_of_the_report(recorded, name):
    file, page = recorded(name)
    tree = paths(report(file, "tree", "--min-share", "0")["tree"])
    shown = shown_paths(read(page.as_uri(), "view=tree")["view=tree"]["copied"][0])
    assert len(shown) > 5
    for path, weight in shown.items():
        assert tree[path] == weight, path


ORDERS = ["class,blocked-method,owner-method", "owner-thread,blocked-thread,class", "blocked-chain,group,owner-chain"]


def lock_rows(rows):
    for row in rows:
        yield row
        yield from lock_rows(row["children"])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["demo", "productlock", "productsync"])
def test_locks_are_broken_down_as_by_the_report_in_any_order(recorded, name, order):
    file, page = recorded(name)
    locks = report(file, "locks", "--by", order, "--min-share", "0")["locks"]
    view = f"view=locks&locks.by={order}"
    shown = read(page.as_uri(), view)[view]["copied"][0]
    first, _, *lines = shown.replace("\u202f", " ").splitlines()
    assert locks["total_ns"] > 0 and nanoseconds(first.split(" blocked")[0]) == pytest.approx(locks["total_ns"], rel=0.006)
    known = list(lock_rows(locks["rows"]))
    assert len(lines) >= len(locks["rows"])
    for line in lines:
        blocked, count, longest, label = re.match(
            r"\s*(\S+ \S+)\s+<?\s*\S+ %\s+([\d,]+)\s+(?:\S+ \S+\s+){3}(\S+ \S+)\s+(.*)", line).groups()
        assert any(nanoseconds(blocked) == pytest.approx(row["blocked_ns"], rel=0.006) and
                   nanoseconds(longest) == pytest.approx(row["max_ns"], rel=0.006) and
                   int(count.replace(",", "")) == row["count"] and label.split(" < ")[0] in row["label"]
                   for row in known), (line, known)


def test_a_range_of_time_is_that_of_the_report(recorded):
    file, page = recorded("demo")
    moment = 1_000_000  # ns: a recording of some seconds has moments of 1 ms
    first, end = 1000, 2500
    view = f"view=methods&range={first}-{end}"
    shown = read(page.as_uri(), view)[view]["copied"][0]
    assert_methods(shown, file, "--from", f"{first * moment}ns", "--to", f"{end * moment}ns")


@pytest.mark.parametrize("weight", ["locks", "owners"])
@pytest.mark.parametrize("name", ["productlock", "productsync"])
def test_contentions_as_a_weight_add_up_to_the_view_of_locks(recorded, name, weight):
    file, page = recorded(name)
    moment = 1_000_000
    first, end = 300, 1500
    whole, part = f"view=methods&weight={weight}", f"view=methods&weight={weight}&range={first}-{end}"
    tree = f"view=tree&weight={weight}"
    shown = read(page.as_uri(), whole, part, tree)
    time = ("--from", f"{first * moment}ns", "--to", f"{end * moment}ns")
    assert_methods(shown[part]["copied"][0], file, "--weight", weight, *time)
    for view, arguments in ((whole, ()), (part, time)):
        total = report(file, "locks", *arguments)["locks"]["total_ns"]
        assert total > 0
        assert sum(int(row["self"]) for row in table(shown[view]["copied"][0])) == total, view
        assert report(file, "tree", "--weight", weight, *arguments)["tree"]["weight"] == total
    assert "exact" in shown[whole]["text"]
    told = paths(report(file, "tree", "--min-share", "0", "--weight", weight)["tree"])
    for path, ns in shown_paths(shown[tree]["copied"][0]).items():
        assert told[path] == ns, path


def test_threads_are_chosen_of_both_weights_of_locks(recorded):
    file, page = recorded("productlock")
    thread = next(each for each in report(file, "threads", "--weight", "locks")["threads"] if each["blocked_ns"])
    expression = ("--thread", f"^{re.escape(thread['name'])}$")
    assert report(file, "tree", "--weight", "locks", *expression)["tree"]["weight"] == \
        report(file, "locks", *expression)["locks"]["total_ns"]


def test_a_search_tells_the_share_of_all_stacks_with_it(recorded):
    file, page = recorded("demo")
    method = next(row for row in report(file, "hot")["hot"] if row["method"] == "Receipt.render")
    view = 'view=flame&q="Receipt.render"'
    text = read(page.as_uri(), view)[view]["text"].replace("\u202f", " ")
    assert re.search(rf"\b{100 * method['total']:.1f} %", text), text[:2000]


def test_threads_have_the_time_of_the_report(recorded):
    file, page = recorded("demo")
    shown = read(page.as_uri(), "view=threads")["view=threads"]["copied"][0].replace("\u202f", " ")
    told = {line.split(" (")[0].strip(): line for line in shown.splitlines()[1:]}
    for thread in report(file, "threads", "--weight", "cpu")["threads"]:
        if thread["kind"] == "app" and thread["blocked_ns"] and thread["blocked_ns"] > 100_000_000:
            times = [nanoseconds(cell) for cell in re.findall(r"[\d.]+ (?:s|ms)\b", told[thread["name"]])]
            assert any(time == pytest.approx(thread["blocked_ns"], rel=0.01) for time in times), (thread, told)


def test_a_comparison_shows_both_and_what_is_gone(recorded, tmp_path):
    file, _ = recorded("demo")
    other, _ = recorded("productsync")
    page = tmp_path / "against.html"
    tarsier("export", file, "--to", "html", "--against", other, "-o", page)
    shown = read(page.as_uri(), "view=flame", "view=methods")
    for method in ("Pricing.isPrime", "workloads."):
        assert method in shown["view=methods"]["copied"][0] or method in shown["view=flame"]["copied"][0]


VIEWS = [f"view={view}" for view in ("overview", "flame", "tree", "methods", "callers", "ring", "locks", "threads", "quality")]


@contextlib.contextmanager
def served(*arguments):
    """The address under which `tarsier view` serves a recording."""
    server = subprocess.Popen([TARSIER, "view", "--no-open", *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0


@pytest.mark.parametrize("name", ["demo", "jfr"])
def test_the_file_shows_what_the_server_shows(recorded, name):
    file, page = recorded(name)
    with served(file) as address:
        by_server = read(address, *VIEWS)
    by_file = read(page.as_uri(), *VIEWS)
    for view in VIEWS:
        assert by_server[view]["copied"] == by_file[view]["copied"], view
        assert by_server[view]["text"] == by_file[view]["text"], view
        assert len(by_file[view]["text"]) > 100
