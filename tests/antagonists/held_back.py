"""Holds one thread of another process for a second at a time, by ptrace: what would come of it if it were that late."""
import ctypes
import os
import pathlib
import signal
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long
CONT, DETACH, SEIZE, INTERRUPT = 7, 17, 0x4206, 0x4207
WALL = 0x40000000


def ptrace(request, thread, data=0):
    if LIBC.ptrace(request, thread, None, data) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def thread_named(pid, name):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            return int(task.name)
    raise AssertionError(f"process {pid} has no thread {name}")


class HeldBack:
    """The thread of that name is held for `seconds`, let go for a moment, held again, and so on. `times`: how often."""

    def __init__(self, pid, name, seconds=1):
        self.thread, self.seconds, self.times = thread_named(pid, name), seconds, 0
        self._end = threading.Event()
        self._tracer = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._tracer.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._tracer.join(60)

    def _run(self):  # all in one thread: the kernel takes requests from no other
        ptrace(SEIZE, self.thread)
        try:
            while not self._end.is_set():
                ptrace(INTERRUPT, self.thread)
                _, status = os.waitpid(self.thread, WALL)
                if not os.WIFSTOPPED(status):
                    return
                self._end.wait(self.seconds)
                self.times += 1
                # Stopped by a signal of its own it shall have it.
                passed_on = os.WSTOPSIG(status) if status >> 16 == 0 and os.WSTOPSIG(status) != signal.SIGTRAP else 0
                ptrace(CONT, self.thread, passed_on)
                self._end.wait(0.05)
            ptrace(INTERRUPT, self.thread)
            os.waitpid(self.thread, WALL)
            ptrace(DETACH, self.thread)
        except (OSError, ChildProcessError):
            pass  # it has ended
