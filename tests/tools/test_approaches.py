"""The page that says which way to use has every way in both of its tables, with measured numbers."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "approaches"))

import table  # noqa: E402
import ways  # noqa: E402


class Choosing(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")

    def test_every_way_was_measured_slow_and_fast_or_says_why_not(self):
        measured = self.page.split("<!-- bench-approaches: begin -->")[1].split("<!-- bench-approaches: end -->")[0]
        for way in ways.ALL:
            rows = [line for line in measured.splitlines() if line.startswith(f"| {way.name} |")]
            self.assertEqual(len(rows), 2, way.name)
            for row in rows:
                self.assertRegex(row, r"\d m?s · <?[\d.]+ ×|\*not measured: ", way.name)
            if issubclass(way, (ways.Direct, ways.Run, ways.Connect)):
                self.assertNotIn("*not measured", rows[0] + rows[1])
                self.assertIn(" ms · ", rows[1], way.name)

    def test_two_clients_on_one_fifo_mix_their_answers_up(self):
        foreign, lost = re.search(r"(\d+) got the other client's .* (\d+) got none", self.page).groups()
        self.assertGreater(int(foreign) + int(lost), 0)

    def test_it_names_every_approach_and_the_place_without_a_background_process(self):
        for number in range(1, 7):
            self.assertIn(f"**A{number} ", self.page)
        self.assertIn("## Where no background process may run", self.page)


class BreakEven(unittest.TestCase):
    def test_a_way_that_starts_a_server_each_time_never_pays(self):
        self.assertEqual(table.break_even(cold=33, following=30, direct=30), "never")

    def test_a_way_that_starts_it_once_pays_from_the_second_session(self):
        self.assertEqual(table.break_even(cold=33, following=0.01, direct=30), "2nd")

    def test_a_slow_start_of_its_own_pays_later(self):
        self.assertEqual(table.break_even(cold=1.5, following=0.02, direct=0.2), "9th")

    def test_less_than_a_tenth_is_no_difference(self):
        self.assertEqual(table.break_even(cold=0.95, following=0.95, direct=1), "never")


if __name__ == "__main__":
    unittest.main()
