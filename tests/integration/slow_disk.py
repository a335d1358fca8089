"""A file on a disk that takes its time: the kernel asks for each piece of it, by FUSE, and the answer is late.

Whoever reads such a file waits as for a disk, in the kernel and without being interrupted, but for as long as we like.
It lies in no folder: it is opened while its file system is mounted for a moment, and can be reached only through the
server's descriptor, /proc/PID/fd/N. So nothing is left behind, whatever becomes of it.
"""
import contextlib
import ctypes
import errno
import os
import struct
import subprocess
import sys
import threading
import time

# Of linux/fuse.h: what is asked, and how the answers look.
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, INIT, INTERRUPT, BATCH_FORGET = 1, 2, 3, 14, 15, 18, 26, 36, 42
IN_HEADER, OUT_HEADER = struct.Struct("<IIQQIIIHH"), struct.Struct("<IiQ")
INIT_OUT = struct.Struct("<IIIIHHIIHH7I")
ATTR = struct.Struct("<6Q10I")
ATTR_VALID, ENTRY = struct.Struct("<QII"), struct.Struct("<QQQQII")
OPEN_OUT, READ_IN = struct.Struct("<QII"), struct.Struct("<QQI")
MNT_DETACH = 2
FOLDER, FILE = 1, 2
NAME = "slow"
LARGEST = 1 << 17
ASYNC_READ = 1  # whoever reads waits for the page, as with other disks, and not for our answer


def possible():
    return os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)


class SlowDisk:
    """`path` is a file of `size` zeroes, each piece of which takes `delay` seconds to be read. Served by a process of its own,
    which can be killed."""

    def __init__(self, folder, size, delay):
        self.command = [sys.executable, __file__, str(folder), str(size), str(delay)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.path = self.process.stdout.readline().strip()
        assert self.path, f"{self.command} ended with {self.process.wait(30)}"
        return self

    def __exit__(self, *_):
        # Whoever still wants to read fails.
        self.process.kill()
        self.process.communicate(timeout=30)


class Server:
    def __init__(self, folder, size, delay):
        self.folder, self.size, self.delay = folder, size, delay

    def run(self):
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0"
        if libc.mount(b"tarsier-test", self.folder.encode(), b"fuse", 0, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mounting a slow disk")
        server = threading.Thread(target=self._serve)
        server.start()
        try:
            file = os.open(os.path.join(self.folder, NAME), os.O_RDONLY | os.O_CLOEXEC)
            # Closing makes the kernel ask whether we mind. We don't know that question, so it will not ask again: not while
            # we are being killed, when it would wait for the answer for ever.
            os.close(os.dup(file))
        finally:
            libc.umount2(self.folder.encode(), MNT_DETACH)
        print(f"/proc/{os.getpid()}/fd/{file}", flush=True)
        server.join()

    def _serve(self):
        while True:
            try:
                request = os.read(self.device, LARGEST + 4096)
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                    continue  # whoever asked does not want to know any more
                return  # ENODEV: unmounted
            _, what, unique, node, *_ = IN_HEADER.unpack_from(request)
            answer = self._answer(what, node, request[IN_HEADER.size:])
            if answer is None:
                continue
            failure, body = (answer, b"") if isinstance(answer, int) else (0, answer)
            with contextlib.suppress(OSError):  # interrupted meanwhile
                os.write(self.device, OUT_HEADER.pack(OUT_HEADER.size + len(body), -failure, unique) + body)

    def _answer(self, what, node, body):
        if what == INIT:
            major, minor, *_ = struct.unpack_from("<II", body)
            return INIT_OUT.pack(major, min(minor, 31), LARGEST, ASYNC_READ, 0, 0, LARGEST, 1, 0, 0, *[0] * 7)
        if what == LOOKUP:
            if body.rstrip(b"\0") != NAME.encode():
                return errno.ENOENT
            return ENTRY.pack(FILE, 0, 3600, 3600, 0, 0) + self._attributes(FILE)
        if what == GETATTR:
            return ATTR_VALID.pack(3600, 0, 0) + self._attributes(node)
        if what == OPEN:
            return OPEN_OUT.pack(1, 0, 0)
        if what == READ:
            _, offset, size = READ_IN.unpack_from(body)
            time.sleep(self.delay)
            return bytes(max(0, min(size, self.size - offset)))
        if what == RELEASE:
            return b""
        if what in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        return errno.ENOSYS

    def _attributes(self, node):
        mode, size = (0o040755, 0) if node == FOLDER else (0o100444, self.size)
        return ATTR.pack(node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


if __name__ == "__main__":
    Server(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])).run()
