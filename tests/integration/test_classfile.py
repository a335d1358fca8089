"""Class files that src/classfile has put calls into. That it makes them so is tested beside it (insert_calls_test.cpp); here
JVMs verify them and run them."""
import subprocess

import pytest
from harness import ROOT

FIXTURE = ROOT / "tests/fixtures/classfile"


def run(jdk, folder):
    done = subprocess.run([jdk.tool("java"), "-Xverify:all", "-cp", FIXTURE / folder, "Shapes"],
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.every_jvm
def test_methods_do_what_they_did_and_tell_when_they_begin_and_what_they_return(jdk):
    results, calls, told = run(jdk, "with_calls")
    assert results == run(jdk, "plain")[0]
    assert calls == "21 begun, 21 returned"
    assert [word for word in told.split() if word != "-"] == results.split()
