"""Completion as the shells do it, and the man pages as man reads them."""
import re
import shutil
import subprocess
import uuid

import pytest
from harness import TARSIER, Program, jdks, tarsier


def script(shell, folder):
    file = folder / f"completion.{shell}"
    file.write_text(tarsier("completion", shell).stdout)
    return file


@pytest.fixture
def bash(tmp_path):
    """What bash itself would offer for a command line, with the cursor at its end."""
    file = script("bash", tmp_path)

    def complete(line, folder=tmp_path, more=""):
        # As readline does it: words are cut at blanks, and at = too.
        words = re.findall(r"=|[^\s=]+", line) + ([""] if line.endswith(" ") else [])
        array = " ".join(f"'{word}'" for word in words)
        program = (f"{more}\nsource '{file}'\nPATH='{TARSIER.parent}':$PATH\ncd '{folder}'\nCOMP_WORDS=({array})\n"
                   f"COMP_CWORD={len(words) - 1}\nCOMP_LINE='{line}'\nCOMP_POINT={len(line)}\n"
                   f"$(complete -p tarsier | sed 's/.*-F \\([^ ]*\\).*/\\1/') tarsier '{words[-1]}' '{words[-2]}'\n"
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout.split()

    return complete


@pytest.mark.parametrize("line, expected", [
    ("tarsier rec", ["record"]),
    ("tarsier record --cl", ["--clock"]),
    ("tarsier record --clock t", ["timekeeper"]),
    ("tarsier record --clock=cpu", ["cputimer"]),
    ("tarsier record -d ", []),
    ("tarsier report --view ho", ["hot"]),
    ("tarsier report --view hot,thr", ["hot,threads"]),
    ("tarsier export x.jfr --to jfr.", ["jfr.zst"]),
    ("tarsier completion ", ["bash", "zsh", "fish"]),
    ("tarsier man rep", ["report"]),
    ("tarsier nonsense ", []),
])
def test_bash_completes_words(bash, line, expected):
    assert bash(line) == expected


def test_bash_offers_all_commands_and_options(bash):
    overview = tarsier("help").stdout
    assert all(f"\n  {command}" in overview for command in bash("tarsier ")) and len(bash("tarsier ")) >= 8
    for command in bash("tarsier "):
        offered = bash(f"tarsier {command} --")
        assert set(offered) == set(re.findall(r"^ .*?(--[\w-]+)", tarsier(command, "--help").stdout, re.MULTILINE))


def test_bash_completes_files_with_blanks_in_their_names(bash, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "my recording.jfr").touch()
    assert " ".join(bash("tarsier report my", folder)) == "my recording.jfr"
    assert " ".join(bash("tarsier record -o my", folder)) == "my recording.jfr"


def test_bash_completes_running_jvms_by_pid_and_name(bash, classes, tmp_path):
    jdk = jdks()[0]
    name = "Completed" + uuid.uuid4().hex
    (tmp_path / f"{name}.java").write_text(f"class {name} {{ public static void main(String[] a) throws Throwable "
                                           "{ KnownAnswer.main(a); } }")
    subprocess.run([jdk.tool("javac"), "-cp", classes, "-d", tmp_path, tmp_path / f"{name}.java"], check=True,
                   timeout=60)
    with Program(jdk, f"{tmp_path}:{classes}", name) as program:
        program.ready()
        assert bash(f"tarsier record {name[:12]}") == [name]
        assert str(program.pid) in bash("tarsier record -d 3s ")


def test_bash_takes_the_names_of_jvms_as_names(bash, tmp_path):
    """Somebody else has chosen them; ps is played by a function here."""
    hostile = "$(touch${IFS}run)", "`touch${IFS}run`", "*", "app.Outer$Inner", "it's", ""
    rows = "".join(f"{number} 17 root - - {name}\n" for number, name in enumerate(hostile, 1))
    (tmp_path / "ps").write_text("PID JVM USER A B MAIN\n" + rows)
    played = f"tarsier() {{ cat '{tmp_path}/ps'; }}"
    offered = bash("tarsier record ", more=played)
    assert {"1", "2", "3", "4", "5", "6", r"\*", r"Outer\$Inner", r"it\'s"} <= set(offered)
    assert bash("tarsier record Out", more=played) == [r"Outer\$Inner"]
    assert bash("tarsier record $", more=played) == [] and bash("tarsier record nothing", more=played) == []
    assert not (tmp_path / "run").exists()


def test_bash_leaves_a_program_its_own_words(bash):
    assert "printf" in bash("tarsier record -- print")
    assert "--clock" not in bash("tarsier record -- printf --cl")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_good_syntax(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    done = subprocess.run([shell, "-n", script(shell, tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
@pytest.mark.parametrize("line, expected", [
    ("tarsier rec", ["record"]),
    ("tarsier record --clock t", ["timekeeper"]),
    ("tarsier report --view hot,thr", ["hot,threads"]),
    ("tarsier export --to jfr.", ["jfr.zst"]),
    ("tarsier record --cl", ["--clock"]),
])
def test_fish_completes_words(tmp_path, line, expected):
    file = script("fish", tmp_path)
    done = subprocess.run(["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"], capture_output=True,
                          text=True, timeout=60)
    assert [row.split("\t")[0] for row in done.stdout.splitlines()] == expected, done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
@pytest.mark.parametrize("line, expected", [
    ("tarsier rec", "tarsier record "),
    ("tarsier record --clo", "tarsier record --clock="),
    ("tarsier record --clock cpu", "tarsier record --clock cputimer "),
    ("tarsier export x --to jfr.", "tarsier export x --to jfr.zst "),
    ("tarsier report --view hot,thr", "tarsier report --view hot,threads,"),  # a comma that goes with a blank
])
def test_zsh_completes_words(tmp_path, line, expected):
    """A real zsh on a terminal of its own; after Tab it is asked what its line has become."""
    script("zsh", tmp_path).rename(tmp_path / "_tarsier")
    program = f"""
        zmodload zsh/zpty
        zpty z zsh -f -i
        zpty -w z 'PROMPT= RPROMPT= ; fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -d {tmp_path}/dump'
        zpty -w z 'show() {{ print -r -- "<$BUFFER>" > {tmp_path}/line; zle .kill-whole-line; }}; zle -N show; bindkey "^X" show; print up > {tmp_path}/up'
        while [[ ! -e {tmp_path}/up ]]; do sleep 0.05; done
        zpty -w -n z $'{line}\\t\\x18'
        for i in {{1..400}}; do [[ -s {tmp_path}/line ]] && break; zpty -r -t z rubbish; sleep 0.05; done
    """
    subprocess.run(["zsh", "-f", "-c", program], capture_output=True, text=True, timeout=60)
    assert (tmp_path / "line").read_text().rstrip("\n") == f"<{expected}>"


def pages():
    return [[], *([command] for command in re.findall(r"^  ([a-z]+) ", tarsier("help").stdout, re.MULTILINE))]


@pytest.mark.parametrize("checker", [["groff", "-man", "-Tutf8", "-ww"], ["mandoc", "-Tlint", "-W", "error"]],
                         ids=lambda checker: checker[0])
def test_man_pages_are_well_formed(checker):
    if shutil.which(checker[0]) is None:
        pytest.skip(f"no {checker[0]} here")
    for page in pages():
        done = subprocess.run(checker, input=tarsier("man", *page).stdout, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and not done.stderr, (page, done.stderr, done.stdout)


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_a_man_page_says_what_help_says():
    source = tarsier("man", "record").stdout
    shown = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=1000n"], input=source,
                           capture_output=True, text=True, timeout=60).stdout
    words = " ".join(shown.split())
    for line in tarsier("record", "--help").stdout.splitlines()[4:]:
        for part in filter(None, re.split(r"\s{2,}", line.strip())):
            assert part in words, part


def test_an_unknown_shell_or_page_exits_2():
    assert "bash, zsh, fish" in tarsier("completion", "csh", expect=2).stderr
    assert "which shell" in tarsier("completion", expect=2).stderr
    assert "nonsense" in tarsier("man", "nonsense", expect=2).stderr
