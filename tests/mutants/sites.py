"""Finds the places of a C++ file that one change can break, and writes the file so that it holds both ways at once.

A changed file asks `corral_mutant(17)` where mutant 17 differs: as a condition, a value or a statement. So all mutants
of a sample are compiled once, and a number in the finished programs says which of them is on (switch.py).
What cannot be written that way (a place in a template's arguments, a case label) is not a site.
"""

import dataclasses
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from check_cpp import Source, without_comments  # noqa: E402
from check_sizes import cpp_functions  # noqa: E402

HEADER = "corral_mutant.h"

# Where a space is on both sides: clang-format leaves none beside the brackets of a template or in `T&&`.
_OPERATOR = re.compile(r"(?<=\s)(?:<=|>=|==|!=|&&|\|\||\+=|-=|<|>|\+|-)(?=\s)")
_OTHER_OPERATORS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "+=": ("-=",),
    "-=": ("+=",),
    "++": ("--",),
    "--": ("++",),
}
_STEP = re.compile(r"\+\+|--")
_NOT = re.compile(r"!(?=[\w(*:])")
_NUMBER = re.compile(r"(?<![\w.'])(?:0|[1-9]\d*)(?![\w.'])")
_TRUTH = re.compile(r"\b(?:true|false)\b")
_IF = re.compile(r"\bif\s*\(")
_LEAVES = re.compile(r"\s*\{?\s*(?:return|co_return|continue|break|throw)\b")
_CALL = re.compile(r"\s*(?:co_await\s+)?(?:\(void\)\s*)?[\w:.\->\[\]*]+\(")
_NO_CALL = re.compile(r"\s*(?:return|co_return|throw|delete|using|static_assert|if|for|while|switch|do|else)\b")
# What only somebody who reads a log or a profile could notice.
_UNNOTICEABLE = re.compile(r"\b(?:log_line|spdlog|static_assert|assert|reserve|shrink_to_fit|printf|fprintf|dprintf)\b")
_HEAD = re.compile(
    r"\s*(?:(?:else|do)\b|default\s*:|case\b(?:[^:;{}]|::)*:(?!:)|(?:if|for|while|switch)\b(?:\s+constexpr)?\s*(?=\())"
)
_NO_STATEMENT = re.compile(
    r"\s*(?:using|typedef|static_assert|template|friend|namespace|enum|struct|class|extern|goto|case"
    r"|public|private|protected)\b"
)
_ASSIGNMENT = re.compile(r"(?<![=!<>+\-*/%&|^])=(?!=)")
_DECLARED = re.compile(r"[\w>&*]\s+[&*]*\w+\s*$|\bauto\s*&{0,2}\s*\[")
_BARE_DECLARATION = re.compile(
    r"\s*(?!return\b|co_return\b|co_await\b|throw\b|delete\b)"
    r"(?:const\s+)?[\w:]+(?:<[^;]*>)?[&*]*\s+\w+\s*(?:\[[^\]]*\]\s*)?;?\s*$"
)
_UNFIT_WORDS = {"sizeof", "decltype", "static_assert", "alignof", "alignas", "noexcept", "catch", "assert"}


@dataclasses.dataclass(frozen=True)
class Change:
    """One edit of a file: the text from `at` to `end` becomes `new`."""

    kind: str
    at: int
    end: int
    new: str


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A change, and how both ways are written: the text from `begin` to `stop` once with it and once without."""

    path: str
    change: Change
    form: str  # condition, value or statement
    begin: int
    stop: int
    constant: tuple = None  # where `constexpr` stands if it has to go


class File:
    """One file of src/ with its sites by line."""

    def __init__(self, path, text):
        self.path = path
        self.original = text
        self.source = Source(text)
        self.plain = without_comments(text)
        self.text = self.source.text
        self.functions = cpp_functions(text)

    def code_lines(self):
        """The numbers of the lines that hold more than comments, directives and brackets."""
        return [
            number for number, line in enumerate(self.text.split("\n"), 1) if re.search(r"[\w\"]", line)
        ]

    def changes(self):
        """All changes to the file by line number."""
        found = {}
        for change in (*self._token_changes(), *self._guards(), *self._calls()):
            found.setdefault(self.source.line(change.at), []).append(change)
        return found

    def function_of(self, line):
        for name, first, length in self.functions:
            if first <= line < first + length:
                return name
        return ""

    def applied(self, change):
        return self.original[: change.at] + change.new + self.original[change.end :]

    # ---- what may be changed

    def _token_changes(self):
        for pattern, kind in ((_OPERATOR, "operator"), (_STEP, "step")):
            for match in pattern.finditer(self.text):
                if self._joins_text(match):
                    continue
                for other in _OTHER_OPERATORS[match.group()]:
                    yield Change(kind, match.start(), match.end(), other)
        for match in _NOT.finditer(self.text):
            yield Change("not", match.start(), match.end(), "")
        for match in _NUMBER.finditer(self.text):
            value = int(match.group())
            for other in sorted({value + 1, max(value - 1, 0)} - {value}):
                yield Change("constant", match.start(), match.end(), str(other))
        for match in _TRUTH.finditer(self.text):
            other = "false" if match.group() == "true" else "true"
            yield Change("truth", match.start(), match.end(), other)

    def _joins_text(self, match):
        """`+` between texts: there is no `-` for them."""
        around = self.text[max(0, match.start() - 60) : match.end() + 60].replace("\n", " ")
        return match.group() in ("+", "+=") and ('"' in around or "string" in around or "text" in around)

    def _guards(self):
        for match in _IF.finditer(self.text):
            opening = match.end() - 1
            closing = self.source.pairs.get(opening)
            if closing is None or not _LEAVES.match(self.text, closing + 1):
                continue
            begin = self._after_last(opening, closing, ";")
            if not _has_assignment(self.text[begin:closing]):
                yield Change("guard", begin, closing, "false")

    def _calls(self):
        for match in re.finditer(";", self.text):
            brace = self._enclosing(match.start())
            if brace is None or self.source.kinds.get(brace) not in ("block", "lambda"):
                continue
            span = self._statement(match.start() - 1, brace)
            if span is None:
                continue
            core = self.text[span[0] : span[1]]
            called = _CALL.match(core)
            if called and not _NO_CALL.match(core) and self._ends_with_call(span):
                begin = span[0] + len(core) - len(core.lstrip())
                yield Change("call", begin, span[1], ";")

    def _ends_with_call(self, span):
        text = self.text[span[0] : span[1]].rstrip().removesuffix(";").rstrip()
        return text.endswith(")") and not _has_assignment(text)

    # ---- how both ways are written

    def mutant(self, change):
        """The mutant for a change, or None if it cannot be written beside the original."""
        line_start = self.original.rfind("\n", 0, change.at) + 1
        line = self.original[line_start : self.original.find("\n", change.at)]
        if _UNNOTICEABLE.search(line):
            return None
        if change.kind == "call":
            return self._made(change, "statement", change.at, change.end)
        opening = self._enclosing(change.at)
        kind = self.source.kinds.get(opening) if opening is not None else "scope"
        if kind in ("block", "lambda"):
            return self._in_statement(change, opening)
        if kind == "scope":
            return self._in_declaration(change, opening)
        return self._in_brackets(change, opening)

    def _made(self, change, form, begin, stop, constant=None):
        if not begin <= change.at <= change.end <= stop or 'R"' in self.plain[begin:stop]:
            return None
        if _UNNOTICEABLE.search(self.text[begin:stop]) or not self.text[begin:stop].strip():
            return None
        return Mutant(self.path, change, form, begin, stop, constant)

    def _in_statement(self, change, brace):
        span = self._statement(change.at, brace)
        if span is None or change.at < span[0]:
            return None
        core = self.text[span[0] : span[1]]
        if _NO_STATEMENT.match(core) or _BARE_DECLARATION.match(core):
            return None
        assignment = _assignment(core)
        if assignment is not None and _DECLARED.search(_outer(core[:assignment])):
            begin = span[0] + assignment + 1
            return self._made(change, "value", begin, span[1] - 1, self._constexpr(*span))
        return self._made(change, "statement", *span)

    def _in_declaration(self, change, brace):
        """Of a type or a namespace: what a member or a constant is set to."""
        if brace is not None and re.search(r"\benum\b", self.text[self.source.head_start(brace) : brace]):
            return None
        span = self._statement(change.at, brace)
        if span is None or _NO_STATEMENT.match(self.text[span[0] : span[1]]):
            return None
        assignment = _assignment(self.text[span[0] : span[1]])
        if assignment is None or "(" in _outer(self.text[span[0] : span[0] + assignment]):
            return None
        return self._made(change, "value", span[0] + assignment + 1, span[1] - 1, self._constexpr(*span))

    def _in_brackets(self, change, opening):
        word = self.source.word_ending_at(self.source.before(opening))
        closing = self.source.pairs[opening]
        if word in _UNFIT_WORDS:
            return None
        if word in ("if", "while") and self.text[opening] == "(":
            begin = self._after_last(opening, closing, ";")
            if change.at < begin or _has_assignment(self.text[begin:closing]):
                return None
            return self._made(change, "condition", begin, closing)
        begin, stop = self._piece(opening, closing, change.at)
        if word == "for" and ";" not in _outer(self.text[opening + 1 : closing]):
            return None
        assignment = _assignment(self.text[begin:stop])
        if assignment is not None:
            begin += assignment + 1
        return self._made(change, "value", begin, stop, self._constexpr_around(opening))

    def _constexpr(self, begin, stop):
        match = re.search(r"\bconstexpr\b", self.text[begin:stop])
        return (begin + match.start(), begin + match.end()) if match else None

    def _constexpr_around(self, position):
        """The `constexpr` of the statement around, if it is a constant."""
        brace = self._enclosing(position)
        while brace is not None and self.source.kinds.get(brace) not in ("block", "lambda", "scope"):
            position, brace = brace, self._enclosing(brace)
        span = self._statement(position, brace)
        return self._constexpr(*span) if span else None

    # ---- reading the text

    def _enclosing(self, position):
        """The bracket around a position, or None."""
        position -= 1
        while position >= 0:
            char = self.text[position]
            if char in ")]}" and position in self.source.pairs:
                position = self.source.pairs[position]
            elif char in "([{" and position in self.source.pairs:
                return position
            position -= 1
        return None

    def _statement(self, position, brace):
        """Begin and end of the statement at a position directly within `brace`, without its head (`if (…)`)."""
        begin = position
        floor = -1 if brace is None else brace
        while begin > floor:
            char = self.text[begin]
            if char == "}" and self.source.kinds.get(self.source.pairs.get(begin)) not in ("init", "lambda"):
                break
            if char in ")]}" and begin in self.source.pairs:
                begin = self.source.pairs[begin]
            elif char == ";" and begin != position:
                break
            begin -= 1
        begin += 1
        while match := _HEAD.match(self.text, begin):
            begin = match.end()
            if self.text[begin : begin + 1] == "(":
                if begin not in self.source.pairs:
                    return None
                begin = self.source.pairs[begin] + 1
        end = self._end_of_statement(max(position, begin))
        return (begin, end) if end is not None and begin < end else None

    def _end_of_statement(self, position):
        while position < len(self.text):
            char = self.text[position]
            if char == "{" and self.source.kinds.get(position) not in ("init", "lambda"):
                return None
            if char in "([{" and position in self.source.pairs:
                position = self.source.pairs[position]
            elif char == ";":
                return position + 1
            elif char == "}":
                return None
            position += 1
        return None

    def _after_last(self, opening, closing, mark):
        place = _outer(self.text[opening + 1 : closing]).rfind(mark)
        return opening + 1 + place + 1

    def _piece(self, opening, closing, position):
        """The argument around a position."""
        outer = _outer(self.text[opening + 1 : closing])
        inner = position - opening - 1
        begin = max(outer.rfind(",", 0, inner), outer.rfind(";", 0, inner)) + 1
        stops = [place for mark in ",;" if (place := outer.find(mark, inner)) >= 0]
        return opening + 1 + begin, opening + 1 + min(stops, default=len(outer))


def _outer(text):
    """The same text, what is in brackets blanked."""
    depth = 0
    chars = []
    for char in text:
        depth -= char in ")]}"
        chars.append(" " if depth > 0 and char != "\n" else char)
        depth += char in "([{"
    return "".join(chars)


def _assignment(text):
    match = _ASSIGNMENT.search(_outer(text))
    return match.start() if match else None


def _has_assignment(text):
    return _assignment(text) is not None


def written(file, mutants):
    """The text of the file with mutants, given as {number: mutant}. Each line moves down by one, for the header's."""
    edits = []
    for number, mutant in mutants.items():
        kept = file.plain[mutant.begin : mutant.stop]
        at, end = mutant.change.at - mutant.begin, mutant.change.end - mutant.begin
        changed = " ".join((kept[:at] + mutant.change.new + kept[end:]).split("\n"))
        asked = f"corral_mutant({number})"
        new = {
            "condition": f"{asked} ? bool({changed}) : bool({kept})",
            "value": f" ({asked} ? ({changed}) : ({kept}))",
            "statement": f" {{ if ({asked}) {{ {changed} }} else {{ {kept} }} }}",
        }[mutant.form]
        edits.append((mutant.begin, mutant.stop, new))
        if mutant.constant:
            edits.append((*mutant.constant, _without_constexpr(file, mutant.constant)))
    text = file.original
    for begin, stop, new in sorted(set(edits), reverse=True):
        text = text[:begin] + new + text[stop:]
    return f'#include "{HEADER}"\n{text}'


def _without_constexpr(file, place):
    line = file.text[file.text.rfind("\n", 0, place[0]) + 1 : place[0]]
    brace = file._enclosing(place[0])
    in_type = brace is not None and re.search(
        r"\b(?:class|struct)\b", file.text[file.source.head_start(brace) : brace]
    )
    return "inline const" if in_type and "static" in line and "inline" not in line else "const"


def overlap(one, other):
    """Whether two mutants cannot be written into one file."""
    if one.path != other.path:
        return False
    if one.constant and one.constant == other.constant:
        return True
    return one.begin < other.stop and other.begin < one.stop
