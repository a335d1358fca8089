"""A JDK whose libjvm.so has lost what lock hooks are found by: a copy of its launcher and of that library, links to the rest."""
import pathlib
import shutil
import subprocess

from jdks import Jdk

# What the kernel or the JVM finds its own home by; a link would lead it to the original's.
_COPIED = ["bin/java", "lib/libjli.so"]

# What objcopy takes away, one after the other, and which mechanism is the best that is left (docs/locks.md).
SYMBOLS = ["--strip-all"]
PROBES = [*SYMBOLS, "--remove-section=.note.stapsdt"]
# The JVM itself does not go by the name.
UNWIND_TABLES = [*PROBES, "--rename-section=.eh_frame_hdr=.hidden"]


def stripped_jdk(jdk, folder, without):
    home = pathlib.Path(folder) / "jdk"
    libjvm = jdk.libjvm.relative_to(jdk.home)
    _link(jdk.home, home, {pathlib.Path(path) for path in [*_COPIED, libjvm]})
    for path in _COPIED:
        shutil.copy(jdk.home / path, home / path)
    subprocess.run(["objcopy", *without, jdk.home / libjvm, home / libjvm], check=True, capture_output=True, timeout=240)
    copy = Jdk(home)
    assert copy.libjvm.resolve() == (home / libjvm).resolve()
    return copy


def _link(original, copy, apart, at=pathlib.Path()):
    """Folders that hold something of `apart` are made anew."""
    (copy / at).mkdir()
    for entry in (original / at).iterdir():
        path = at / entry.name
        if any(path in other.parents for other in apart):
            _link(original, copy, apart, path)
        elif path not in apart:
            (copy / path).symlink_to(entry)
