"""Finds in our documents what must be true of the program: command lines, keys, variables, paths.

Nothing here knows which of them there are; check_docs.py asks the program.
"""

import dataclasses
import itertools
import json
import re

SHELL_LANGUAGES = {"sh", "bash", "yaml"}
FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
PROGRAM = re.compile(r"(?:^|(?<=[\s;&|(\"'$`=]))(?:[\w.%~-]*/[\w./%~-]*)?corral(?=[ \t]+[\w\[-])", re.MULTILINE)
CLIENT_ENTRY = re.compile(r'"?command"?\s*[:=]\s*"corral"\s*,?\s*"?args"?\s*[:=]\s*(\[[^\]]*\])')
PROGRAM_LIST = re.compile(r"""\[\s*["']corral["']\s*,([^\]]*)\]|["']corral["']\s*,\s*\[([^\]]*)\]""")
LITERAL = re.compile(r"""(["'])((?:(?!\1)[^\\\n])*)\1|([^\s,][^,]*)""")
MOST_ALTERNATIVES = 32


@dataclasses.dataclass(frozen=True)
class Piece:
    """A part of a document that is meant word for word."""

    line: int
    language: str  # of a block; "" = a block without one, "inline" = in the middle of a sentence
    text: str


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def pieces(text):
    """The blocks and the words in backticks of a Markdown text."""
    found = []
    for match in FENCE.finditer(text):
        found.append(Piece(line_of(text, match.start(2)), match.group(1), match.group(2)))
    # Blocks become blank lines, so that what follows keeps its line.
    rest = FENCE.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    for match in INLINE.finditer(rest):
        words = " ".join(match.group(1).split()).replace("\\|", "|")
        found.append(Piece(line_of(rest, match.start()), "inline", words))
    return found


# ---- command lines


def _quoted(text, at):
    """The word in quotes that begins here, and where it ends."""
    end = text.find(text[at], at + 1)
    return (text[at + 1 :], len(text)) if end < 0 else (text[at + 1 : end], end + 1)


def _ends_command(text, at):
    char = text[at]
    if char in "\n;)<>`":
        return True
    if char == "&":
        return True
    if char == "|":  # a pipe has blanks around it, a choice has not
        return at == 0 or text[at - 1].isspace() or text[at + 1 : at + 2].isspace() or at + 1 == len(text)
    return char == "#" and (at == 0 or text[at - 1].isspace())


def shell_words(text):
    """The words of one command, up to whatever ends it in a shell, and where that is."""
    words, word, at = [], None, 0
    while at < len(text):
        if text.startswith("\\\n", at):
            at += 2
        elif text.startswith("$(", at):
            end = text.find(")", at)
            word, at = (word or "") + "$", (len(text) if end < 0 else end + 1)
        elif text[at] in "'\"":
            inside, at = _quoted(text, at)
            word = (word or "") + inside
        elif _ends_command(text, at):
            break
        elif text[at].isspace():
            words += [] if word is None else [word]
            word, at = None, at + 1
        else:
            word, at = (word or "") + text[at], at + 1
    return (words if word is None else [*words, word]), at


def _plain(word):
    """Without the brackets of a manual; None for what stands for nothing."""
    if word in ("[options]", "[--]", "…", "...", "[...]"):
        return None
    bare = word.lstrip("[").rstrip("]").removesuffix("...").rstrip("]")
    return bare or None


def readings(words):
    """Every command line that the words stand for: `start|stop NAME` is two."""
    plain = [word for word in map(_plain, words) if word is not None]
    behind = plain.index("--") if "--" in plain else len(plain)
    is_choice = [at < behind and "|" in word and " " not in word for at, word in enumerate(plain)]
    choices = [word.split("|") if chosen else [word] for word, chosen in zip(plain, is_choice)]
    lines = [list(line) for line in itertools.islice(itertools.product(*choices), MOST_ALTERNATIVES)]
    if plain[behind + 1 : behind + 2] == ["corral"]:  # what it runs is corral again
        lines += readings(plain[behind + 2 :])
    return lines


def without_comment(line):
    """What a shell sees of a line. A command in a comment stands in backticks, and is found there."""
    return re.split(r"(?:^|\s)#(?:\s|$)", line, maxsplit=1)[0]


def commands_in(text, cut=None):
    """(offset, words) of every command line of corral in a text that a shell could read."""
    found, done = [], 0
    for match in PROGRAM.finditer(text):
        rest = text[match.end() :] if cut is None else cut(text[match.end() :])
        words, end = shell_words(rest)
        # Not a word of the command before it, nor the beginning of a message, nor the name of a server.
        if match.start() < done or not words or words[0].endswith((":", ",")) or words[0] == "--":
            continue
        done = match.end() + end
        found += [(match.start(), line) for line in readings(words)]
    return found


def _list_words(text):
    words = []
    for match in LITERAL.finditer(text):
        words.append(match.group(2) if match.group(1) else "VALUE")
    return words


def started_in(text):
    """(offset, words) of every place where a client or a program starts corral by a list of words."""
    found = []
    for match in CLIENT_ENTRY.finditer(text):
        try:
            found.append((match.start(), [str(word) for word in json.loads(match.group(1))]))
        except ValueError:
            found.append((match.start(), _list_words(match.group(1)[1:-1])))
    for match in PROGRAM_LIST.finditer(text):
        found.append((match.start(), _list_words(match.group(1) or match.group(2) or "")))
    return found


def lines_of_piece(piece):
    """(line, words) of the command lines in one piece of a document."""
    found = [(piece.line + piece.text.count("\n", 0, at), words) for at, words in started_in(piece.text)]
    if piece.language == "inline":
        if re.match(r"corral [\w\[-]", piece.text):
            found += [(piece.line, words) for _, words in commands_in(piece.text)[:MOST_ALTERNATIVES]]
        return found
    text = piece.text
    if piece.language == "console":
        text = "\n".join(line[2:] if line.startswith("$ ") else "" for line in text.split("\n"))
    elif piece.language not in SHELL_LANGUAGES:
        return found
    text = "\n".join(without_comment(line) for line in text.split("\n"))
    return found + [(piece.line + text.count("\n", 0, at), words) for at, words in commands_in(text)]


def lines_of_help(text):
    """(line, words) of the examples in a --help text: what they do follows after two spaces."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("  corral ") or "$(corral " in line:
            cut = lambda rest: re.split(r"\s{2,}", rest, maxsplit=1)[0]
            found += [(number, words) for _, words in commands_in(line, cut)]
        for match in INLINE.finditer(line):
            if match.group(1).startswith("corral "):
                found += [(number, words) for _, words in commands_in(match.group(1))]
        found += [(number, words) for _, words in started_in(line)]
    return found


def lines_of_source(text):
    """(line, words) of the commands in backticks of a C++ text. What is put together at run time is left out."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        for match in INLINE.finditer(line):
            if match.group(1).startswith("corral ") and '"' not in match.group(1):
                found += [(number, words) for _, words in commands_in(match.group(1))]
    return found


# ---- keys, variables, paths


def keys_in_json(text):
    return re.findall(r'"([A-Za-z_]\w*)"\s*:', text)


def variables_in(text):
    """Names of variables: $NAME, ${NAME}, or a word such as SOME_NAME."""
    names = set(re.findall(r"\$\{?(?:env:)?([A-Z][A-Z0-9_]{2,})\b", text))
    names |= set(re.findall(r"(?<![\w/.-])([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?=\b)", text))
    return names


def variables_set_in(text):
    """Those that a block of a shell's commands sets for itself."""
    return set(re.findall(r"^(?:\$ )?([A-Z][A-Z0-9_]*)=", text, re.MULTILINE))


def links_in(text):
    """(offset, target) of the links to our own files."""
    bare = FENCE.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    found = []
    for match in re.finditer(r"\]\(([^)\s]+)\)", bare):
        if not re.match(r"\w+:", match.group(1)):
            found.append((match.start(), match.group(1)))
    return found


def anchors_of(text):
    """The names of the headings of a Markdown text, as they stand in links."""
    bare = FENCE.sub("", text)
    anchors = set()
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", bare, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchors.add(re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-"))
    return anchors
