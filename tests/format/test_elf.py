"""Our ELF reader agrees with readelf on the JVMs of this machine, which are what it is for."""
import re

import pytest

from tools import JDKS, program, run

SYMBOLS = ["gHotSpotVMStructs", "JNI_CreateJavaVM", "AsyncGetCallTrace"]


def by_readelf(library):
    """(build id, [(provider, name, address, arguments)], {symbol: (address, size)})"""
    notes = run("readelf", "-nW", library)
    probes = re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+Location: 0x([0-9a-f]+),.*\n +Arguments: ?(.*)", notes)
    rows = [line.split() for line in run("readelf", "-sW", library).splitlines()]
    symbols = {row[7].split("@")[0]: (int(row[1], 16), int(row[2], 0)) for row in rows
               if len(row) >= 8 and row[7].split("@")[0] in SYMBOLS and row[6] != "UND"}
    return re.search(r"Build ID: (\w+)", notes)[1], [(p, n, int(a, 16), x.strip()) for p, n, a, x in probes], symbols


@pytest.mark.parametrize("jdk", JDKS, ids=repr)
def test_the_probes_symbols_and_build_id_of_libjvm_are_those_of_readelf(jdk):
    library = jdk.libjvm
    lines = run(program("elf_dump"), library, *SYMBOLS).splitlines()
    build_id, probes, symbols = by_readelf(library)
    assert f"build-id {build_id}" in lines
    ours = [re.fullmatch(r"probe (\S+) (\S+) (\w+) (.*)", line) for line in lines]
    assert [(m[1], m[2], int(m[3], 16), m[4].strip()) for m in ours if m] == probes
    found = [line.split() for line in lines if line.startswith("symbol ")]
    assert {name: (int(address, 16), int(size)) for _, name, address, size in found} == symbols
    assert symbols.keys() >= {"gHotSpotVMStructs", "JNI_CreateJavaVM"}
    # Every operand that a compiler really produced is understood.
    if probes:
        assert {n for _, n, _, _ in probes} >= {"monitor__contended__enter", "monitor__contended__exit", "thread__park__begin"}
    assert [line for line in lines if line.startswith("argument unknown")] == []
