#!/usr/bin/env python3
"""Checks for words that must not get into the project.

* Unfinished work marked in a comment: finish it or describe it in an issue.
* Paths of one developer's machine: they work nowhere else.
* Registry hosts in lock files: the host is the choice of whoever installs.
* Killing by name in tests and scripts: it hits the processes of others on the same machine.
* Messages that are put together by hand: only wire/json_text.cc composes them, because it escapes what it is given.
* Tests that are switched off, and white space at the end of a line.
"""

import re
import sys

from check_common import Problem, finish, parse_root, project_files, read_text

CODE_FOLDERS = {"src", "include", "tests", "fuzz", "bench"}
SCRIPT_FOLDERS = {"tests", "tools", "demo", "bench", "fuzz", "examples", ".ci", ".github"}
SCRIPT_NAMES = {"Makefile", "CMakeLists.txt"}
LOCK_FILES = {"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"}
# Raw input for fuzzers: every byte is meant.
RAW_FOLDERS = ("fuzz/corpus/", "fuzz/seeds/")
# Home folders that are plainly an example.
EXAMPLE_NAMES = "you|user|me|name|USER|YOU"

# Written with character classes so that this file doesn't report itself.
UNFINISHED = re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b")
MACHINE_PATH = re.compile(
    r"(?<![\w./~$}>*-])"  # not the middle of a longer path or of an address
    rf"(?:/wor[k]\b|/(?:hom[e]|User[s])/(?!(?:{EXAMPLE_NAMES})\b)\w[\w.-]*|/roo[t]/[\w.])"
)
KILL_BY_NAME = re.compile(r"\b(?:pkil[l]|killal[l])\b")
REGISTRY_FIELD = re.compile(r"""["']?resolve[d]["']?:?\s+["']?(?:https?|git\+\w+)://""")
REGISTRY_SETTING = re.compile(r"(?:\bregistr[y]|index-ur[l])\s*=\s*[\"']?https?://")
OWN_MESSAGE = re.compile(r'"jsonrpc"\s*:')
WRITER = "src/wire/json_text.cc"
SWITCHED_OFF = re.compile(r"\bDISABLE[D]_\w|\b(?:test|it|describe|suite)\.onl[y]\(")
COMMENT = re.compile(r"^\s*(?://|#(?!!)|\*|/\*|<!--)")


def rules_for(path):
    """(pattern, problem, fix, also in comments) for one file."""
    name = path.as_posix()
    rules = [
        (MACHINE_PATH, "path of one machine", "use a relative path, a variable or a temporary folder", True),
        (REGISTRY_SETTING, "registry host", "leave it to the settings of the person who installs", True),
    ]
    if path.name in LOCK_FILES:
        fix = "remove the field (npm: omit-lockfile-registry-resolved=true)"
        rules.append((REGISTRY_FIELD, "registry host in a lock file", fix, True))
    if path.parts[0] in CODE_FOLDERS:
        rules.append((UNFINISHED, "mark of unfinished work", "finish it, or write an issue instead", True))
    if path.parts[0] == "src" and name != WRITER:
        fix = "use request_message, notification_message and their kin of wire/json_text.h"
        rules.append((OWN_MESSAGE, "message composed by hand", fix, False))
    if path.parts[0] == "tests":
        rules.append((SWITCHED_OFF, "test switched off", "repair it or delete it", True))
    if path.parts[0] in SCRIPT_FOLDERS or name in SCRIPT_NAMES or path.name in SCRIPT_NAMES:
        rules.append((KILL_BY_NAME, "kill by name", "end the process by its pid or its unique tag", False))
    return rules


def check_file(path, text):
    problems = []
    rules = rules_for(path)
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, what, fix, in_comments in rules:
            match = pattern.search(line)
            if match and (in_comments or not COMMENT.match(line)):
                problems.append(Problem(str(path), number, f"{what}: {match.group().strip()}", fix))
        if line != line.rstrip():
            problems.append(Problem(str(path), number, "white space at the end of the line", "remove it"))
    if text and not text.endswith("\n"):
        last = text.count("\n") + 1
        problems.append(Problem(str(path), last, "no new line at the end of the file", "add one"))
    return problems


def main(argv=None):
    root = parse_root(__doc__, argv)
    problems = []
    files = [path for path in project_files(root) if not path.as_posix().startswith(RAW_FOLDERS)]
    for path in files:
        text = read_text(root / path)
        if text is not None:
            problems += check_file(path, text)
    return finish("check_words", problems, f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
