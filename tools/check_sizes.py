#!/usr/bin/env python3
"""Checks the size budget: hard caps for files, functions and classes, and prints how the rest compares to the budget.

Caps are where reading stops being possible in one go. The budget (median and 90th percentile) is what admired
C++ projects have; going over it is printed, not refused, because one honest table may be long.

A class has at most CLASS_CAP member functions, and its member functions are defined in one .cc file: a class that
outgrows the caps lacks a noun, and a second file would only hide that. A header and the .cc file of the same name
have at least UNIT_FLOOR lines together. At least HEADER_COMMENTS percent of the lines of a directory's headers are
comments, because a contract that nobody wrote down cannot be kept. Two files define no two types of one name in
one namespace: no compiler sees that, and the program destroys one as if it were the other.

A page in LINE_CAPS has at most so many lines: details belong on the pages that it links.
"""

import ast
import collections
import re
import statistics
import sys

from check_common import CPP_SUFFIXES, Problem, finish, parse_root, project_files, read_text
from check_cpp import Source, classes, named_types, without_comments

FILE_CAP = 500
FUNCTION_CAP = 60
CLASS_CAP = 40
UNIT_FLOOR = 30
HEADER_COMMENTS = 15  # percent
LINE_CAPS = {"README.md": 250}
# Smaller units, and why each is a file of its own.
SMALL_UNITS = {
    "base/boost_json": "compiles Boost.JSON once",
    "base/result": "every directory includes it, and nothing else",
    "bridge/legacy_side": "an interface between two parts of the bridge",
    "http/text": "three files of http and three of transport compare words",
    "known/config_text": "one interface for two parsers, each in its own .cc file",
    "proc/spawner": "the interface behind which an operating system holds a tree",
    "run/signal_burst": "a pure rule with its own test",
    "transport/http_limits": "the limits of every HTTP session, as data",
    "wire/error_codes": "the error codes, as data",
    "wire/log_level": "the log levels, as data",
}
FILE_MEDIAN_BUDGET, FILE_P90_BUDGET, FUNCTION_P90_BUDGET = 120, 350, 35
COMMENT_SHARE = (10, 25)  # percent; 15-20 is the aim

FOLDERS = {"src", "include", "tests", "fuzz", "bench", "tools", "demo", "examples"}
SCRIPT_SUFFIXES = {".py", ".js", ".mjs", ".cjs", ".ts", ".sh"}
NAME = re.compile(r"((?:[\w~]+(?:<[^()<>]*>)?::)*(?:operator\s*(?:\(\)|[^\s(]+)|[~\w]+))\s*\(")
TEST_MACRO = re.compile(r"(?:TYPED_)?TEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def cpp_functions(text):
    """(name, first line, number of lines) of every function and of every lambda that is not inside one."""
    source = Source(text)
    found = []
    for brace, kind in source.kinds.items():
        if kind not in ("block", "lambda") or not _outermost(source, brace) or brace not in source.pairs:
            continue
        start = source.head_start(brace)
        head = source.text[start:brace]
        if kind == "block" and "(" not in head:
            continue
        first = source.line(start)
        found.append((_name(head), first, source.line(source.pairs[brace]) - first + 1))
    return found


def _outermost(source, brace):
    parent = source.parent_brace(brace)
    while parent is not None:
        if source.kinds.get(parent) in ("block", "lambda"):
            return False
        parent = source.parent_brace(parent)
    return True


def _name(head):
    test = TEST_MACRO.search(head)
    if test:
        return f"{test.group(1)}.{test.group(2)}"
    name = NAME.search(re.sub(r"^\s*template\s*<[^()]*?>\s*(?=\w)", "", head))
    return name.group(1) if name else "lambda"


def python_functions(text):
    return [
        (node.name, node.lineno, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0


def comment_percent(texts):
    total = comments = 0
    for text in texts:
        for before, after in zip(text.splitlines(), without_comments(text).splitlines()):
            if before.strip():
                total += 1
                comments += not after.strip()
    return 100 * comments / total if total else 0


def print_budget(label, lines, functions, texts):
    if not lines:
        return
    rows = [
        ("file lines, median", statistics.median(lines), FILE_MEDIAN_BUDGET),
        ("file lines, p90", percentile(lines, 0.9), FILE_P90_BUDGET),
        ("file lines, largest", max(lines), FILE_CAP),
        ("function lines, median", statistics.median(functions) if functions else 0, FUNCTION_P90_BUDGET),
        ("function lines, p90", percentile(functions, 0.9), FUNCTION_P90_BUDGET),
        ("function lines, largest", max(functions, default=0), FUNCTION_CAP),
    ]
    print(f"{label}: {len(lines)} files, {len(functions)} functions")
    for name, value, budget in rows:
        print(f"  {name:24} {value:6g}  budget {budget:4}  {'ok' if value <= budget else 'OVER BUDGET'}")
    share = comment_percent(texts)
    verdict = "few" if share < COMMENT_SHARE[0] else "many" if share > COMMENT_SHARE[1] else "ok"
    print(f"  {'comment lines':24} {share:5.0f}%  aim   15-20%  {verdict}")


def check_file(path, text):
    """The problems of one file and the lengths of its functions."""
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    problems = []
    if lines > FILE_CAP:
        fix = f"split it by reason to change (cap {FILE_CAP})"
        problems.append(Problem(str(path), lines, f"file has {lines} lines", fix))
    functions = []
    if path.suffix in CPP_SUFFIXES:
        functions = cpp_functions(text)
    elif path.suffix == ".py":
        functions = python_functions(text)
    for name, first, length in functions:
        if length > FUNCTION_CAP:
            fix = f"split it into named steps (cap {FUNCTION_CAP})"
            problems.append(Problem(str(path), first, f"function {name} has {length} lines", fix))
    return problems, lines, [length for _, _, length in functions]


def check_classes(sources):
    """Classes with too many member functions, and classes that are defined in several .cc files. `sources` maps
    the paths of C++ files in src/ to their texts."""
    problems = []
    places = collections.defaultdict(dict)  # (directory, class) -> {path of a .cc: first line}
    for path, text in sources.items():
        for name, line, functions in classes(Source(text)):
            if len(functions) > CLASS_CAP:
                what = f"class {name} has {len(functions)} member functions"
                problems.append(Problem(str(path), line, what, f"find the object that is missing (cap {CLASS_CAP})"))
        if path.suffix == ".h":
            continue
        for name, line, _ in cpp_functions(text):
            scope = name.rpartition("::")[0]
            if scope:
                places[path.parts[1], scope].setdefault(path, line)
    for (_, name), files in places.items():
        home, *others = sorted(files)
        for other in others:
            fix = f"move it to {home.name}, or find the object that is missing"
            problems.append(Problem(str(other), files[other], f"class {name} is also defined here", fix))
    return problems


def check_type_names(sources):
    """Two types of one name in one namespace: the linker keeps the functions of one of them for both."""
    problems = []
    places = {}
    for path, text in sorted(sources.items()):
        for name, line in named_types(Source(text)):
            first = places.setdefault(name, path)
            if first != path:
                problems.append(Problem(str(path), line, f"type {name} is also in {first}", "rename one of them"))
    return problems


def check_units(sources):
    """Headers with their .cc files that are too small to be found, and directories whose headers say too little."""
    units = collections.Counter()
    headers = collections.defaultdict(list)
    for path, text in sources.items():
        units[path.with_suffix("")] += text.count("\n")
        if path.suffix == ".h":
            headers[path.parent].append(text)
    problems = []
    for unit, lines in units.items():
        if lines < UNIT_FLOOR and unit.relative_to("src").as_posix() not in SMALL_UNITS:
            path = next(path for path in sources if path.with_suffix("") == unit)
            fix = f"merge it with the file that it is used with (at least {UNIT_FLOOR})"
            problems.append(Problem(str(path), 1, f"{unit.name} has only {lines} lines", fix))
    for folder, texts in headers.items():
        share = comment_percent(texts)
        if share < HEADER_COMMENTS:
            fix = f"write down the contracts of its interfaces (at least {HEADER_COMMENTS} %)"
            problems.append(Problem(str(folder), 1, f"{share:.0f} % of the headers are comments", fix))
    return problems


def check_pages(texts):
    """Pages that are too long to be read in one go. `texts` maps the pages in LINE_CAPS to their texts."""
    problems = []
    for page, text in texts.items():
        lines, cap = len(text.splitlines()), LINE_CAPS[page]
        if lines > cap:
            fix = f"move details to a page in docs/ (cap {cap})"
            problems.append(Problem(page, lines, f"page has {lines} lines", fix))
    return problems


def main(argv=None):
    root = parse_root(__doc__, argv)
    problems = []
    sources = {}
    groups = {"src": ([], [], []), "tests": ([], [], [])}
    checked = 0
    for path in project_files(root):
        if path.parts[0] not in FOLDERS or path.suffix not in CPP_SUFFIXES | SCRIPT_SUFFIXES:
            continue
        checked += 1
        text = read_text(root / path) or ""
        found, lines, functions = check_file(path, text)
        problems += found
        if path.suffix in CPP_SUFFIXES and path.parts[0] == "src":
            sources[path] = text
        group = {"include": "src"}.get(path.parts[0], path.parts[0])
        if path.suffix in CPP_SUFFIXES and group in groups:
            all_lines, all_functions, texts = groups[group]
            all_lines.append(lines)
            all_functions.extend(functions)
            texts.append(text)
    problems += check_classes(sources) + check_type_names(sources) + check_units(sources)
    problems += check_pages({page: read_text(root / page) or "" for page in LINE_CAPS if (root / page).is_file()})
    for label, (lines, functions, texts) in groups.items():
        print_budget(label, lines, functions, texts)
    return finish("check_sizes", problems, f"{checked} files under the caps")


if __name__ == "__main__":
    sys.exit(main())
