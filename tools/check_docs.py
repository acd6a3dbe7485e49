#!/usr/bin/env python3
"""Checks that our documents speak of the program that there is.

Every command line in README, docs, examples, --help and the program's own messages is parsed by the program
itself, every key of a configuration is read by it, and every variable, link and path must exist. It needs the
built program: ctest runs it (`make test`, `make check`), by hand `tools/check_docs.py --corral build/dev/bin/corral`.
"""

import argparse
import functools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import docs_text
from check_common import CPP_SUFFIXES, Problem, finish, project_files, read_text

PAGES = {"README.md", "ARCHITECTURE.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"}
# Decisions, and the results of checks, tell what was right when they were made.
HISTORY = ("docs/decisions/", "docs/releases/")
# Tests that people start with settings of their own.
RUN_BY_HAND = (("tests", "chaos"), ("tests", "conformance"))
EXAMPLE_SUFFIXES = {".json", ".toml", ".service", ".yml", ".yaml", ".py", ".mjs"}

# Variables of other programs that our texts may speak of.
FOREIGN_VARIABLES = set(
    "ANTHROPIC_API_KEY OPENAI_API_KEY GITHUB_TOKEN GITHUB_PERSONAL_ACCESS_TOKEN GITHUB_PATH RUNNER_TEMP API_KEY "
    "MODEL_KEY MODEL_URL AGENT_MEMORY MEMORY_FILE_PATH CORRAL_REPOSITORY VAR HOME TOKEN NODE_OPTIONS PREFIX "
    "DESTDIR SOURCE_DATE_EPOCH".split()
)
OUR_VARIABLES = ("CORRAL_", "XDG_", "MAX_KEEP")
# Constants of the kernel and of libraries, and placeholders.
NO_VARIABLES = re.compile(r"^(?:O|AF|SO|SCM|SHUT|SIG|PR|CAP|F|LOCK|EX|ENABLE|TRUSTED|PIPE|RLIMIT|CLONE|TEST|NO)_")
# Variables that the program passes on or names and does not obey, and what to write instead.
IGNORED_VARIABLES = {"XDG_RUNTIME_DIR": "the runtime directory is /run/user/UID/corral: write /run/user/$(id -u)"}

MADE_FOLDERS = ("bench/results/",)
REPOSITORY_PATH = re.compile(r"^(?:src|docs|tests|tools|packaging|examples|bench|demo|fuzz|cmake)/[\w./*-]+$")
SOURCE_PATH = re.compile(r"^[a-z]+/[\w/*-]+\.(?:cc|h)$")
KEPT_FILE = re.compile(
    r"(?:~/\.config/corral|~/\.local/state/corral|/run/user/[\w$()-]+/corral|/tmp/corral-\w+)/([\w.*/-]+)"
)
API_PATH = re.compile(r"/api/v1/([a-z][\w-]*)")
FILE_ENDINGS = {"sock", "pid", "lock", "service", "socket", "json", "log", "db", "sh", "cc", "h", "md"}

# What the tables of docs/configuration.md are about, by the heading above them and the first cell.
CONFIGURATION = "docs/configuration.md"
SECTIONS = {
    "A server": "server",
    "`corral` of a server": "server-corral",
    "The daemon": "corral",
}
WRAPPERS = {
    "server": '{"mcpServers": {"s": {"command": "x", %s}}}',
    "server-corral": '{"mcpServers": {"s": {"command": "x", "corral": {%s}}}}',
    "corral": '{"mcpServers": {}, "corral": {%s}}',
    "http": '{"mcpServers": {}, "corral": {"http": {%s}}}',
    "watch": '{"mcpServers": {}, "corral": {"watch": {%s}}}',
    "top": '{"mcpServers": {}, %s}',
}
NOT_KNOWN = "is unknown"


class Program:
    """The built corral, asked about itself."""

    def __init__(self, path):
        self.path = str(path)

    def run(self, *words, text=""):
        return subprocess.run([self.path, *words], input=text, capture_output=True, text=True, timeout=60)

    def objections(self, lines):
        """One answer for each line of words: "" or what is wrong with it."""
        if not lines:
            return []
        asked = self.run("@check-lines", text="".join(json.dumps(words) + "\n" for words in lines))
        answers = asked.stdout.splitlines()
        if asked.returncode != 0 or len(answers) != len(lines):
            raise SystemExit(f"{self.path} @check-lines failed: {asked.stderr.strip()}")
        return ["" if answer == "ok" else answer for answer in answers]

    def help_texts(self):
        """(command, text) for corral itself ("") and each of its commands."""
        overview = self.run("--help").stdout
        names = re.findall(r"^  ([a-z][\w-]*)  ", overview, re.MULTILINE)
        for others in re.findall(r"\(also: ([^)]*)\)", overview):
            names += others.split(", ")
        return [("", overview)] + [(name, self.run(name, "--help").stdout) for name in names]

    @functools.lru_cache(maxsize=None)
    def judge(self, configuration):
        """What `config check` says of a text that needs correction: errors, and keys that do nothing."""
        with tempfile.TemporaryDirectory(prefix="corral-docs-") as folder:
            file = Path(folder) / "config.json"
            file.write_text(configuration, encoding="utf-8")
            answer = self.run("config", "check", "--config", str(file), "--json").stdout
        try:
            told = json.loads(answer)
        except ValueError:
            raise SystemExit(f"{self.path} config check --json: the answer is not JSON: {answer!r}")
        error = [told["error"]] if "error" in told else []
        return tuple(error), tuple(line for line in told.get("warnings", []) if NOT_KNOWN in line)

    def knows_key(self, section, key):
        """A key with a value that no key takes: an error about the value means that the key is known."""
        _, unknown = self.judge(WRAPPERS[section] % f'"{key}": null')
        return not any(f'"{key}"' in line for line in unknown)

    def knows_key_anywhere(self, key):
        return any(self.knows_key(section, key) for section in WRAPPERS)


class Documents:
    """All of them, and what else there is to be spoken of."""

    def __init__(self, root):
        self.root = root
        self.files = project_files(root)
        self.names = {path.as_posix() for path in self.files}
        self.pages = [p for p in self.files if self._is_page(p)]
        self.examples = [p for p in self.files if p.parts[0] == "examples" and p.suffix in EXAMPLE_SUFFIXES]

    @staticmethod
    def _is_page(path):
        name = path.as_posix()
        if path.suffix != ".md" or name.startswith(HISTORY):
            return False
        return name in PAGES or path.parts[0] in ("docs", "examples", "bench", "tests", "demo")

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        return read_text(self.root / path) or ""

    @functools.cached_property
    def sources(self):
        """Everything that a name may be from: the program, what is shipped with it, its schemas."""
        folders = ("src", "demo", "bench", "examples")
        kept = [p for p in self.files if p.parts[0] in folders and p.suffix != ".md"]
        kept += [p for p in self.files if p.as_posix() == "Makefile" or p.parts[:2] in RUN_BY_HAND]
        kept += [p for p in self.files if p.parts[0] == "docs" and p.suffix == ".json"]
        return "\n".join(self.text(p) for p in kept)

    def source_has(self, word):
        return re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", self.sources) is not None


# ---- command lines


def gather_lines(documents, program):
    """(where, line, words) of every command line."""
    found = []
    for path in documents.pages:
        for piece in docs_text.pieces(documents.text(path)):
            found += [(path.as_posix(), line, words) for line, words in docs_text.lines_of_piece(piece)]
    for path in documents.examples:
        text = documents.text(path)
        starts = docs_text.started_in(text)
        if path.suffix in (".service", ".yml", ".yaml"):
            starts = starts + docs_text.commands_in("\n".join(map(docs_text.without_comment, text.split("\n"))))
        found += [(path.as_posix(), docs_text.line_of(text, at), words) for at, words in starts]
    for path in documents.files:
        if path.parts[0] == "src" and path.suffix in CPP_SUFFIXES:
            found += [(path.as_posix(), line, words) for line, words in docs_text.lines_of_source(documents.text(path))]
    for name, text in program.help_texts():
        where = f"corral {name} --help".replace("  ", " ")
        found += [(where, line, words) for line, words in docs_text.lines_of_help(text)]
    return found


def check_lines(documents, program):
    lines = gather_lines(documents, program)
    objections = program.objections([words for _, _, words in lines])
    problems = []
    for (where, line, words), objection in zip(lines, objections):
        if objection:
            shown = " ".join(["corral", *words])
            problems.append(Problem(where, line, f"`{shown}`: {objection}", "write what the program takes"))
    return problems, len(lines)


# ---- keys


def keys_of_tables(text):
    """(line, section, key) of the tables of the configuration."""
    heading, section, found = "", None, []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            heading, section = line.lstrip("#").strip(), None
        elif line.startswith("| key"):
            of = re.match(r"\| key of `(\w+)`", line)
            section = of.group(1) if of else SECTIONS.get(heading)
        elif not line.startswith("|"):
            section = None
        elif section and not line.startswith("|---"):
            found += [(number, section, key) for key in re.findall(r"`(\w+)`", line.split("|")[1])]
    return found


def configuration_in(text):
    """The configurations that a block of JSON may be a part of; none if it is about something else."""
    bare = re.sub(r"\A(?:\s*//[^\n]*\n)*", "", text).strip()
    if '"corral": {' not in bare and '"mcpServers"' not in bare or CLIENT_USES.search(bare) or "…" in bare:
        return []
    if bare.startswith("{"):
        return [bare]
    if bare.startswith('"corral"'):
        return [WRAPPERS["top"] % bare, WRAPPERS["server"] % bare]
    if bare.startswith('"command"'):
        return ['{"mcpServers": {"s": {%s}}}' % bare]
    return ['{"mcpServers": {%s}}' % bare]


CLIENT_USES = re.compile(r'"command"\s*:\s*"corral"')


def check_configurations(documents, program):
    problems = []
    blocks = []
    for path in documents.pages:
        blocks += [(path, p.line, p.text) for p in docs_text.pieces(documents.text(path)) if p.language == "json"]
    blocks += [(path, 1, documents.text(path)) for path in documents.examples if path.suffix == ".json"]
    for path, line, text in blocks:
        judged = [program.judge(one) for one in configuration_in(text)]
        if judged and not any(judgement == ((), ()) for judgement in judged):
            errors, unknown = judged[0]
            what = re.sub(r"^\S+config\.json:\S* ", "", (errors + unknown)[0])
            problems.append(Problem(path.as_posix(), line, f"this configuration: {what}", "correct it"))
    return problems


def check_keys(documents, program):
    problems = []
    for path in documents.pages:
        name, text = path.as_posix(), documents.text(path)
        known = functools.partial(known_key, documents, program)
        if name == CONFIGURATION:
            for line, section, key in keys_of_tables(text):
                if not program.knows_key(section, key):
                    problems.append(Problem(name, line, f"key `{key}` is not known to the program", "correct it"))
        for piece in docs_text.pieces(text):
            if piece.language != "inline":
                continue
            for key in docs_text.keys_in_json(piece.text):
                if not known(key):
                    problems.append(Problem(name, piece.line, f'key "{key}" is not known to the program', "correct it"))
            problems += check_dotted(name, piece, program)
    return problems


def known_key(documents, program, key):
    """Of a configuration, or of what the program says and hears."""
    return f'"{key}' in documents.sources or documents.source_has(key) or program.knows_key_anywhere(key)


def check_dotted(name, piece, program):
    """`corral.linger`, `http.bind`: a key by its place."""
    match = re.match(r"^(corral|http|watch)\.([a-z_]+)$", piece.text)
    if not match or match.group(2) in FILE_ENDINGS:
        return []
    sections = ("corral", "server-corral") if match.group(1) == "corral" else (match.group(1),)
    if any(program.knows_key(section, match.group(2)) for section in sections):
        return []
    return [Problem(name, piece.line, f"key `{piece.text}` is not known to the program", "correct it")]


# ---- variables and paths


def check_variables(documents):
    problems = []
    for path in documents.pages:
        for piece in docs_text.pieces(documents.text(path)):
            own = set() if piece.language == "inline" else docs_text.variables_set_in(piece.text)
            own = {name for name in own if not name.startswith(OUR_VARIABLES)}
            for variable in sorted(docs_text.variables_in(piece.text) - own):
                problem = objection_to_variable(documents, variable)
                if problem:
                    problems.append(Problem(path.as_posix(), piece.line, *problem))
    return problems


def objection_to_variable(documents, variable):
    if variable in IGNORED_VARIABLES:
        return f"the program does not obey ${variable}", IGNORED_VARIABLES[variable]
    if variable in FOREIGN_VARIABLES or NO_VARIABLES.match(variable) or documents.source_has(variable):
        return None
    fix = "correct it, or add it to tools/check_docs.py if it is another program's"
    return f"variable {variable} is nowhere in the program", fix


def check_links(documents):
    problems = []
    for path in documents.pages:
        text = documents.text(path)
        for at, target in docs_text.links_in(text):
            what = objection_to_link(documents, path, target)
            if what:
                problems.append(Problem(path.as_posix(), docs_text.line_of(text, at), what, "correct the link"))
    return problems


def objection_to_link(documents, path, target):
    file, _, anchor = target.partition("#")
    there = (documents.root / path.parent / file).resolve() if file else documents.root / path
    if not there.exists():
        return f"link to {target}: there is no such file"
    if anchor and there.suffix == ".md" and anchor not in docs_text.anchors_of(read_text(there) or ""):
        return f"link to {target}: there is no such heading"
    return None


def check_paths(documents):
    problems = []
    for path in documents.pages:
        for piece in docs_text.pieces(documents.text(path)):
            for what in objections_to_paths(documents, piece):
                problems.append(Problem(path.as_posix(), piece.line, what, "correct the path"))
    return problems


def objections_to_paths(documents, piece):
    found = []
    is_method = f'"{piece.text}"' in documents.sources  # of the protocol: tools/list
    names_file = piece.language == "inline" and REPOSITORY_PATH.match(piece.text) and not is_method
    if names_file and not exists(documents, piece.text):
        found.append(f"path {piece.text}: there is no such file")
    if piece.language == "inline" and SOURCE_PATH.match(piece.text):
        folder = piece.text.split("/")[0]
        is_ours = any(name.startswith(f"src/{folder}/") for name in documents.names)
        if is_ours and not exists(documents, f"src/{piece.text}"):
            found.append(f"path src/{piece.text}: there is no such file")
    for kept in KEPT_FILE.findall(piece.text):
        last = kept.rstrip("/.").split("/")[-1]
        if last and last.lower() == last and "*" not in last and not documents.source_has(last):
            found.append(f"path {kept}: the program keeps no such file")
    for word in API_PATH.findall(piece.text):
        if not documents.source_has(word):
            found.append(f"path /api/v1/{word}: the program answers no such path")
    return found


def exists(documents, name):
    if name.startswith(MADE_FOLDERS):
        return True
    if "*" in name:
        return any(documents.root.glob(name))
    return (documents.root / name).exists()


# ---- the check


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    home = Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=Path, default=home, help="directory of the project to check")
    parser.add_argument("--corral", type=Path, default=home / "build/dev/bin/corral", help="the built program")
    return parser.parse_args(argv)


def main(argv=None):
    arguments = parse_arguments(argv)
    documents = Documents(arguments.root.resolve())
    program = Program(arguments.corral.resolve())
    problems, count = check_lines(documents, program)
    problems += check_configurations(documents, program)
    problems += check_keys(documents, program)
    problems += check_variables(documents) + check_links(documents) + check_paths(documents)
    return finish("check_docs", problems, f"{count} command lines in {len(documents.pages)} pages, --help and messages")


if __name__ == "__main__":
    sys.exit(main())
