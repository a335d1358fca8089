"""Brings JDKs of Debian's other suites, and of the other architecture, into a folder; called by `script/jvms install`.

The packages are only unpacked (script/debian.py). A JDK becomes one folder, with the files of /etc inside. If it was built
for a newer libc than the system's, it gets that libc too: its programs then name their own loader, and remain plain
processes that run, are seen and are attached to like any other."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from debian import RUNTIME_PACKAGES, TRIPLETS, Failed, host_architecture, run, take_libraries, unpack

# Where Debian has which version; the first suite that has it is taken.
SUITES = {8: ["sid"], 11: ["bullseye"], 17: ["bookworm", "sid"], 21: ["trixie", "sid"], 25: ["trixie", "sid"]}
# Parts of a JDK that no test needs, and that are half of its size.
NOT_TAKEN = ["docs", "jmods", "man"]


# ---- from unpacked packages to one folder


def inside(root, path, hops=0):
    """Where `path`, as seen by a process whose root is `root`, lies; follows links, also absolute ones."""
    at = root
    parts = [part for part in pathlib.PurePosixPath(path).parts if part not in ("/", ".")]
    for index, part in enumerate(parts):
        if part == "..":
            at = at if at == root else at.parent
            continue
        at = at / part
        if at.is_symlink():
            if hops > 40:
                return None
            target = os.readlink(at)
            base = target if target.startswith("/") else f"/{at.parent.relative_to(root)}/{target}"
            return inside(root, f"{base}/{'/'.join(parts[index + 1:])}", hops + 1)
    return at if at.exists() else None


def take_home(root, home, target):
    """Copies the JDK at `home` inside `root` to `target`. Links that leave it become what they point to; dead ones go."""
    target.mkdir()
    for entry in sorted(home.iterdir()):
        if entry.name in NOT_TAKEN:
            continue
        goal = target / entry.name
        real = inside(root, entry.relative_to(root)) if entry.is_symlink() else entry
        if real is None:
            continue  # source code, documentation, a package that was not asked for
        if entry.is_symlink() and real.is_relative_to(home):
            goal.symlink_to(os.readlink(entry))
        elif real.is_dir():
            take_home(root, real, goal)
        else:
            shutil.copy2(real, goal)


def certificates(home):
    """The machine's own; without them everything but TLS works."""
    theirs = pathlib.Path("/etc/ssl/certs/java/cacerts")
    for security in (home / "lib/security", home / "jre/lib/security"):
        if security.is_dir() and theirs.exists() and not (security / "cacerts").exists():
            shutil.copy(theirs, security / "cacerts")


def elf_files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def newest_version(prefix, files):
    """The highest PREFIX_1.2.3 that the files name, as a tuple."""
    pattern = re.compile(prefix.encode() + rb"_(\d+(?:\.\d+)+)\0")
    found = [tuple(map(int, text.split(b"."))) for file in files for text in pattern.findall(file.read_bytes())]
    return max(found, default=(0,))


def needs_own_libraries(home, triplet):
    """Was anything in `home` built for a newer libc or libstdc++ than this system has?"""
    system = [path for name in ("libc.so.6", "libstdc++.so.6")
              for path in (pathlib.Path(f"/usr/lib/{triplet}/{name}"), pathlib.Path(f"/lib/{triplet}/{name}")) if path.exists()]
    files = list(elf_files(home))
    return any(newest_version(prefix, files) > newest_version(prefix, system) for prefix in ("GLIBC", "GLIBCXX"))


def dynamic(file):
    """(what it needs, does it name a loader?) of an ELF file."""
    text = run("readelf", "-dlW", file).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)), "Requesting program interpreter" in text


def own_libraries(home, libraries, final):
    """Lets the programs of `home` run with the libraries of their own suite, kept in home/system.

    Only the programs are changed: they name the loader there, and load at once what any library of the JDK will need, so
    that those, which have search paths of their own and remain as they came, find it already there by its name.
    """
    if not shutil.which("patchelf"):
        raise Failed("this JDK needs a newer libc than the system's, and patchelf is not there; script/bootstrap installs it")
    system = home / "system"
    system.mkdir()
    for library in libraries.iterdir():
        if library.is_file() and ".so" in library.name:
            shutil.copy2(library.resolve(), system / library.name)
    loader = next(path.name for path in system.iterdir() if path.name.startswith("ld-linux"))
    files = {file: dynamic(file) for file in elf_files(home) if not file.is_relative_to(system)}
    # (libthread_db, of the serviceability agent, only loads into a debugger.)
    needed = {name for names, _ in files.values() for name in names if (system / name).exists()} - {"libthread_db.so.1"}
    for program in (file for file, (_, has_loader) in files.items() if has_loader):
        search = run("patchelf", "--print-rpath", program).stdout.strip()
        origin = os.path.relpath(system, program.parent)
        add = [word for name in sorted(needed - files[program][0]) for word in ("--add-needed", name)]
        # One call for each: with several changes at once patchelf 0.14 mixes up their arguments.
        for change in (["--set-interpreter", final / "system" / loader],
                       ["--force-rpath", "--set-rpath", ":".join(filter(None, (search, f"$ORIGIN/{origin}")))], add):
            changed = run("patchelf", *change, program) if change else None
            if changed and changed.returncode:
                raise Failed(f"patchelf {program.name}: {changed.stdout}")


def java_version(home):
    """What java says of itself, or None if it does not run."""
    try:
        done = run(home / "bin/java", "-version", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def is_complete(home, foreign):
    return (home / "bin/java").exists() and (foreign or java_version(home) is not None)


def install(major, architecture, jvms):
    foreign = architecture != host_architecture()
    final = jvms / (f"{major}-{architecture}" if foreign else str(major))
    if is_complete(final, foreign):
        print(f"{final}: is there")
        return
    triplet = TRIPLETS[architecture]
    print(f"{final}: bringing OpenJDK {major} for {architecture}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix=f".{major}-", dir=jvms) as scratch:
        scratch = pathlib.Path(scratch)
        packages = [f"openjdk-{major}-jdk-headless", f"openjdk-{major}-jre-headless", *RUNTIME_PACKAGES]
        root = unpack(packages, SUITES[major], architecture, scratch)
        libraries = scratch / "libraries"
        libraries.mkdir()
        for folder in (root / "lib" / triplet, root / "usr/lib" / triplet):
            for library in sorted(folder.iterdir()) if folder.is_dir() else ():
                if library.is_file():
                    shutil.copy2(library, libraries / library.name)
        home = scratch / "home"
        take_home(root, root / f"usr/lib/jvm/java-{major}-openjdk-{architecture}", home)
        certificates(home)
        if foreign:
            take_libraries(root, home / "sysroot")
        elif needs_own_libraries(home, triplet):
            own_libraries(home, libraries, final)
        if final.exists():
            shutil.rmtree(final)
        home.rename(final)
    version = None if foreign else java_version(final)
    if not foreign and version is None:
        raise Failed(f"{final}/bin/java does not run:\n{run(final / 'bin/java', '-version').stdout}")
    print(f"{final}: {version or f'openjdk {major} for {architecture}, to run under qemu-user with -L {final}/sysroot'}")


def parse(word):
    match = re.fullmatch(r"(\d+)(?::(\w+))?", word)
    architecture = match[2] or host_architecture() if match else None
    if not match or int(match[1]) not in SUITES or architecture not in TRIPLETS:
        raise Failed(f"'{word}' is none of {', '.join(map(str, SUITES))}, alone or with :{' or :'.join(TRIPLETS)}")
    return int(match[1]), architecture


def main():
    jvms = pathlib.Path(os.environ["TARSIER_JVMS"]).absolute()  # set by script/jvms
    try:
        wanted = [parse(word) for word in sys.argv[1:]]
        for tool in ("apt-get", "dpkg", "readelf"):
            if not shutil.which(tool):
                raise Failed(f"no {tool} here: JDKs can only be brought on a Debian (others: put them into {jvms} by hand)")
        jvms.mkdir(parents=True, exist_ok=True)
        jvms = jvms.resolve()
        with open(jvms / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left_over in jvms.glob(".[0-9]*-*"):  # of an installation that was killed
                shutil.rmtree(left_over)
            problems = []
            for major, architecture in wanted:
                try:
                    install(major, architecture, jvms)
                except (Failed, OSError) as problem:
                    problems.append(f"{major}:{architecture} is not installed: {problem}")
            if problems:
                raise Failed("\n".join(problems))
    except (Failed, OSError) as problem:
        print(f"jvms: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
