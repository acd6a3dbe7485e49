#!/usr/bin/env python3
"""Checks the paths of a call that ARCHITECTURE.md tells: every function exists in the file that is named for it, and
no path goes through more files than it promises.

A path is a Markdown table after a comment of the form

    <!-- path: NAME, at most N files -->
    <!-- path: NAME, at most N files beyond OTHER -->

with one or more functions in the second column and one file below src/ in the third. A file passes the call on, unless all
its rows begin with `ask:`: then it only decides. `at most N files and M asked` limits these, too. The second form counts
only the files that the path OTHER does not have. A paragraph after a comment of the form

    <!-- not counted: NAME -->

names files below src/ that the call touches too. Each exists, and none of them is a step of the path.
"""

import re
import sys

import docs_text
from check_common import Problem, finish, parse_root, read_text
from check_cpp import Source, classes
from check_sizes import cpp_functions

PAGE = "ARCHITECTURE.md"
MARK = re.compile(
    r"<!-- path: (?P<name>[^,>]+), at most (?P<most>\d+) files(?: and (?P<asked>\d+) asked)?(?: beyond (?P<other>[^>]+?))? -->"
)
NOT_COUNTED = re.compile(r"<!-- not counted: (?P<name>[^>]+?) -->\s*(?P<text>(?:[^\n]+\n)+)")
NAMED = re.compile(r"`([a-z_]+/[a-z_]+\.(?:h|cc))`")
ROW = re.compile(r"^\|(?P<step>[^|\n]*)\|(?P<functions>[^|\n]*)\|(?P<file>[^|\n]*)\|", re.MULTILINE)
QUOTED = re.compile(r"`([^`]+)`")
ASKED = re.compile(r" ask: ")


def functions_in(text):
    """The functions that a file defines, as a reader would write them: `Class::function` or `function`."""
    found = {name for name, _, _ in cpp_functions(text)}
    for name, _, members in classes(Source(text)):
        found.update(f"{name}::{member}" for member in members)
    return found


def rows_after(text, position):
    """(functions, file, position, whether it is asked) of each row of the table that follows, without its head."""
    table = re.compile(r"\s*((?:\|[^\n]*\n)+)").match(text, position)
    if not table:
        return []
    return [
        (QUOTED.findall(row["functions"]), "".join(QUOTED.findall(row["file"])), row.start(), bool(ASKED.match(row["step"])))
        for row in ROW.finditer(text, table.start(1), table.end(1))
        if QUOTED.search(row["functions"])
    ]


def check_row(root, functions, file, line):
    path = root / "src" / file
    if not file or not path.is_file():
        return [Problem(PAGE, line, f"no file src/{file}", "name the file where the step is now")]
    defined = functions_in(read_text(path) or "")
    fix = "name the function that does this step now, and its file"
    return [Problem(PAGE, line, f"{name} is not in src/{file}", fix) for name in functions if name not in defined]


def check_page(root, text):
    problems = []
    paths = {}
    for mark in MARK.finditer(text):
        line = docs_text.line_of(text, mark.start())
        rows = rows_after(text, mark.end())
        if not rows:
            problems.append(Problem(PAGE, line, f"path {mark['name']} has no table", "write its steps below it"))
        files = {file for _, file, _, _ in rows}
        paths[mark["name"]] = files
        passing = {file for _, file, _, asked in rows if not asked}
        for what, found, most in (("", passing, mark["most"]), (" that are asked", files - passing, mark["asked"] or 0)):
            counted = found - paths.get(mark["other"], set())
            if len(counted) > int(most):
                problem = f"path {mark['name']} has {len(counted)} files{what}, not {most}"
                problems.append(Problem(PAGE, line, problem, "bring together what belongs together"))
        for functions, file, position, _ in rows:
            problems += check_row(root, functions, file, docs_text.line_of(text, position))
    return problems + check_not_counted(root, text, paths), paths


def check_not_counted(root, text, paths):
    """Each file that is named as not counted exists and is no step."""
    problems = []
    for listed in NOT_COUNTED.finditer(text):
        steps = paths.get(listed["name"])
        if steps is None:
            line = docs_text.line_of(text, listed.start())
            problems.append(Problem(PAGE, line, f"there is no path {listed['name']}", "name a path of the page"))
        for named in NAMED.finditer(text, listed.start("text"), listed.end("text")):
            line = docs_text.line_of(text, named.start())
            if not (root / "src" / named[1]).is_file():
                problems.append(Problem(PAGE, line, f"no file src/{named[1]}", "name the file as it is called now"))
            if named[1] in (steps or ()):
                fix = "leave it out of the list of files that are not counted"
                problems.append(Problem(PAGE, line, f"{named[1]} is a step of path {listed['name']}", fix))
    return problems


def main(argv=None):
    root = parse_root(__doc__, argv)
    page = root / PAGE
    problems, paths = check_page(root, read_text(page) or "") if page.is_file() else ([], {})
    summary = ", ".join(f"{name} {len(files)} files" for name, files in paths.items())
    return finish("check_paths", problems, summary or "no path is told")


if __name__ == "__main__":
    sys.exit(main())
