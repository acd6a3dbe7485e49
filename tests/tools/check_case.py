"""A small project in a temporary directory, and a check that runs over it."""

import contextlib
import importlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent.parent / "tools"
sys.path.insert(0, str(TOOLS))


class CheckCase(unittest.TestCase):
    check = ""  # name of the module, set by each suite

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="corral-check-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_check(self):
        """Exit code and output. In this process, because starting Python would cost most of the time."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            code = importlib.import_module(self.check).main(["--root", str(self.root)])
        return code, output.getvalue()

    def assert_clean(self):
        code, output = self.run_check()
        self.assertEqual(code, 0, output)
        return output

    def assert_caught(self, *beginnings):
        """The check fails, and says exactly this: one line per beginning, each ending in advice."""
        code, output = self.run_check()
        lines = [line for line in output.splitlines() if ": " in line and "; " in line]
        self.assertEqual(code, 1, output)
        self.assertEqual(len(lines), len(beginnings), output)
        for line, beginning in zip(lines, beginnings):
            self.assertTrue(line.startswith(beginning), f"{line!r} does not start with {beginning!r}")
