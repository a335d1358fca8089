"""Debian packages of any suite and architecture, unpacked without installing them.

Nothing of the system is changed: apt works with lists and a cache of its own, on the mirrors that the machine's own apt
configuration names."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

CODENAMES = ["stretch", "buster", "bullseye", "bookworm", "trixie", "forky", "sid", "oldoldstable", "oldstable", "stable",
             "testing", "unstable"]
MACHINES = {"aarch64": "arm64", "x86_64": "amd64"}
TRIPLETS = {"arm64": "aarch64-linux-gnu", "amd64": "x86_64-linux-gnu"}

# What the libraries of a JDK without a desktop, and our own command, need of the system.
RUNTIME_PACKAGES = ["libc6", "libgcc-s1", "libstdc++6", "zlib1g"]


class Failed(Exception):
    pass


def run(*command, **options):
    return subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **options)


def host_architecture():
    machine = os.uname().machine
    if machine not in MACHINES:
        raise Failed(f"{machine} is not supported, only for {' and '.join(MACHINES)}")
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


def unpack(packages, suites, architecture, scratch):
    """The folder with all the packages, from the first suite that has them."""
    logs = []
    for suite in suites:
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


def take_libraries(root, target):
    """Copies the libraries (and headers) of unpacked packages to the places where programs expect them below a root of
    their own, as qemu-user's -L and a cross compiler want it."""
    for name in ("lib", "lib64", "usr/lib64", "usr/include"):
        if (root / name).is_dir() and not (root / name).is_symlink():
            shutil.copytree(root / name, target / name, symlinks=True, dirs_exist_ok=True)
    for triplet in TRIPLETS.values():
        if (root / "usr/lib" / triplet).is_dir():
            shutil.copytree(root / "usr/lib" / triplet, target / "usr/lib" / triplet, symlinks=True)
    for name in ("lib", "lib64"):  # suites that keep everything below /usr
        if not (target / name).exists() and (target / "usr" / name).exists():
            (target / name).symlink_to(f"usr/{name}")
    for link in [path for path in target.rglob("*") if path.is_symlink() and os.readlink(path).startswith("/")]:
        goal = os.path.relpath(f"{target}{os.readlink(link)}", link.parent)
        link.unlink()
        link.symlink_to(goal)
