"""Words that are not understood, and help."""
import pytest
from harness import tarsier

COMMANDS = ("ps", "record", "top", "report", "view", "compare", "export", "dump", "doctor", "completion", "man", "help", "version")


def complaint(*arguments):
    done = tarsier(*arguments, expect=2)
    assert done.stdout == ""
    return done.stderr


def test_no_command_shows_them_all_and_exits_2():
    words = complaint()
    assert all(command in words for command in COMMANDS)


def test_help_goes_to_stdout_and_exits_0():
    for arguments in ([], ["help"], ["--help"], ["-h"]):
        if arguments:
            assert all(command in tarsier(*arguments).stdout for command in COMMANDS)
    for command in COMMANDS:
        assert tarsier(command, "--help").stdout == tarsier("help", command).stdout
        assert f"usage: tarsier {command}" in tarsier(command, "-h").stdout


def test_version_names_the_program_and_its_number():
    assert tarsier("version").stdout == tarsier("--version").stdout
    name, number = tarsier("version").stdout.split()
    assert name == "tarsier" and number.count(".") == 2


@pytest.mark.parametrize("arguments, parts", [
    (["recrod"], ["recrod", "did you mean 'record'"]),
    (["record", "--intervall", "1ms"], ["--intervall", "--interval"]),
    (["record", "--interval", "fast", "1"], ["--interval", "fast", "1ms"]),
    (["record", "-d", "30", "1"], ["--duration", "'30'", "30s"]),
    (["record", "--clock", "perff", "1"], ["--clock", "perff", "perf, cputimer"]),
    (["record", "--engine", "magic", "1"], ["--engine", "magic", "agct"]),
    (["record", "--max-depth", "0", "1"], ["--max-depth", "1 to 8192"]),
    (["record", "1", "2"], ["'2'"]),
    (["record", "1", "--", "java"], ["not both"]),
    (["record", "--"], ["program"]),
    (["report"], ["FILE"]),
    (["report", "x", "--view", "hot,cold"], ["--view", "cold", "hot, tree"]),
    (["report", "x", "--min-share", "7"], ["--min-share"]),
    (["export", "x"], ["--to", "collapsed", "html"]),
    (["export", "x", "--to", "pdf"], ["--to", "pdf", "collapsed, html"]),
    (["ps", "x"], ["x"]),
])
def test_a_complaint_names_the_word_and_what_is_allowed(arguments, parts):
    words = complaint(*arguments)
    for part in parts:
        assert part in words, words
