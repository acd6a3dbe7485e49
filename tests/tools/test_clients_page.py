"""The page about clients has what tests/clients/run measured, with the versions that are pinned."""

import json
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = {
    "Claude Code": "@anthropic-ai/claude-code",
    "Codex": "@openai/codex",
    "Copilot CLI": "@github/copilot",
    "Gemini CLI": "@google/gemini-cli",
}
WAYS = ("finished", "SIGTERM", "SIGKILL", "SIGKILL in a call")


class MeasuredClients(unittest.TestCase):
    def setUp(self):
        page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
        table = page.split("<!-- client-tests: begin -->")[1].split("<!-- client-tests: end -->")[0]
        lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
        self.rows = [row for row in lines if row[0] != "client"]

    def test_each_has_the_pinned_version(self):
        pinned = json.loads((ROOT / "tests" / "clients" / "package.json").read_text(encoding="utf-8"))["dependencies"]
        for row in self.rows:
            name, version = row[0].rsplit(" ", 1)
            self.assertEqual(version, pinned[PACKAGES[name]], name)

    def test_each_was_ended_in_every_way_before_and_after(self):
        for name in {row[0] for row in self.rows}:
            ways = {row[1]: row[2:] for row in self.rows if row[0] == name}
            for way in WAYS:
                before, *adopted = (int(left) for left in ways[way])
                self.assertEqual(adopted, [0, 0], f"{name}: {way}")
                if way.startswith("SIGKILL"):
                    self.assertGreater(before, 0, f"{name}: {way}")

    def test_two_windows_of_each_share_a_process(self):
        for name in {row[0] for row in self.rows}:
            self.assertIn([name, "two windows", "2", "1"], self.rows)


if __name__ == "__main__":
    unittest.main()
