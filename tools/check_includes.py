#!/usr/bin/env python3
"""Checks the include rule: which directory of src/ may include which other one.

The order of the directories is the order in which a call travels, so a newcomer can read the code along it. An
edge against it is a design change, not a detail: it belongs in docs/decisions/ and then in the table below.
"""

import posixpath
import re
import sys

from check_common import CPP_SUFFIXES, Problem, files_under, finish, parse_root, read_text
from check_cpp import without_comments

EVERYTHING = "everything"

# Directory -> the other directories it may include. A directory may always include itself.
ALLOWED = {
    # Without the daemon.
    "base": set(),
    "keeper": set(),
    "proc": {"base", "keeper"},
    "run": {"proc", "base", "keeper"},
    "known": {"base"},
    "survey": {"known", "proc", "base", "keeper"},
    "reap": {"survey", "known", "registry", "events", "proc", "base", "keeper"},
    "guard": {"survey", "proc", "base", "keeper"},
    "shim": {"control", "config", "run", "proc", "wire", "base", "keeper"},
    "cli": EVERYTHING,
    # The path of a call: transport -> session -> (bridge) -> router -> instance -> proc.
    "transport": {"session", "pool", "router", "http", "control", "proc", "wire", "base"},
    "http": {"wire", "base"},
    "session": {"pool", "router", "bridge", "knowledge", "instance", "wire", "base"},
    "bridge": {"wire", "base"},
    "pool": {"router", "instance", "knowledge", "config", "proc", "events", "wire", "base"},
    "router": {"bridge", "instance", "knowledge", "proc", "wire", "base"},
    "instance": {"knowledge", "proc", "registry", "events", "wire", "base", "keeper"},
    "knowledge": {"config", "known", "proc", "registry", "wire", "base", "keeper"},
    "config": {"known", "proc", "base", "keeper"},
    "adopt": {"config", "known", "proc", "wire", "base"},
    "wire": {"base"},
    "control": {"wire", "base"},
    # Around it.
    "events": {"wire", "base"},
    "registry": {"events", "base"},
    "observe": {"registry", "events", "survey", "proc", "wire", "base"},
    "daemon": {
        "transport", "http", "session", "pool", "router", "instance", "knowledge", "config", "control", "shim",
        "observe", "registry", "events", "reap", "survey", "adopt", "known", "proc", "wire", "base", "keeper",
    },
    "serve": EVERYTHING,
}

# Directories that nothing else may include, not even those that may include everything.
ONLY_FOR_ITSELF = {"cli"}
# Directory -> its only header that others (except daemon) may see: back ends are named in one place alone.
FRONT_HEADERS = {"registry": "registry/registry.h"}

# Start of a system header -> the directories that may use it, and why nobody else may.
SYSTEM_HEADERS = {
    "CLI/": ({"cli"}, "CLI11 costs 10 s per file that sees it, so only the command line does"),
    "sqlite3.h": ({"registry"}, "SQL is behind registry/registry.h, so that another back end can be"),
    "spdlog/": ({"base"}, "base/log.cc alone knows who writes the log"),
    "sys/pidfd.h": ({"proc", "keeper", "run"}, "process calls live in proc/, keeper/ and run/"),
}
# The keeper is a static program without a heap; these would bring one in, or threads and locales.
FORBIDDEN_IN_KEEPER = {"iostream", "fstream", "sstream", "regex", "thread", "future"}
LIBRARIES = ("boost/", "CLI/", "fmt/", "spdlog/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
GUARD = re.compile(r"^[ \t]*#[ \t]*(?:pragma[ \t]+once\b|ifndef[ \t]+\w+_H_?\b)", re.MULTILINE)


def target_folder(source, name):
    """The directory of src/ that one of our includes names, and the header's path below src/."""
    if name.startswith("."):
        name = posixpath.normpath(posixpath.join(source.parent.as_posix(), name)).removeprefix("src/")
    elif "/" not in name:
        name = posixpath.join(*source.parts[1:-1], name)
    return name.split("/", 1)[0], name


def check_own(source, line, name):
    folder = source.parts[1]
    target, header = target_folder(source, name)
    if target in (folder, "corral"):
        return []
    if target not in ALLOWED:
        fix = "use <> for a library or fix the path"
        return [Problem(str(source), line, f'"{name}" is not one of our headers', fix)]
    allowed = ALLOWED[folder]
    if target in ONLY_FOR_ITSELF or (allowed != EVERYTHING and target not in allowed):
        names = ", ".join(sorted(allowed)) if allowed and allowed != EVERYTHING else "no other directory"
        fix = f"{folder}/ may include {names}: declare an interface on the other side or move the code"
        return [Problem(str(source), line, f"{folder}/ includes {target}/", fix)]
    front = FRONT_HEADERS.get(target)
    if front and header != front and allowed != EVERYTHING and folder != "daemon":
        return [Problem(str(source), line, f"{header} is private to {target}/", f"include {front} instead")]
    return []


def check_system(source, line, name):
    folder = source.parts[1]
    if folder == "keeper" and (name in FORBIDDEN_IN_KEEPER or name.startswith(LIBRARIES)):
        return [Problem(str(source), line, f"<{name}> in keeper/", "use system calls and C headers")]
    for prefix, (folders, reason) in SYSTEM_HEADERS.items():
        if name.startswith(prefix) and folder not in folders:
            return [Problem(str(source), line, f"<{name}> in {folder}/", reason)]
    return []


def check_file(source, text):
    code = without_comments(text)
    problems = []
    for match in INCLUDE.finditer(code):
        line = code.count("\n", 0, match.start(1) if match.group(1) else match.start(2)) + 1
        check, name = (check_own, match.group(1)) if match.group(1) else (check_system, match.group(2))
        problems += check(source, line, name)
    if source.suffix in (".h", ".hpp") and not GUARD.search(code):
        problems.append(Problem(str(source), 1, "header without guard", "start it with #pragma once"))
    return problems


def main(argv=None):
    root = parse_root(__doc__, argv)
    problems = []
    sources = files_under(root, {"src"}, CPP_SUFFIXES)
    for source in sources:
        if len(source.parts) < 3:
            problems.append(Problem(str(source), 1, "file directly in src/", "put it into a directory"))
        elif source.parts[1] not in ALLOWED:
            fix = "add it to ALLOWED in tools/check_includes.py with its edges"
            problems.append(Problem(str(source), 1, f"src/{source.parts[1]}/ has no rule", fix))
        else:
            problems += check_file(source, read_text(root / source) or "")
    return finish("check_includes", problems, f"{len(sources)} files keep the include rule")


if __name__ == "__main__":
    sys.exit(main())
