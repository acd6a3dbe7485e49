"""Packages that were made, and roots of their own to install them in.

What runs in such a root has a PID namespace of its own, so that nothing can outlive its test.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIST = pathlib.Path(os.environ.get("CORRAL_DIST", ROOT / "dist"))
BUILD = pathlib.Path(os.environ.get("CORRAL_RELEASE_BUILD", ROOT / "build" / "release"))
PACKAGING = ROOT / "packaging"
# Nothing here takes a minute; a mirror that does not answer must not hold up everything.
PATIENCE = 300
# What is started by these words ends with them, also if a test loses its patience; and so do its mounts.
OWN_PROCESSES = ("unshare", "--mount", "--pid", "--fork", "--kill-child")


def run(*words, ok=True, **options):
    """The finished process; a failure shows what it wrote."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=options.pop("timeout", PATIENCE), **options)
    if ok and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done


def the_package(pattern):
    """The newest package of this kind."""
    found = sorted(DIST.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not found:
        raise AssertionError(f"there is no {DIST / pattern}: make it with `make packages`")
    return found[-1]


@contextlib.contextmanager
def folder():
    made = pathlib.Path(tempfile.mkdtemp(prefix="corral packages "))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def can_make_roots():
    """Whether this user may mount and change the root here: in some containers even root may not."""
    tried = subprocess.run([*OWN_PROCESSES, "--mount-proc", "true"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.geteuid() == 0 and tried.returncode == 0


needs_roots = unittest.skipUnless(
    can_make_roots(), "NOT TESTED: the packages were not installed, because this user cannot make a root to install them in")


def in_root(root, script, *words, ok=True, dev=True):
    """Runs a script of the host's shell whose $root has /proc, /tmp and, if `dev`, the few devices of a container."""
    mounts = 'set -eu; root=$1; shift; mount -t proc proc "$root/proc"; mount -t tmpfs tmpfs "$root/tmp"\n'
    if dev:
        mounts += ('mount -t tmpfs -o mode=755 tmpfs "$root/dev"\n'
                   'for name in null zero full random urandom tty; do '
                   'touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done\n')
    return run(*OWN_PROCESSES, "sh", "-c", mounts + script, "sh", root, *words, ok=ok)
