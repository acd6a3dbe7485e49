#!/usr/bin/env python3
"""Finds coroutine code that g++ 12 compiles into a double free or a use after free.

Each pattern was tried with g++ 12.2 and AddressSanitizer; clang compiles all of them correctly, and one is
silent under the sanitizer, so a search over the text is the guard that works with the compiler we ship with:

* a temporary made with braces as an argument in a co_await expression: `co_await f(Options{1, 2})`
* the conditional operator anywhere in a co_await expression
* a lambda with captures in a co_await expression
* a lambda with captures that is itself a coroutine

It also keeps `detached` out of everything but the task group: a coroutine that nobody owns can't be joined.
"""

import re
import sys

from check_common import CPP_SUFFIXES, Problem, files_under, finish, parse_root, read_text
from check_cpp import Source

FOLDERS = {"src", "include", "tests", "bench", "fuzz"}
# Class types with constructors are safe; only aggregates are destroyed twice. These are sure to be classes.
SAFE_BRACES = re.compile(
    r"(?:std::(?:string|string_view|vector<[^;{}]*>)|(?:std::)?chrono::\w+|\b\w*(?:seconds|minutes))\s*$"
)
COROUTINE_WORD = re.compile(r"\bco_(?:await|return|yield)\b")
DETACHED = re.compile(r"\b(?:asio|net)::detached\b")
CONTROL_WORDS = {"if", "while", "switch", "for"}
NAME_IT = "give the value a name on the line before"


def expression_around(source, position):
    """Begin and end of the full expression that holds a co_await."""
    begin = _walk_back(source, position)
    return begin, _walk_forward(source, position)


def _walk_back(source, position):
    place = position - 1
    while place >= 0:
        char = source.text[place]
        if char in ")]" and place in source.pairs:
            place = source.pairs[place]
        elif char == "}" and source.kinds.get(source.pairs.get(place)) in ("init", "lambda"):
            place = source.pairs[place]
        elif char in ";}" or (char == "{" and source.kinds.get(place) != "init"):
            return place + 1
        elif char == "(" and source.word_ending_at(source.before(place)) in CONTROL_WORDS:
            return place + 1
        place -= 1
    return 0


def _walk_forward(source, position):
    place = position
    while place < len(source.text):
        char = source.text[place]
        if char in "([{" and place in source.pairs:
            place = source.pairs[place]
        elif char == ";" or (char == "}" and source.kinds.get(source.pairs.get(place)) != "init"):
            return place
        elif char == ")":
            opening = source.pairs.get(place)
            if opening is not None and source.word_ending_at(source.before(opening)) in CONTROL_WORDS:
                return place
        place += 1
    return place


def lambdas_between(source, begin, end):
    """Opening braces of the lambdas in a range, without those that stand inside another one's body."""
    found = []
    for brace, kind in sorted(source.kinds.items()):
        inside = found and brace < source.pairs[found[-1]]
        if kind == "lambda" and begin <= brace < end and not inside:
            found.append(brace)
    return found


def captures(source, brace):
    begin, end = source.lambda_capture(brace)
    return bool(source.text[begin + 1 : end].strip())


def own_body(source, brace):
    """The text of a lambda's body with the bodies of lambdas inside it blanked."""
    begin, end = brace + 1, source.pairs[brace]
    return _mask(source, begin, end, lambdas_between(source, begin, end))


def _mask(source, begin, end, braces):
    text = source.text[begin:end]
    for brace in braces:
        first, last = brace - begin, source.pairs[brace] - begin
        text = text[:first] + " " * (last - first) + text[last:]
    return text


def brace_arguments(source, begin, masked):
    """Positions of braces that make a temporary inside the parentheses of an expression."""
    depth = 0
    for offset, char in enumerate(masked):
        depth += {"(": 1, ")": -1}.get(char, 0)
        position = begin + offset
        if char != "{" or depth <= 0 or source.kinds.get(position) != "init":
            continue
        if not SAFE_BRACES.search(masked[max(0, offset - 80) : offset]):
            yield position


def check_expression(path, source, position):
    begin, end = expression_around(source, position)
    lambdas = lambdas_between(source, begin, end)
    masked = _mask(source, begin, end, lambdas)

    def problem(place, what, fix):
        return Problem(str(path), source.line(place), what, fix)

    problems = []
    if "?" in masked:
        what, fix = "conditional operator in a co_await expression", "use if/else with a named value"
        problems.append(problem(begin + masked.index("?"), what, fix))
    for brace in lambdas:
        if captures(source, brace):
            fix = "name the lambda before, or call a member function"
            problems.append(problem(brace, "lambda with captures in a co_await expression", fix))
    for place in brace_arguments(source, begin, masked):
        problems.append(problem(place, "brace temporary in a co_await expression", NAME_IT))
    return problems


def check_file(path, text):
    source = Source(text)
    problems = []
    for match in re.finditer(r"\bco_await\b", source.text):
        problems += check_expression(path, source, match.start())
    for brace, kind in source.kinds.items():
        if kind == "lambda" and captures(source, brace) and COROUTINE_WORD.search(own_body(source, brace)):
            fix = "make it a function that takes what it needs as parameters"
            problems.append(Problem(str(path), source.line(brace), "coroutine lambda with captures", fix))
    if not path.stem.startswith("task_group"):
        for match in DETACHED.finditer(source.text):
            fix = "let a task group own the coroutine"
            problems.append(Problem(str(path), source.line(match.start()), "detached coroutine", fix))
    return problems


def main(argv=None):
    root = parse_root(__doc__, argv)
    problems = []
    sources = files_under(root, FOLDERS, CPP_SUFFIXES)
    for path in sources:
        text = read_text(root / path) or ""
        if COROUTINE_WORD.search(text) or DETACHED.search(text):
            problems += check_file(path, text)
    return finish("check_coroutines", problems, f"{len(sources)} files without a trap")


if __name__ == "__main__":
    sys.exit(main())
