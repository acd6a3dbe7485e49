"""Reads C++ just well enough for the checks: comments and literals blanked, brackets paired, braces sorted
into kinds. It is not a parser; it works on the text as it is formatted here, and prefers to say nothing over
saying something wrong.
"""

import bisect
import re

_LITERAL = re.compile(
    r"""
      (?P<number> (?<!\w) \.?\d (?:'?[\w.])* )  # 1'000 holds no character literal
    | (?P<comment> //(?:\\\n|[^\n])* | /\*.*?(?:\*/|\Z) )
    | (?P<raw> (?:u8|u|U|L)?R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)" )
    | (?P<text> "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])+' )
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:\\\n|[^\n])*", re.MULTILINE)
_SCOPE_HEAD = re.compile(
    r"\s*(?:(?:public|private|protected)\s*:\s*)*(?:template\s*<[^{};]*>\s*)?"
    r"(?:inline\s+|typedef\s+|constexpr\s+|static\s+)*"
    r"(?:namespace|class|struct|union|enum)\b[^=()]*$"
)
_TRAILING_RETURN = re.compile(r"\)\s*(?:const|noexcept|mutable|constexpr|\s)*->[^;{}()=]*$")
_REF_QUALIFIED = re.compile(r"\)\s*(?:const\s*)?(?:&&?|[A-Z][A-Z0-9_]{2,})\s*$")  # or a macro in that place
_BLOCK_WORDS = {"else", "do", "try", "const", "noexcept", "override", "final", "mutable", "volatile"}
_WORDS_BEFORE_LAMBDA = {"return", "co_return", "co_await", "co_yield", "case", "else", "throw"}
_LAMBDA_TAIL = re.compile(r"\s*(?:(?:mutable|constexpr|noexcept)\b\s*)*(?:->.*)?$", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{"}


def _spaces(text):
    return "".join("\n" if char == "\n" else " " for char in text)


def without_comments(text):
    """The same text, same positions, comments replaced by spaces."""
    return _LITERAL.sub(lambda m: _spaces(m.group()) if m.group("comment") else m.group(), text)


def without_comments_and_literals(text):
    """The same text, same positions; of literals only the quotes remain."""

    def blank(match):
        whole = match.group()
        if match.group("comment"):
            return _spaces(whole)
        if match.group("raw") or match.group("text"):
            return '"' + _spaces(whole[1:-1]) + '"'
        return whole.replace("'", "_")

    return _LITERAL.sub(blank, text)


def _without_directives(text):
    """Blanks preprocessor lines and all but the first branch of a condition: two branches that open the same
    brace would upset the pairing."""
    dropped = []
    open_else = []  # per open #if: position where its #else began, or None
    for match in _DIRECTIVE.finditer(text):
        word = match.group(1)
        dropped.append(match.span())
        if word.startswith("if"):
            open_else.append(None)
        elif word in ("else", "elif") and open_else:
            if open_else[-1] is None:
                open_else[-1] = match.start()
        elif word == "endif" and open_else:
            begin = open_else.pop()
            if begin is not None:
                dropped.append((begin, match.end()))
    chars = list(text)
    for begin, end in dropped:
        chars[begin:end] = _spaces(text[begin:end])
    return "".join(chars)


class Source:
    """One C++ file. `text` is blanked but every character keeps its place."""

    def __init__(self, original):
        self.original = original
        self.text = _without_directives(without_comments_and_literals(original))
        self._line_starts = [0] + [match.end() for match in re.finditer("\n", original)]
        self.pairs = {}
        self._parents = {}
        self._pair_brackets()
        self.kinds = {}
        for position in sorted(self.pairs):
            if self.text[position] == "{":
                self.kinds[position] = self._kind(position)

    def line(self, position):
        return bisect.bisect_right(self._line_starts, position)

    def parent_brace(self, position):
        """The brace around an opening brace, or None at the top."""
        return self._parents.get(position)

    def before(self, position):
        """Position of the last character before `position` that is not blank, or -1."""
        position -= 1
        while position >= 0 and self.text[position].isspace():
            position -= 1
        return position

    def word_ending_at(self, position):
        begin = position
        while begin >= 0 and (self.text[begin].isalnum() or self.text[begin] == "_"):
            begin -= 1
        return self.text[begin + 1 : position + 1]

    def head_start(self, brace):
        """Where the statement or declaration that ends in this brace begins."""
        position = brace - 1
        while position >= 0:
            char = self.text[position]
            if char in ")]" and position in self.pairs:
                position = self.pairs[position]
            elif char == "}" and self.kinds.get(self.pairs.get(position)) in ("init", "lambda"):
                position = self.pairs[position]
            elif char in ";{}":
                break
            position -= 1
        begin = position + 1
        while begin < brace and self.text[begin].isspace():
            begin += 1
        return begin

    def lambda_capture(self, brace):
        """Positions of `[` and `]` of the lambda whose body opens here, or None if it is not a lambda."""
        end = brace - 1
        while end >= 0 and (self.text[end].isalnum() or self.text[end] in "_ \t\n:<>,*&-"):
            end -= 1
        if end < 0 or not _LAMBDA_TAIL.match(self.text[end + 1 : brace]):
            return None
        if self.text[end] == ")" and end in self.pairs:
            end = self._skip_template_list(self.before(self.pairs[end]))
        if end < 0 or self.text[end] != "]" or end not in self.pairs:
            return None
        begin = self.pairs[end]
        return (begin, end) if self._introduces_lambda(begin) else None

    def _skip_template_list(self, position):
        if position < 0 or self.text[position] != ">":
            return position
        depth = 0
        while position >= 0:
            depth += {">": 1, "<": -1}.get(self.text[position], 0)
            if depth == 0:
                return self.before(position)
            position -= 1
        return -1

    def _introduces_lambda(self, bracket):
        previous = self.before(bracket)
        if previous < 0 or self.text[bracket : bracket + 2] == "[[":
            return False
        char = self.text[previous]
        if char.isalnum() or char == "_":
            return self.word_ending_at(previous) in _WORDS_BEFORE_LAMBDA
        return char not in ")]["

    def _pair_brackets(self):
        stack = []
        for match in re.finditer(r"[()\[\]{}]", self.text):
            position, char = match.start(), match.group()
            if char in "([{":
                braces = [place for place in stack if self.text[place] == "{"]
                self._parents[position] = braces[-1] if braces else None
                stack.append(position)
                continue
            # A stray closing bracket is left alone, an unclosed opening one is forgotten: better a blind spot
            # than wrong pairs for the rest of the file.
            if any(self.text[place] == _PAIRS[char] for place in stack):
                while self.text[stack[-1]] != _PAIRS[char]:
                    stack.pop()
                begin = stack.pop()
                self.pairs[begin], self.pairs[position] = position, begin

    def _kind(self, brace):
        """scope (namespace, type, extern "C"), block (function or statement), lambda or init."""
        if self.lambda_capture(brace):
            return "lambda"
        previous = self.before(brace)
        char = self.text[previous] if previous >= 0 else ";"
        if char in ";})":
            return "block"
        if char == "{":
            return "init" if self.kinds.get(previous) == "init" else "block"
        if char == '"':
            return "scope"
        if char == ":":
            return "block"
        head = self.text[self.head_start(brace) : brace]
        if _SCOPE_HEAD.match(head):
            return "scope"
        if _TRAILING_RETURN.search(head) or _REF_QUALIFIED.search(head):
            return "block"
        return "block" if self.word_ending_at(previous) in _BLOCK_WORDS else "init"


_CLASS_HEAD = re.compile(r"(?:class|struct)\s+(?:\[\[[^\]]*\]\]\s*)?((?:\w+::)*\w+)[^;]*$")
_NAMESPACE_HEAD = re.compile(r"(?:inline\s+)?namespace\s+([\w:]+)\s*")
_OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|\[\s*\]|[^\w\s(]+)")
_FUNCTION = re.compile(r"^[^=]*?([~\w]+)\s*\(\)")
_NOT_A_FUNCTION = re.compile(r"^(?:friend|using|typedef|static_assert|enum|class|struct|union)\b")


def classes(source):
    """(name, line, names of its member functions, in order) of every class and struct with a body. Every declared
    function counts: inline ones, overrides, constructors; one that is defaulted or deleted does not, because it
    has nothing to read."""
    found = []
    for brace, kind in sorted(source.kinds.items()):
        head = source.text[source.head_start(brace) : brace] if kind == "scope" else ""
        name = _CLASS_HEAD.search(head)
        if name and brace in source.pairs and "enum" not in head.split():
            found.append((name.group(1), source.line(brace), _member_functions(source, brace)))
    return found


def named_types(source):
    """(its name with all namespaces, line) of every class and struct with a body that other files can mean by that
    name: not one in a function, a class or a namespace without a name."""
    found = []
    for brace, kind in sorted(source.kinds.items()):
        name = _CLASS_HEAD.search(source.text[source.head_start(brace) : brace]) if kind == "scope" else None
        scopes = _namespaces(source, brace)
        if name and scopes is not None:
            found.append(("::".join([*scopes, name.group(1)]), source.line(brace)))
    return found


def _namespaces(source, brace):
    """The names of the namespaces around a brace; None if something else is around it, too, or one has no name."""
    names = []
    around = source.parent_brace(brace)
    while around is not None:
        namespace = _NAMESPACE_HEAD.fullmatch(source.text[source.head_start(around) : around])
        if not namespace:
            return None
        names.insert(0, namespace.group(1))
        around = source.parent_brace(around)
    return names


def _member_functions(source, brace):
    body = _outline(source, brace + 1, source.pairs[brace])
    body = _OPERATOR.sub(" operator_ ", body)
    while re.search(r"<[^<>;]*>", body):
        body = re.sub(r"<[^<>;]*>", " ", body)
    names = []
    for declaration in re.split(r"[;]|\b(?:public|private|protected)\s*:", body):
        declaration = re.sub(r"^\s*template\b", "", declaration).strip()
        function = _FUNCTION.match(declaration)
        plain = re.search(r"=\s*(?:default|delete)$", declaration)
        if function and not plain and not _NOT_A_FUNCTION.match(declaration):
            names.append(function.group(1))
    return names


def _outline(source, begin, end):
    """The text between two places with what is inside brackets left out: `()` for a list of parameters, `;` for
    the body of a function, nothing for an initialiser or for the body of a nested type."""
    pieces = []
    position = begin
    while position < end:
        char = source.text[position]
        if char in "({" and position in source.pairs:
            if char == "(":
                pieces.append("()")
            elif source.kinds.get(position) == "block":
                pieces.append(";")
            position = source.pairs[position]
        else:
            pieces.append(char)
        position += 1
    return "".join(pieces)
