#!/usr/bin/env python3
"""Breaks src/ in the ways that must never pass, one at a time: each named patch must be detected by the test it names.

The first line of a patch is `# detected by: PROGRAM --gtest_filter=TESTS`, for instance
`# detected by: unit_tests --gtest_filter=Attribution.*`. The tests must pass without the patch and fail with it.
  named.py          all of them
  named.py NAME...  only these, without `.patch`
"""

import argparse
import shlex
import subprocess
import sys

import tree
from sites import ROOT
from tree import BUILD, TREE
from trial import run_apart

FOLDERS = (ROOT / "tests" / "mutants" / "named", ROOT / "tests" / "chaos" / "mutants")
MARK = "# detected by: "
SECONDS = 300


def say(text):
    print(f"named mutants: {text}", flush=True)


def patches(folders=FOLDERS):
    """{patch: command} of all that name a test; those of the chaos run name none."""
    found = {}
    for folder in folders:
        for patch in sorted(folder.glob("*.patch")):
            first = patch.read_text(encoding="utf-8").split("\n", 1)[0]
            if first.startswith(MARK):
                program, chosen = shlex.split(first[len(MARK) :])
                found[patch] = (program, chosen.removeprefix("--gtest_filter="))
    return found


def changed_files(patch):
    lines = patch.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("+++ b/").split("\t")[0] for line in lines if line.startswith("+++ b/")]


def passes(command):
    ((_, passed, _, _),) = run_apart([(tree.program(command[0]), command[1])], 1, SECONDS)
    return passed


def broken(patch, command, jobs):
    """Whether the test detects the patch. The tree is as before afterwards."""
    with open(patch, encoding="utf-8") as text:
        subprocess.run(["patch", "--quiet", "-p1", "-d", str(TREE)], stdin=text, check=True)
    try:
        tree.build(jobs, command[0])
        return not passes(command)
    finally:
        tree.copy()


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args(argv)
    chosen = {p: c for p, c in patches().items() if not arguments.names or p.stem in arguments.names}
    if not chosen:
        say("there is no such patch" if arguments.names else "there are none")
        return 2 if arguments.names else 0
    tree.copy()
    tree.configure()
    try:
        tree.build(arguments.jobs, *sorted({command[0] for command in chosen.values()}))
        for command in sorted(set(chosen.values())):
            if not passes(command):
                say(f"{shlex.join(command)} fails without a patch; correct that first")
                return 2
        undetected = []
        for patch, command in chosen.items():
            if not broken(patch, command, arguments.jobs):
                undetected.append(patch.stem)
            say(f"{patch.stem}: {'NOT DETECTED' if patch.stem in undetected else 'detected'}")
    except tree.BuildFailed as failure:
        print(str(failure)[-3000:])
        say(f"a build in {BUILD.relative_to(ROOT)} failed; a patch must compile")
        return 2
    return 1 if undetected else 0


if __name__ == "__main__":
    sys.exit(main())
