#!/usr/bin/env python3
"""Checks docs/requirements.md: every requirement has exactly one row, and every test that a row names exists.

A row is `| id | one sentence | proof |`. The proof is `*planned*`, or tests as `path::Name` in backticks, or
tests followed by `*planned*: what is missing`. Names: `Suite.Name` for GoogleTest, the title for node tests,
the method (or `Class.method`) for Python tests.
"""

import re
import sys

from check_common import CPP_SUFFIXES, Problem, finish, parse_root, read_text
from check_cpp import without_comments

PAGE = "docs/requirements.md"
# Group -> how many requirements it has. The ids are fixed: they are cited in tests, issues and decisions.
GROUPS = {"S0": 3, "S1": 8, "S2": 4, "S3": 9, "S4": 4}
EXTRAS = 13
REQUIREMENTS = [f"{group}.{number}" for group, count in GROUPS.items() for number in range(1, count + 1)]
REQUIREMENTS += [f"B{number}" for number in range(1, EXTRAS + 1)]

ROW = re.compile(r"^\|\s*([SB]\d+(?:\.\d+)?)\s*\|(.*)\|\s*$")
TEST = re.compile(r"`([^`\s:]+)::([^`]+)`")
PLANNED = re.compile(r"\*planned\*(?::\s*(\S[^*`]*))?$")
NODE_TITLE = re.compile(
    r"\b(?:it|test|\w+Test)\s*\(\s*(?P<quote>['\"`])(?P<title>(?:\\.|(?!(?P=quote)).)+)(?P=quote)"
)
NODE_SUFFIXES = {".js", ".mjs", ".cjs", ".ts"}


def split_row(rest):
    """Sentence and proof; a bar inside backticks belongs to the text."""
    cells, current, quoted = [], "", False
    for char in rest:
        quoted ^= char == "`"
        if char == "|" and not quoted:
            cells.append(current.strip())
            current = ""
        else:
            current += char
    cells.append(current.strip())
    return cells


def has_gtest(text, name):
    suite, _, case = name.partition(".")
    pattern = rf"\bTEST(?:_F|_P)?\s*\(\s*{re.escape(suite)}\s*,\s*{re.escape(case)}\s*\)"
    return bool(re.search(pattern, without_comments(text))) and bool(case)


def has_node_test(text, name):
    """True for the title of a call such as test('...') or fileTest(`...`); a ${part} stands for any text."""
    code = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    for match in NODE_TITLE.finditer(code):
        title = re.sub(r"\\(.)", r"\1", match.group("title"))
        parts = re.split(r"\$\{[^}]*\}", title) if match.group("quote") == "`" else [title]
        if re.fullmatch(".+".join(map(re.escape, parts)), name):
            return True
    return False


def has_python_test(text, name):
    owner, _, method = name.rpartition(".")
    if owner and not re.search(rf"^class {re.escape(owner)}\b", text, re.MULTILINE):
        return False
    return bool(re.search(rf"^\s+(?:async\s+)?def {re.escape(method)}\s*\(", text, re.MULTILINE))


def missing_test(root, path, name):
    """Why the named test can't be the proof, or None if it is there."""
    file = root / path
    if not path.startswith("tests/") or ".." in path:
        return f"{path} is outside tests/"
    if not file.is_file():
        return f"there is no {path}"
    text = read_text(file) or ""
    if file.suffix in CPP_SUFFIXES:
        found = has_gtest(text, name)
    elif file.suffix in NODE_SUFFIXES:
        found = has_node_test(text, name)
    elif file.suffix == ".py":
        found = has_python_test(text, name)
    else:
        return f"{path} is not a test file"
    return None if found else f"{path} has no test {name}"


def one_sentence(text):
    return text.endswith(".") and not re.search(r"[.!?]\s+[A-Z]", text)


def check_proof(root, line, requirement, proof):
    """The problems of a proof cell, and its state: proved, partly or planned."""
    problems = []
    tests = TEST.findall(proof)
    rest = TEST.sub("", proof).replace("<br>", " ").strip(" ,;")
    planned = PLANNED.fullmatch(rest)
    if rest and not planned:
        fix = "write *planned*, or tests as `path::Name`, or both with *planned*: what is missing"
        problems.append(Problem(PAGE, line, f"{requirement}: can't read {rest!r} in the proof", fix))
    if not tests and not rest:
        problems.append(Problem(PAGE, line, f"{requirement} has no proof", "name its test or write *planned*"))
    if tests and planned and not planned.group(1):
        fix = "write *planned*: and what is missing"
        problems.append(Problem(PAGE, line, f"{requirement} has tests and is planned", fix))
    for path, name in tests:
        reason = missing_test(root, path, name)
        if reason:
            fix = "name a test that exists, or write *planned*"
            problems.append(Problem(PAGE, line, f"{requirement}: {reason}", fix))
    state = "planned" if not tests else "partly" if planned else "proved"
    return problems, state


def check_page(root, text):
    problems, lines, states = [], {}, {"proved": 0, "partly": 0, "planned": 0}
    for line, content in enumerate(text.splitlines(), 1):
        row = ROW.match(content)
        if not row:
            continue
        requirement, cells = row.group(1), split_row(row.group(2))
        if requirement not in REQUIREMENTS:
            problems.append(Problem(PAGE, line, f"unknown requirement {requirement}", "use an id of the list"))
        if requirement in lines:
            fix = f"keep the row in line {lines[requirement]} only"
            problems.append(Problem(PAGE, line, f"{requirement} stands twice", fix))
        lines.setdefault(requirement, line)
        if len(cells) != 2:
            what = f"{requirement} has {len(cells) + 1} cells"
            problems.append(Problem(PAGE, line, what, "write id, requirement, proof"))
            continue
        if not one_sentence(cells[0]):
            fix = "say it in one, ending with a full stop"
            problems.append(Problem(PAGE, line, f"{requirement} is not one sentence", fix))
        found, state = check_proof(root, line, requirement, cells[1])
        problems += found
        states[state] += 1
    for requirement in REQUIREMENTS:
        if requirement not in lines:
            fix = "add it; a requirement that is not built is *planned*"
            problems.append(Problem(PAGE, 1, f"{requirement} has no row", fix))
    return problems, states


def main(argv=None):
    root = parse_root(__doc__, argv)
    page = root / PAGE
    if not page.is_file():
        problem = Problem(PAGE, 1, "the page is missing", "write it: one row per requirement")
        return finish("check_requirements", [problem], "")
    problems, states = check_page(root, read_text(page) or "")
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    print(f"requirements: {len(REQUIREMENTS)} requirements, {counts}")
    return finish("check_requirements", problems, "every named test exists")


if __name__ == "__main__":
    sys.exit(main())
