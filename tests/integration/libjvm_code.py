"""The machine code of a library as a process has it in memory, against its file: nothing of ours may stay in it."""
import os
import pathlib
import struct

PAGE = os.sysconf("SC_PAGE_SIZE")
PT_LOAD, PF_X = 1, 1


def executable_segments(library):
    """[(offset in the file, address, bytes)] of an ELF file of 64 bits."""
    data = pathlib.Path(library).read_bytes()
    assert data[:5] == b"\x7fELF\x02", f"{library} is no ELF file of 64 bits"
    table, = struct.unpack_from("<Q", data, 0x20)
    entry_size, entries = struct.unpack_from("<HH", data, 0x36)
    segments = []
    for entry in range(table, table + entry_size * entries, entry_size):
        kind, flags, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, entry)
        if kind == PT_LOAD and flags & PF_X:
            segments.append((offset, address, size))
    return segments


def load_bias(pid, library):
    """What is added to the file's addresses: its beginning is mapped at address 0 of it."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and int(fields[2], 16) == 0 and os.path.realpath(fields[5]) == os.path.realpath(library):
            return int(fields[0].split("-")[0], 16)
    raise AssertionError(f"{pid} has not loaded {library}")


def changed_pages(pid, library):
    """Offsets in the file of the pages of code that the process sees otherwise. Mappings that hide the file's are seen
    too, since only addresses count."""
    bias, changed = load_bias(pid, library), []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory, open(library, "rb") as file:
        for offset, address, size in executable_segments(library):
            for at in range(0, size, PAGE):
                length = min(PAGE, size - at)
                if os.pread(memory.fileno(), length, bias + address + at) != os.pread(file.fileno(), length, offset + at):
                    changed.append(offset + at)
    return changed


def is_all_of_the_file(pid, library):
    """Is no executable page of it a copy, not even an equal one? By the names of the mappings."""
    bias = load_bias(pid, library)
    spans = [(bias + address, bias + address + size) for _, address, size in executable_segments(library)]
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        fields = line.split(None, 5)
        begin, end = (int(word, 16) for word in fields[0].split("-"))
        ours = len(fields) == 6 and os.path.realpath(fields[5]) == os.path.realpath(library)
        if not ours and any(begin < to and from_ < end for from_, to in spans):
            return False
    return True


def class_data_pointing_into(pid, library):
    """Addresses in the JVM's archived class data whose word points into the code of `library`: native methods that were bound to
    it. (jdk.internal.misc.Unsafe, of which park and unpark are, is always in the archive.)"""
    bias = load_bias(pid, library)
    spans = [(bias + address, bias + address + size) for _, address, size in executable_segments(library)]
    found, archives = [], 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            fields = line.split(None, 5)
            if len(fields) < 6 or not fields[5].endswith(".jsa") or not fields[1].startswith("rw"):
                continue
            archives += 1
            begin, end = (int(word, 16) for word in fields[0].split("-"))
            words = memoryview(os.pread(memory.fileno(), end - begin, begin)).cast("Q")
            found += [begin + 8 * i for i, word in enumerate(words)
                      if any(from_ <= word < to for from_, to in spans)]
    assert archives, "this JVM was started without archived classes"
    return found
