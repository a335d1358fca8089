"""Counters of a thread of another process, opened by the test itself: what `perf stat -t TID` would do."""
import contextlib
import ctypes
import errno
import os
import struct

# Types and numbers of linux/perf_event.h.
HARDWARE, SOFTWARE = 0, 1
EVENTS = {"instructions": (HARDWARE, 1), "task-clock": (SOFTWARE, 1), "page-faults": (SOFTWARE, 2),
          "context-switches": (SOFTWARE, 3), "cpu-migrations": (SOFTWARE, 4)}
EXCLUDE_HYPERVISOR = 1 << 6
SIZE = 128
CALL = {"aarch64": 241, "x86_64": 298}


def open_counter(name, tid):
    kind, config = EVENTS[name]
    attributes = ctypes.create_string_buffer(struct.pack("<IIQQQQQ", kind, SIZE, config, 0, 0, 0, EXCLUDE_HYPERVISOR), SIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(CALL[os.uname().machine], attributes, tid, -1, -1, 0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), f"counting {name}")
    return descriptor


def has_hardware_counters():
    """Whether there is a PMU that we may use."""
    try:
        os.close(open_counter("instructions", 0))
        return True
    except OSError as error:
        assert error.errno in (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV, errno.EACCES, errno.EPERM), error
        return False


@contextlib.contextmanager
def counting(names, threads):
    """A function that tells {thread: {name: count}} as of when it is called. `threads`: {thread: tid}."""
    opened = {}
    try:
        for thread, tid in threads.items():
            opened[thread] = {}
            for name in names:
                opened[thread][name] = open_counter(name, tid)
        yield lambda: {thread: {name: struct.unpack("<Q", os.read(fd, 8))[0] for name, fd in of.items()}
                       for thread, of in opened.items()}
    finally:
        for of in opened.values():
            for descriptor in of.values():
                os.close(descriptor)
