"""Runs a command in namespaces of its own, as a container would: users, pids and mounts.

    container.py OUTSIDE_UID TMP COMMAND..     OUTSIDE_UID: who the container's root is outside, and 65535 more of them;
                                               TMP: exec or noexec, how its /tmp is mounted

Its first line is the pid, outside, of the command. Only for tests: nothing here keeps anybody in."""
import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x20000, 0x10000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        sys.exit(f"container.py: {what}: {os.strerror(ctypes.get_errno())}")


def mount(source, target, kind, flags, data=None):
    encode = [text.encode() if text else None for text in (source, target, kind)]
    check(libc.mount(*encode, flags, data.encode() if data else None), f"mount {target}")


def become_root_of_namespace(outside):
    """Maps users 0..65535 of a new user namespace to `outside` and those after it; a helper outside writes the maps."""
    ready, told = os.pipe()
    mapped, done = os.pipe()
    parent = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.close(told)
        os.read(ready, 1)
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{parent}/{name}", "w") as file:
                file.write(f"0 {outside} 65536\n")
        os.write(done, b"x")
        os._exit(0)
    check(libc.unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS), "unshare")
    os.write(told, b"x")
    os.close(done)
    if os.read(mapped, 1) != b"x":
        sys.exit("container.py: the users could not be mapped")
    os.waitpid(helper, 0)
    os.setgroups([])
    os.setgid(0)
    os.setuid(0)


def main():
    outside, tmp, *command = sys.argv[1:]
    become_root_of_namespace(int(outside))
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    child = os.fork()
    if child == 0:
        libc.prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV)
        mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | (MS_NOEXEC if tmp == "noexec" else 0), "mode=1777")
        os.chdir("/tmp")
        os.execv(command[0], command)
    print(child, flush=True)
    os.waitpid(child, 0)


main()
