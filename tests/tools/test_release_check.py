"""`make release-check` tells passed, failed and not run apart, and does not mix commits."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging"))
import release_check  # noqa: E402
from release_check import Part, Result  # noqa: E402

UNITTEST = "echo \"one ... skipped 'no engine here'\"; echo 'Ran %d tests in 1s'"


class ReleaseCheck(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def result_of(self, command, **more):
        with mock.patch("sys.stderr"):
            return release_check.run_part(Part("part", "what", command, **more), self.folder / "log")

    def test_the_exit_code_decides(self):
        self.assertEqual(self.result_of("echo 'Ran 3 tests in 1s'").outcome, "passed")
        failed = self.result_of("echo 'Ran 3 tests in 1s'; exit 7")
        self.assertEqual((failed.outcome, failed.numbers), ("FAILED", "3 tests; exit code 7"))

    def test_what_this_machine_cannot_do_is_not_run_with_the_reason(self):
        result = self.result_of("true", needs=("no-such-program",))
        self.assertEqual((result.outcome, result.numbers), ("not run", "missing here: no-such-program"))
        result = self.result_of("true", file="no/such/file")
        self.assertEqual((result.outcome, result.numbers), ("not run", "there is no no/such/file"))

    def test_skipped_tests_are_never_passed_silently(self):
        self.assertEqual(self.result_of(UNITTEST % 1).outcome, "not run")
        some = self.result_of(UNITTEST % 2)
        self.assertEqual((some.outcome, some.numbers), ("passed", "2 tests; not run: no engine here"))

    def test_a_page_keeps_what_it_says_about_the_same_commit_only(self):
        name = release_check.PARTS[0].name
        page = self.folder / "page.md"
        release_check.write_page(page, "1.2.3", "abc", {name: Result(name, "passed", 12.0, "3 tests")})

        kept = release_check.earlier_results(page, "abc")

        self.assertEqual(kept[name], Result(name, "passed", 12.0, "3 tests"))
        self.assertEqual({result.outcome for other, result in kept.items() if other != name}, {"not run"})
        self.assertEqual(release_check.earlier_results(page, "abcd"), {})


if __name__ == "__main__":
    unittest.main()
