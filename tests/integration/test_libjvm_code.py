"""The look at libjvm's code that the lock tests rely on."""
import subprocess
import sys

from harness import DEADLINE
from libjvm_code import PAGE, changed_pages, class_data_pointing_into, executable_segments, is_all_of_the_file

# Loads a library and, when told, changes a byte of its code or lays an equal copy over a page of it.
CHILD = """
import ctypes, sys
library, address, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ctypes.CDLL(library)
for line in open("/proc/self/maps"):
    fields = line.split()
    if fields[-1] == library and int(fields[2], 16) == 0:
        at = int(fields[0].split("-")[0], 16) + address
libc = ctypes.CDLL(None, use_errno=True)
page = at - at % PAGE
print("loaded", flush=True)
sys.stdin.readline()
if how == "copy":
    before = ctypes.string_at(page, PAGE)
    libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    assert libc.mmap(page, PAGE, 7, 0x32, -1, 0) == page  # private, anonymous, fixed
    ctypes.memmove(page, before, PAGE)
else:
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert libc.mprotect(page, PAGE, 7) == 0
    ctypes.cast(at, ctypes.POINTER(ctypes.c_ubyte))[0] ^= 255
print("changed", flush=True)
sys.stdin.readline()
""".replace("PAGE", str(PAGE))


def looked_at_after(library, how):
    """(offset of the page that was changed, what is seen of it)"""
    offset, address, size = executable_segments(library)[-1]
    inside = size // 2
    with subprocess.Popen([sys.executable, "-c", CHILD, str(library), str(address + inside), how], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == "loaded\n"
            assert changed_pages(child.pid, library) == [] and is_all_of_the_file(child.pid, library)
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.stdout.readline() == "changed\n"
            seen = changed_pages(child.pid, library), is_all_of_the_file(child.pid, library)
        finally:
            child.kill()
            child.wait(DEADLINE)
    return offset + inside - inside % PAGE, seen


def test_one_changed_byte_is_found(jdk):
    page, (changed, _) = looked_at_after(jdk.libjvm.resolve(), "byte")
    assert changed == [page]


def test_an_equal_copy_of_a_page_is_found(jdk):
    _, (changed, all_of_the_file) = looked_at_after(jdk.libjvm.resolve(), "copy")
    assert changed == [] and not all_of_the_file


def test_native_methods_are_found_in_the_library_that_they_are_bound_to(known_answer):
    assert class_data_pointing_into(known_answer.pid, known_answer.jdk.libjvm.resolve())
