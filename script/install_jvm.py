"""Brings JDKs of Debian's other suites, and of the other architecture, into a folder; called by `script/jvms install`.

Nothing of the system is changed: apt works with lists and a cache of its own, on the mirrors that the machine's own apt
configuration names, and the packages are only unpacked. A JDK becomes one folder, with the files of /etc inside. If it
was built for a newer libc than the system's, it gets that libc too: its programs then name their own loader, and remain
plain processes that run, are seen and are attached to like any other."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Where Debian has which version; the first suite that has it is taken.
SUITES = {8: ["sid"], 11: ["bullseye"], 17: ["bookworm", "sid"], 21: ["trixie", "sid"], 25: ["trixie", "sid"]}
CODENAMES = ["stretch", "buster", "bullseye", "bookworm", "trixie", "forky", "sid", "oldoldstable", "oldstable", "stable",
             "testing", "unstable"]
MACHINES = {"aarch64": "arm64", "x86_64": "amd64"}
TRIPLETS = {"arm64": "aarch64-linux-gnu", "amd64": "x86_64-linux-gnu"}
# What the libraries of a JDK without a desktop need of the system.
RUNTIME_PACKAGES = ["libc6", "libgcc-s1", "libstdc++6", "zlib1g"]

# Parts of a JDK that no test needs, and that are half of its size.
NOT_TAKEN = ["docs", "jmods", "man"]


class Failed(Exception):
    pass


def run(*command, **options):
    return subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **options)


def host_architecture():
    machine = os.uname().machine
    if machine not in MACHINES:
        raise Failed(f"no JDKs are known for {machine}, only for {' and '.join(MACHINES)}")
    return MACHINES[machine]


# ---- the mirrors of this machine, asked for another suite


def stanzas(text):
    """The stanzas of a .sources file as lists of (field, value); continuation lines belong to the value."""
    for block in re.split(r"\n\s*\n", text):
        fields = []
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace() and fields:
                fields[-1] = (fields[-1][0], f"{fields[-1][1]}\n{line}")
            elif ":" in line:
                name, value = line.split(":", 1)
                fields.append((name.strip(), value.strip()))
        if fields:
            yield fields


def in_suite(configured, suite, with_updates):
    """The suite that stands to `suite` as the configured one stands to its release: -security, -updates; None if none does."""
    match = re.fullmatch(rf"({'|'.join(CODENAMES)})((?:[-/].*)?)", configured.strip("/"))
    if not match or match[2].endswith(("-backports", "-proposed-updates", "-debug")):
        return None
    return f"{suite}{match[2]}" if not match[2] or with_updates else None


def sources_for(suite, with_updates):
    """A .sources file with the machine's mirrors, for `suite`."""
    folder = pathlib.Path("/etc/apt")
    result = []
    for file in sorted((folder / "sources.list.d").glob("*.sources")):
        for fields in stanzas(file.read_text()):
            values = {name.lower(): value for name, value in fields}
            suites = list(filter(None, (in_suite(word, suite, with_updates) for word in values.get("suites", "").split())))
            if "deb" not in values.get("types", "").split() or values.get("enabled", "yes").lower() == "no" or not suites:
                continue
            ours = {"types": "deb", "suites": " ".join(suites), "components": "main", "uris": values.get("uris", "")}
            kept = [(name, value) for name, value in fields
                    if name.lower() not in (*ours, "architectures", "enabled", "targets", "pdiffs")]
            result.append("\n".join(f"{name}: {value}" for name, value in [*ours.items(), *kept]))
    for file in [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*.list"))]:
        for line in file.read_text().splitlines() if file.exists() else ():
            match = re.fullmatch(r"\s*deb\s+(?:\[([^]]*)\]\s*)?(\S+)\s+(\S+)(?:\s[^#]*)?(?:#.*)?", line)
            wanted = in_suite(match[3], suite, with_updates) if match else None
            if not wanted:
                continue
            options = dict(option.split("=", 1) for option in (match[1] or "").split() if "=" in option)
            signed = f"\nSigned-By: {options['signed-by']}" if "signed-by" in options else ""
            trusted = f"\nTrusted: {options['trusted']}" if "trusted" in options else ""
            result.append(f"Types: deb\nURIs: {match[2]}\nSuites: {wanted}\nComponents: main{signed}{trusted}")
    if not result:
        raise Failed("no Debian mirror in /etc/apt/sources.list and /etc/apt/sources.list.d")
    return "\n\n".join(result) + "\n"


class Apt:
    """apt with lists, cache and status of its own, in `folder`, for one suite and architecture."""

    def __init__(self, folder, suite, with_updates, architecture):
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial", "debs"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "mirrors.sources").write_text(sources_for(suite, with_updates))
        # The machine's own settings hold (proxies and the like), but not its hooks.
        (folder / "apt.conf").write_text(f"""
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Update::Pre-Invoke;
#clear APT::Architectures;
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Sandbox::User "";
Dir::Etc::sourcelist "{folder}/mirrors.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{folder}";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Acquire::Languages "none";
""")
        self.log = self.run("apt-get", "-q", "update").stdout

    def run(self, command, *arguments):
        return run(command, "-c", self.folder / "apt.conf", *arguments, cwd=self.folder / "debs",
                   env=dict(os.environ, LC_ALL="C.UTF-8"))

    def has(self, package):
        return bool(self.run("apt-cache", "show", "--no-all-versions", package).stdout.startswith("Package:"))

    def unpack(self, packages, root):
        """None, or what went wrong."""
        if not self.has(packages[0]):
            return self.log
        done = self.run("apt-get", "-q", "download", *packages)
        if done.returncode:
            return done.stdout
        for deb in sorted((self.folder / "debs").glob("*.deb")):
            unpacked = run("dpkg", "-x", deb, root)
            if unpacked.returncode:
                raise Failed(f"dpkg -x {deb.name} failed: {unpacked.stdout}")
        return None


def unpack(major, architecture, scratch):
    """The folder with the JDK's packages, from the first place that has them all."""
    packages = [f"openjdk-{major}-jdk-headless", f"openjdk-{major}-jre-headless", *RUNTIME_PACKAGES]
    logs = []
    for suite in SUITES[major]:
        # An old suite may have lost its updates while the release itself is still there.
        for with_updates in (True, False) if suite != "sid" else (False,):
            what = f"{suite}{' with its updates' if with_updates else ''}"
            folder = scratch / what.replace(" ", "-")
            problem = Apt(folder, suite, with_updates, architecture).unpack(packages, folder / "root")
            if problem is None:
                if logs:
                    print(f"  taken from {what}, since it could not be had from others:", *logs, sep="\n", file=sys.stderr)
                return folder / "root"
            lines = [line for line in problem.splitlines() if line.startswith(("E:", "W:", "Err:"))]
            logs += [f"  {what}: no {packages[0]} for {architecture}", *map("    {}".format, lines[:4])]
    raise Failed("\n".join(["this machine's mirrors do not have it:", *logs]))


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
        root = unpack(major, architecture, scratch)
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
            sysroot(root, home / "sysroot")
        elif needs_own_libraries(home, triplet):
            own_libraries(home, libraries, final)
        if final.exists():
            shutil.rmtree(final)
        home.rename(final)
    version = None if foreign else java_version(final)
    if not foreign and version is None:
        raise Failed(f"{final}/bin/java does not run:\n{run(final / 'bin/java', '-version').stdout}")
    print(f"{final}: {version or f'openjdk {major} for {architecture}, to run under qemu-user with -L {final}/sysroot'}")


def sysroot(root, target):
    """What qemu-user's -L wants: the libraries, at the places that programs name."""
    for name in ("lib", "lib64", "usr/lib64"):
        if (root / name).is_dir() and not (root / name).is_symlink():
            shutil.copytree(root / name, target / name, symlinks=True, dirs_exist_ok=True)
    for folder in (root / "usr/lib").iterdir():
        if folder.name in TRIPLETS.values():
            shutil.copytree(folder, target / "usr/lib" / folder.name, symlinks=True)
    for name in ("lib", "lib64"):  # suites that keep everything below /usr
        if not (target / name).exists() and (target / "usr" / name).exists():
            (target / name).symlink_to(f"usr/{name}")


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
