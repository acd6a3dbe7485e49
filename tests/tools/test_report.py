"""The report's schema and its validator: the manual's example is valid, every kind of damage is found."""

import json
import re
import subprocess
import sys
import unittest

from check_case import TOOLS

import check_report

DOCS = TOOLS.parent / "docs"
SURVIVOR = {"pid": 7, "comm": "su", "uid": 0, "cause": "permission"}

DAMAGE = {
    "unknown field": lambda report: report.update(more=1),
    "unknown reason": lambda report: report.update(reason="tired"),
    "instance too short": lambda report: report.update(instance="abc"),
    "text for a number": lambda report: report.update(ms="12"),
    "truth for a number": lambda report: report.update(ended_total=True),
    "negative time": lambda report: report.update(uptime_ms=-1),
    "fraction for a count": lambda report: report["signals"].update(SIGTERM=0.5),
    "code and signal": lambda report: report.update(exit={"code": 0, "signal": "SIGTERM"}),
    "signal by number": lambda report: report.update(exit={"code": None, "signal": "15"}),
    "other schema": lambda report: report.update(schema=True),
    "leak with proof": lambda report: report.update(leaked=True),
    "survivor without leak": lambda report: report.update(survivors=[SURVIVOR]),
    "unknown level": lambda report: report.update(level="docker"),
    "bad limit": lambda report: report["limits"].append({"name": "disk"}),
    "bad terminator": lambda report: report["terminators"].append({"kind": "on-stop", "exit": 0}),
}


def example():
    page = (DOCS / "report.md").read_text(encoding="utf-8")
    return json.loads(re.search(r"```json\n(.*?)\n```", page, re.DOTALL).group(1))


def violations(report):
    schema = json.loads((DOCS / "report-schema.json").read_text(encoding="utf-8"))
    return check_report.check_line(json.dumps(report), schema)


class Schema(unittest.TestCase):
    def test_example_of_the_manual_is_valid(self):
        self.assertEqual(violations(example()), [])

    def test_manual_explains_every_field(self):
        page = (DOCS / "report.md").read_text(encoding="utf-8")
        for field in example():
            self.assertIn(f"| `{field}` |", page)

    def test_report_of_a_leak_is_valid(self):
        report = example()
        report.update(survivors=[SURVIVOR], leaked=True, proof="none")
        self.assertEqual(violations(report), [])

    def test_every_field_is_required(self):
        for field in example():
            report = example()
            del report[field]
            self.assertIn(f"report: the field {field} is missing", violations(report))

    def test_damage_is_found(self):
        for name, spoil in DAMAGE.items():
            with self.subTest(name):
                report = example()
                spoil(report)
                self.assertNotEqual(violations(report), [])

    def test_keyword_that_nobody_checks_is_refused(self):
        with self.assertRaises(check_report.SchemaError):
            list(check_report.validate("x", {"maxLength": 1}))


class CommandLine(unittest.TestCase):
    def run_on(self, text):
        command = [sys.executable, "-B", str(TOOLS / "check_report.py")]
        result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
        return result.returncode, result.stdout

    def test_valid_lines_pass_in_silence(self):
        line = json.dumps(example())
        self.assertEqual(self.run_on(f"{line}\n{line}\n"), (0, ""))

    def test_bad_lines_are_named(self):
        line = json.dumps(example())
        for text, beginning in (
            ("", "stdin:1: no report"),
            (f"{line}\nnot json\n", "stdin:2: not JSON"),
            (line.replace('"leaked"', '"leaked": true, "leaked"'), "stdin:1: not JSON: a field stands twice"),
            (line.replace('"level"', '"lev"'), "stdin:1: report: the field level is missing"),
        ):
            with self.subTest(beginning):
                code, output = self.run_on(text)
                self.assertEqual(code, 1)
                self.assertTrue(output.startswith(beginning), output)


if __name__ == "__main__":
    unittest.main()
