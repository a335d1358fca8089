"""Brings the libraries that the cross build links with, in the other architecture: packages of the set `foreign` in
script/packages.txt, from this system's own suite, unpacked into a folder. Does nothing if they are there.

    install_sysroot.py FOLDER"""
import os
import pathlib
import platform
import shutil
import sys
import tempfile

from debian import MACHINES, RUNTIME_PACKAGES, Failed, host_architecture, take_libraries, unpack

LIST = pathlib.Path(__file__).resolve().parent / "packages.txt"


def foreign_packages():
    rows = (line.split("|") for line in LIST.read_text().splitlines() if not line.startswith("#"))
    return [row[1].strip() for row in rows if row[0].strip() == "foreign"]


def install(folder):
    packages = [*RUNTIME_PACKAGES, *foreign_packages()]
    stamp = folder / "packages"
    if stamp.exists() and stamp.read_text().split() == packages:
        return
    architecture = next(name for name in MACHINES.values() if name != host_architecture())
    print(f"sysroot: bringing {len(packages)} packages for {architecture}", file=sys.stderr, flush=True)
    suite = platform.freedesktop_os_release().get("VERSION_CODENAME", "sid")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sysroot-", dir=folder.parent) as scratch:
        scratch = pathlib.Path(scratch)
        target = scratch / "target"
        take_libraries(unpack(packages, [suite], architecture, scratch), target)
        (target / "packages").write_text("\n".join(packages))
        if folder.exists():
            shutil.rmtree(folder)
        target.rename(folder)


def main():
    try:
        install(pathlib.Path(os.path.abspath(sys.argv[1])))
    except (Failed, OSError) as problem:
        print(f"sysroot: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
