#!/usr/bin/env python3
"""Checks for words that must not get into the project.

* Unfinished work marked in a comment: finish it or describe it in an issue.
* Paths of one developer's machine: they work nowhere else.
* Registry hosts in lock files: the host is the choice of the person who installs.
* Killing by name in tests and scripts: it hits the processes of others on the same machine.
* Messages that are put together by hand: only wire/json_text.cc composes them, because it escapes what it is given.
* Revisions of MCP by their dates: only wire/revisions.h names them, so that a new revision is one row of a table.
* Parameters of type bool in src/: at the call nobody sees what `true` means, and two of them can be swapped. An enum says it.
  A bool that is itself the value, as in a JSON writer, is called `value`.
* Calls that a static program cannot make (users and groups by name through plug-ins), and std::random_device, which needs a
  newer C library than the rest: base/system_users.h and base/unique_id.h do the same.
* Unit tests that sleep: they hold the clock instead, so that they are exact and never wait.
* Tests that are switched off, and white space at the end of a line.
* Phrases that are translated word for word and not plain English, in every Markdown page, in src/, tests/, fuzz/, bench/ and
  cmake/, and in the names of tests. What a page quotes (code blocks and words in backticks) is not judged.
"""

import re
import sys

import docs_text
from check_common import CPP_SUFFIXES, Problem, finish, parse_root, project_files, read_text
from check_cpp import without_comments, without_comments_and_literals

CODE_FOLDERS = {"src", "include", "tests", "fuzz", "bench"}
SCRIPT_FOLDERS = {"tests", "tools", "demo", "bench", "fuzz", "examples", ".ci", ".github"}
SCRIPT_NAMES = {"Makefile", "CMakeLists.txt"}
LOCK_FILES = {"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"}
# Raw input for fuzzers: every byte is meant.
RAW_FOLDERS = ("fuzz/corpus/", "fuzz/seeds/")
# Home directories that are plainly an example.
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
PLUGGED_IN = re.compile(r"\b(?:get(?:pw|gr)(?:nam|uid|gid|ent)(?:_r)?|getaddrinfo|random_device)\b")
REVISION = re.compile(r"\b20\d\d-\d\d-\d\d\b(?!T)")  # with a T it is a point in time
REVISION_TABLE = "src/wire/revisions.h"
BOOL_PARAMETER = re.compile(
    r"(?:(?<!for )(?<!if )(?<!while )\(|,)\s*(?:const\s+)?(?P<type>bool)(?!\s+value\b)(?:\s+(?P<name>\w+))?\s*(?=[,)=])"
)
# Functions that may take a bool, and why.
MAY_TAKE_A_BOOL = {
    "src/knowledge/sharing.h": "sharing_of() turns the bool into the enum",
}
SLEEP = re.compile(r"\b(?:usleep|nanosleep|sleep_for|sleep_until)\s*\(")
# Unit tests that may sleep, and why the held clock does not do.
MAY_SLEEP = {
    "tests/unit/base/loop_test.cc": "the loop measures how much real time a turn takes",
}
# Where comments and strings must be plain English, too.
PLAIN_CODE = {
    "src": CPP_SUFFIXES,
    "tests": CPP_SUFFIXES | {".mjs"},
    "fuzz": CPP_SUFFIXES,
    "bench": CPP_SUFFIXES | {".py"},
    "cmake": {".cmake"},
}
SWITCHED_OFF = re.compile(r"\bDISABLE[D]_\w|\b(?:test|it|describe|suite)\.onl[y]\(")

# "there is no" and "is no longer" are English, "there are no" and "are no longer" too, and so is a question that begins with Who.
CALQUES = (
    (r"(?:(?<!there)(?<!\s)\s+|(?<![\w\s]))is\s+no\s+(?!longer\b)[a-z]+", 'write "is not a ..." or "is not ..."'),
    (r"(?:(?<!there)(?<!\s)\s+|(?<![\w\s]))are\s+n[o]\s+(?!longer\b|more\b|less\b)[a-z]+", 'write "are not ..."'),
    (r"\bwhoev[e]r\b", "name who or what acts: the client, the process, the caller"),
    (r"(?:^[ \t]*|(?<=[.!?]\s)|(?<=// )|(?<=# ))(?-i:Who)\s+[a-z]+(?![^.!]*\?)", 'write "a client that ..." or "the caller"'),
    (r"\bof\s+our[s]\b", "write \"corral's\" or \"our own\""),
    (r"\bane[w]\b", 'write "again", or use a verb with "re-"'),
    (r"\b(?:can|cannot|could)\s+be\s+ha[d]\b", 'write "is available" or "exists"'),
    (r"\bby\s+hear[t]\b", 'write "known" or "built in"'),
    (r"\bstands?\s+behin[d]\b", 'write "follows", "comes after" or "is below"'),
    (r"\bstands?\s+i[n]\b", 'write "is in", or say what has it'),
    (r"\ballows?\s+(?:it|them)\s+agai[n]\b", 'write "allows it to start again"'),
    (r"\bsome\s+(?:minutes|second[s])\b", 'write "a few"'),
    (r"\b(?:comes?|asks?\s+for)\s+by\s+UR[L]\b", 'write "connects by URL"'),
    (r"\blimits?\s+of\s+open\s+file[s]\b", 'write "open-file limit"'),
    (r"\bin\s+turn[s]\b", 'write "alternately"'),
    (r"\b(?:h[e]|sh[e]|hi[sm])\b", 'write "the user", "the process" or "they"'),
)
COMMENT_MARK = re.compile(r"^[ \t]*(?://+|#+)", re.MULTILINE)
TEST_NAME = re.compile(r"\bTEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
# The same phrases in names of tests, where "ThereIsNo" and "IsNoLonger" are English, too.
NAME_CALQUES = (
    (re.compile(r"(?<!There)IsNo(?!Longer)[A-Z]\w*"), 'write "IsNotA..." or "IsNot..."'),
    (re.compile(r"Whoeve[r]"), "name who or what acts: the client, the process, the caller"),
    (re.compile(r"Ane[w](?![a-z])"), 'write "Again", or use a verb with "Re"'),
    (re.compile(r"OfOur[s](?![a-z])"), 'write "Corrals"'),
    (re.compile(r"^Wh[o][A-Z]\w*"), 'begin with what it is about: "AClientThat..."'),
)
COMMENT = re.compile(r"^\s*(?://|#(?!!)|\*|/\*|<!--)")


def rules_for(path):
    """(pattern, problem, fix, also in comments) for one file."""
    name = path.as_posix()
    rules = [
        (MACHINE_PATH, "path of one machine", "use a relative path, a variable or a temporary directory", True),
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
    if path.parts[0] == "src":
        fix = "use base/system_users.h, or random_number() of base/unique_id.h"
        rules.append((PLUGGED_IN, "not for a static program", fix, False))
    if name.startswith("tests/unit/") and name not in MAY_SLEEP:
        fix = "hold the clock (tests/unit/base/held_clock.h) and let time pass"
        rules.append((SLEEP, "unit test that sleeps", fix, False))
    if path.parts[0] == "tests":
        rules.append((SWITCHED_OFF, "test switched off", "repair it or delete it", True))
    if path.parts[0] in SCRIPT_FOLDERS or name in SCRIPT_NAMES or path.name in SCRIPT_NAMES:
        rules.append((KILL_BY_NAME, "kill by name", "end the process by its pid or its unique tag", False))
    return rules


def is_plain(path):
    """Whether the text of this file must be plain English."""
    return path.suffix == ".md" or path.suffix in PLAIN_CODE.get(path.parts[0], ())


def prose_of(path, text):
    """The text with what it quotes, or with the marks of its comments, blanked out: lines keep their numbers."""
    if path.suffix != ".md":
        return COMMENT_MARK.sub(lambda match: " " * len(match.group()), text)
    for quoted in (docs_text.FENCE, docs_text.INLINE):
        text = quoted.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return text


def check_prose(path, text):
    """Over the whole text, because a phrase may continue on the next line."""
    problems = []
    prose = prose_of(path, text)
    for pattern, fix in CALQUES:
        for match in re.finditer(pattern, prose, re.IGNORECASE | re.MULTILINE):
            phrase = " ".join(match.group().split())
            line = docs_text.line_of(prose, match.start())
            problems.append(Problem(str(path), line, f"not plain English: {phrase}", fix))
    return problems


def check_test_names(path, text):
    """The names of tests and of their suites; a suite is judged once for each of its tests."""
    if path.parts[0] != "tests" or path.suffix not in CPP_SUFFIXES:
        return []
    return [
        Problem(str(path), docs_text.line_of(text, test.start()), f"not plain English: {found.group()}", fix)
        for test in TEST_NAME.finditer(text)
        for name in test.groups()
        for pattern, fix in NAME_CALQUES
        for found in pattern.finditer(name)
    ]


def check_file(path, text):
    problems = check_prose(path, text) if is_plain(path) else []
    problems += check_test_names(path, text)
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


def check_revisions(path, text):
    """Dates outside comments: a comment may say which revision brought something, code must ask the table."""
    if path.parts[0] != "src" or path.suffix not in CPP_SUFFIXES or path.as_posix() == REVISION_TABLE:
        return []
    fix = f"ask {REVISION_TABLE.removeprefix('src/')}; a message takes the date from there, too"
    return [
        Problem(str(path), number, f"revision by its date: {match.group()}", fix)
        for number, line in enumerate(without_comments(text).split("\n"), 1)
        for match in REVISION.finditer(line)
    ]


def check_parameters(path, text):
    """Over the whole text, because a list of parameters may continue on the next line."""
    if path.parts[0] != "src" or path.suffix not in CPP_SUFFIXES or path.as_posix() in MAY_TAKE_A_BOOL:
        return []
    code = without_comments_and_literals(text)
    fix = "make it an enum, or two functions; call it `value` if it is itself what is written"
    return [
        Problem(str(path), docs_text.line_of(code, match.start("type")), f"bare bool parameter: {match['name'] or 'bool'}", fix)
        for match in BOOL_PARAMETER.finditer(code)
    ]


def main(argv=None):
    root = parse_root(__doc__, argv)
    problems = []
    files = [path for path in project_files(root) if not path.as_posix().startswith(RAW_FOLDERS)]
    for path in files:
        text = read_text(root / path)
        if text is not None:
            problems += check_file(path, text) + check_revisions(path, text) + check_parameters(path, text)
    return finish("check_words", problems, f"{len(files)} files")


if __name__ == "__main__":
    sys.exit(main())
