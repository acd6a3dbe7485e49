"""The copy of the project that mutants are built in: build/mutants/tree.

Only files that differ are written, so a second build compiles little.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from sites import HEADER, ROOT, written
from switch import HEADER_TEXT

from check_common import project_files

TREE = ROOT / "build" / "mutants" / "tree"
BUILD = TREE / "build" / "dev"
_PLACE = re.compile(r"(?<![\w.])(?:[\w./-]*/)?(src/[\w/]+\.(?:cc|h)):(\d+)")


class BuildFailed(Exception):
    """What the compiler said."""


def copy(changed=None):
    """Brings the tree up to date with the project; `changed` are texts to be written instead, by path."""
    changed = dict(changed or {})
    if changed:
        changed[f"src/{HEADER}"] = HEADER_TEXT
    wanted = {path.as_posix() for path in project_files(ROOT)} | set(changed)
    for name in sorted(wanted):
        data = changed[name].encode() if name in changed else (ROOT / name).read_bytes()
        target = TREE / name
        if target.is_file() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if name not in changed:
            target.chmod((ROOT / name).stat().st_mode)
    for folder in ("src", "tests"):
        for path in (TREE / folder).rglob("*"):
            if path.is_file() and path.relative_to(TREE).as_posix() not in wanted and "node_modules" not in path.parts:
                path.unlink()


def configure():
    subprocess.run(["cmake", "--preset", "dev"], cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def build(jobs, *targets):
    """Builds; raises BuildFailed with the compiler's words."""
    command = ["cmake", "--build", str(BUILD), "-j", str(jobs)]
    for target in targets:
        command += ["--target", target]
    done = subprocess.run([*command, "--", "-k", "0"], capture_output=True, text=True, errors="replace")
    (TREE.parent / "build.log").write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        raise BuildFailed(done.stdout + done.stderr)


def blamed(words, mutants, lines):
    """The numbers of the mutants that a failed build is about. `lines` has the first and last line of each."""
    named = {(path, int(line) - 1) for path, line in _PLACE.findall(words)}  # one line for the header
    exact = {
        number
        for number, mutant in mutants.items()
        if any(path == mutant.path and lines[number][0] <= line <= lines[number][1] for path, line in named)
    }
    if exact:
        return exact
    files = {path for path, _ in named}
    return {number for number, mutant in mutants.items() if mutant.path in files}


def build_with(files, mutants, jobs, say):
    """Compiles all mutants at once; returns those that compile, by number."""
    mutants = dict(mutants)
    while True:
        by_file = {}
        for number, mutant in mutants.items():
            by_file.setdefault(mutant.path, {})[number] = mutant
        copy({path: written(files[path], found) for path, found in by_file.items()})
        configure()
        try:
            build(jobs)
            return mutants
        except BuildFailed as failure:
            lines = {
                number: (files[m.path].source.line(m.begin), files[m.path].source.line(m.stop))
                for number, m in mutants.items()
            }
            bad = blamed(str(failure), mutants, lines)
            if not bad:
                sys.exit(f"mutants: the build fails, and not because of a mutant; see {TREE.parent / 'build.log'}")
            say(f"{len(bad)} of {len(mutants)} do not compile and are left out: {sorted(bad)}")
            for number in bad:
                del mutants[number]


def environment():
    kept = dict(os.environ)
    kept.pop("GTEST_FILTER", None)
    return kept


def program(name):
    """A test program by its name."""
    for folder in ("tests/unit", "tests/os", "bin"):
        if (BUILD / folder / name).is_file():
            return Path(BUILD / folder / name)
    sys.exit(f"mutants: there is no test program {name}; name one of tests/unit or tests/os in `# detected by:`")
