"""The check of our documents: what it finds in a text, and that it fails for whatever the program does not know.

It needs the built program: ctest names it in CORRAL_BIN, by hand it is build/dev/bin/corral.
"""

import contextlib
import io
import os
import unittest
from pathlib import Path

from check_case import TOOLS, CheckCase

import check_docs
import docs_text

CORRAL = Path(os.environ.get("CORRAL_BIN", TOOLS.parent / "build/dev/bin/corral"))


class Words(unittest.TestCase):
    def lines(self, text, language="sh"):
        piece = docs_text.Piece(1, language, text)
        return [words for _, words in docs_text.lines_of_piece(piece)]

    def test_a_command_ends_where_a_shell_ends_it(self):
        self.assertEqual(self.lines("corral ps --json | jq . # corral no"), [["ps", "--json"]])
        self.assertEqual(self.lines("A=1 corral ps; x && corral top"), [["ps"], ["top"]])
        self.assertEqual(self.lines('ID=$(corral session create --owner $$)'), [["session", "create", "--owner", "$$"]])
        self.assertEqual(self.lines("corral run --on-stop 'a | b' -- x"), [["run", "--on-stop", "a | b", "--", "x"]])
        self.assertEqual(self.lines("corral add x \\\n  -- y"), [["add", "x", "--", "y"]])

    def test_the_name_of_a_server_begins_no_command(self):
        self.assertEqual(self.lines("corral call corral get_server_info"), [["call", "corral", "get_server_info"]])
        self.assertEqual(self.lines("claude mcp add corral -- corral connect x"), [["connect", "x"]])
        self.assertEqual(self.lines("corral guard -- corral ps"), [["guard", "--", "corral", "ps"], ["ps"]])

    def test_signs_of_a_manual_are_read(self):
        self.assertEqual(self.lines("corral reap [--yes] …", "inline"), [["reap", "--yes"]])
        self.assertEqual(self.lines("corral start|stop NAME", "inline"), [["start", "NAME"], ["stop", "NAME"]])
        self.assertEqual(self.lines("corral run: ", "inline"), [])

    def test_of_a_console_only_what_was_typed_counts(self):
        self.assertEqual(self.lines("$ corral ps\ncorral nonsense runs\n", "console"), [["ps"]])

    def test_lists_of_words_are_command_lines_too(self):
        self.assertEqual(self.lines('"command": "corral", "args": ["run", "--", "x"]', "json"), [["run", "--", "x"]])
        self.assertEqual(docs_text.started_in("spawn('corral', ['call', name])")[0][1], ["call", "VALUE"])
        self.assertEqual(docs_text.started_in('command = "corral"\nargs = ["ps"]')[0][1], ["ps"])

    def test_examples_of_a_help_text_end_at_two_blanks(self):
        text = "Examples:\n  corral serve --replace     after an upgrade\nUse `corral ps` too.\n"
        self.assertEqual([words for _, words in docs_text.lines_of_help(text)], [["serve", "--replace"], ["ps"]])


@unittest.skipUnless(CORRAL.exists(), "needs the built program")
class Docs(CheckCase):
    check = "check_docs"

    def run_check(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            code = check_docs.main(["--root", str(self.root), "--corral", str(CORRAL)])
        return code, output.getvalue()

    def test_what_the_program_knows_passes(self):
        self.write("src/a.cc", 'getenv("XDG_STATE_HOME"); "corral.sock"; "info";')
        self.write("docs/b.md", "# Some heading\n")
        self.write(
            "README.md",
            "`corral ps --tree`, `corral session create --server NAME`, `corral.linger`, `$XDG_STATE_HOME`,\n"
            '`"share": "root"`, `src/a.cc`, `~/.config/corral/corral.sock`, `/api/v1/info`,\n'
            '[b](docs/b.md#some-heading)\n'
            '```sh\ncorral run --memory 1G -- npx -y x --unknown\n```\n'
            '```json\n"files": {"command": "x", "corral": {"warm": 2}}\n```\n',
        )
        self.write("examples/x.json", '{"command": "corral", "args": ["connect", "files"]}')
        self.assert_clean()

    def test_an_unknown_command_or_option_is_caught(self):
        self.write("README.md", "a\n`corral pss`\n```sh\ncorral ps --treee\n```\n`corral session craete`\n")
        self.write("examples/x.json", '{"command": "corral", "args": ["conect", "files"]}')
        self.write("src/a.cc", 'say("`corral reaap` helps; `corral start " + name + "` not");')
        self.write("examples/y.service", "[Service]\nExecStart=%h/bin/corral srve\n")
        self.assert_caught(
            "README.md:2: `corral pss`: unknown command 'pss'",
            "README.md:4: `corral ps --treee`: unknown option '--treee'",
            "README.md:6: `corral session craete`: unknown argument 'craete'",
            "examples/x.json:1: `corral conect files`: unknown command 'conect'",
            "examples/y.service:2: `corral srve`: unknown command 'srve'",
            "src/a.cc:1: `corral reaap`: unknown command 'reaap'",
        )

    def test_a_value_that_no_option_takes_is_caught(self):
        self.write("README.md", "`corral run --memory lots -- x`\n")
        self.assert_caught("README.md:1: `corral run --memory lots -- x`: ")

    def test_an_unknown_key_is_caught(self):
        self.write(
            "docs/configuration.md",
            "## A server\n\n| key | value |\n|---|---|\n| `command` | text |\n| `comand` | text |\n\n"
            "## The daemon\n\n| key | default |\n|---|---|\n| `linger` | 5m |\n| `lingre` | 5m |\n\n"
            "| key of `http` | default |\n|---|---|\n| `port`, `prot` | none |\n\n`corral.drian`, `\"wram\": 2`\n",
        )
        self.write("README.md", '```json\n"corral": {"http": {"prot": 1}}\n```\n')
        entry = '{"command": "y", "corral": {"shair": "auto"}}'
        self.write("examples/c.json", '// a comment\n{"mcpServers": {"x": %s}}' % entry)
        self.assert_caught(
            "README.md:2: this configuration: ",
            "docs/configuration.md:6: key `comand` is not known",
            "docs/configuration.md:13: key `lingre` is not known",
            "docs/configuration.md:17: key `prot` is not known",
            'docs/configuration.md:19: key "wram" is not known',
            "docs/configuration.md:19: key `corral.drian` is not known",
            "examples/c.json:1: this configuration: ",
        )

    def test_an_unknown_variable_is_caught(self):
        self.write("src/a.cc", 'getenv("XDG_STATE_HOME"); "XDG_RUNTIME_DIR"')
        self.write("README.md", "`CORRAL_NONSENSE=1`\n```sh\nls $XDG_STATE_HOME $XDG_RUNTIME_DIR/corral\n```\n")
        self.assert_caught(
            "README.md:1: variable CORRAL_NONSENSE is nowhere in the program",
            "README.md:3: the program does not obey $XDG_RUNTIME_DIR",
        )

    def test_an_unknown_path_is_caught(self):
        self.write("src/run/a.cc", "")
        self.write("docs/b.md", "# Heading\n")
        self.write(
            "README.md",
            "`src/gone.cc`, `run/gone.cc`, `tests/os/*.none`\n[a](docs/gone.md)\n[b](docs/b.md#none)\n"
            "`~/.config/corral/gone.txt`\n`/api/v1/gone`\n",
        )
        self.assert_caught(
            "README.md:1: path src/gone.cc: there is no such file",
            "README.md:1: path src/run/gone.cc: there is no such file",
            "README.md:1: path tests/os/*.none: there is no such file",
            "README.md:2: link to docs/gone.md: there is no such file",
            "README.md:3: link to docs/b.md#none: there is no such heading",
            "README.md:4: path gone.txt: the program keeps no such file",
            "README.md:5: path /api/v1/gone: the program answers no such path",
        )

    def test_decisions_tell_the_past(self):
        self.write("docs/decisions/0001-a.md", "`corral oldcommand`\n")
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
