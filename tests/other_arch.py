"""A JDK of the other architecture under qemu-user, made to look like one of this machine: a folder whose programs are
scripts that start the emulator. So are the command and the agent, which `script/build --preset cross` builds for it."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build/other-arch"
MAJOR = 17
# machine here: (Debian's name of the other one, qemu's name of it)
OTHERS = {"aarch64": ("amd64", "x86_64"), "x86_64": ("arm64", "aarch64")}


def is_asked_for():
    """Set by script/test --other-arch."""
    return bool(os.environ.get("TARSIER_OTHER_ARCH"))


def write_script(path, *command):
    path.parent.mkdir(parents=True, exist_ok=True)
    words = " ".join(f"'{word}'" for word in command)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    fresh.chmod(0o755)
    fresh.rename(path)  # several test processes prepare at once


def prepare(native):
    """The home of the emulated JDK. `native`: one of this machine, whose jfr and javac do as well."""
    debian, machine = OTHERS[os.uname().machine]
    jvms = pathlib.Path(os.environ.get("TARSIER_JVMS", ROOT / "jvms"))
    jdk = jvms / f"{MAJOR}-{debian}"
    assert (jdk / "bin/java").exists(), f"no {jdk}: run script/jvms install {MAJOR}:{debian}"
    assert (ROOT / "build/cross/tarsier").exists(), "no build/cross/tarsier: run script/build --preset cross"
    emulator = [f"qemu-{machine}-static", "-L", ROOT / "build/sysroot"]
    home = FOLDER / f"jdk{MAJOR}"
    write_script(home / "bin/java", *emulator, jdk / "bin/java")
    for tool in ("javac", "jcmd", "jfr"):
        write_script(home / "bin" / tool, native.tool(tool))
    (home / "release").write_text((jdk / "release").read_text())
    write_script(FOLDER / "tarsier", *emulator, ROOT / "build/cross/tarsier")
    return home
