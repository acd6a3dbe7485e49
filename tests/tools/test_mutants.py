"""Mutants: which places are found, that one program is all of them, and how a sample is drawn and counted."""

import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "mutants"))

import named  # noqa: E402
import sample  # noqa: E402
import sites  # noqa: E402
import switch  # noqa: E402
import tree  # noqa: E402
import trial  # noqa: E402

FUNCTION = "int f(int a, int b) {{\n  {}\n}}\n"

# Without headers: it is compiled several times below.
PROGRAM = """extern "C" int printf(const char*, ...);
constexpr int kMost = 3;
struct Pair {
  int left = 1;
  int right = 2;
};
int count(int a) {
  if (a > kMost) return -1;
  int sum = 0;
  for (int i = 0; i < a; ++i) {
    if (i == 1 || !(i != 2)) sum += i;
  }
  const auto half = [](int x) { return x > 2 && x < 9; };
  const bool odd = half(a + 4);
  Pair pair{a, sum + 1};
  if (odd) pair.left = 9;
  else pair.right -= 1;
  return pair.left * 10 + pair.right;
}
int main() {
  for (int a = 0; a < 7; ++a) printf("%d ", count(a));
}
"""


def file_of(text, path="src/base/a.cc"):
    return sites.File(path, text)


def afters(statement):
    """What the line of a statement becomes by each change that can be written."""
    file = file_of(FUNCTION.format(statement))
    found = [change for changes in file.changes().values() for change in changes if file.mutant(change)]
    return {sample.fingerprint(file, change)["after"] for change in found}


class Sites(unittest.TestCase):
    def test_every_kind_of_change_is_found(self):
        self.assertEqual(afters("return a < b;"), {"return a <= b;", "return a >= b;"})
        self.assertEqual(afters("return a == b;"), {"return a != b;"})
        self.assertEqual(afters("return a && b;"), {"return a || b;"})
        self.assertEqual(afters("return !a;"), {"return a;"})
        self.assertEqual(afters("return 7;"), {"return 8;", "return 6;"})
        self.assertEqual(afters("return 0;"), {"return 1;"})
        self.assertEqual(afters("return true;"), {"return false;"})
        self.assertEqual(afters("a += b;"), {"a -= b;"})
        self.assertEqual(afters("++a;"), {"--a;"})
        self.assertEqual(afters("const int c = a - b;"), {"const int c = a + b;"})
        self.assertEqual(afters("tell(a);"), {";"})
        self.assertEqual(afters("if (a) return b;"), {"if (false) return b;"})
        self.assertIn("if (a) ;", afters("if (a) tell(b);"))

    def test_a_guard_may_have_a_block(self):
        file = file_of(FUNCTION.format("if (a) {\n    return b;\n  }"))
        self.assertEqual([change.kind for change in file.changes()[2]], ["guard"])

    def test_what_nobody_could_notice_is_left_alone(self):
        for statement in (
            "// if (a < b) return 1;",
            'say = "a < b && true";',
            "static_assert(kMost < 7);",
            'log_line("x", a < b);',
            "found.reserve(a + 1);",
            "std::vector<std::pair<int, int>> c;",
            "Thing&& moved = take<Thing>();",
            "case 7:",
            "using Other = std::array<int, 8>;",
        ):
            self.assertEqual(afters(statement), set(), statement)
        self.assertEqual(file_of('#include "a/b.h"\n#define MOST 7\n').changes(), {})

    def test_plus_between_texts_is_no_sum(self):
        self.assertEqual(afters('return "a" + name;'), set())

    def test_only_lines_with_code_count(self):
        text = "// one\n\nint a;\nvoid f() {\n}\n#include <b>\n/* c\n d */ int e;\n"
        self.assertEqual(file_of(text).code_lines(), [3, 4, 8])

    def test_mutants_of_one_place_do_not_fit_together(self):
        file = file_of(FUNCTION.format("return a < b && b > a;"))
        made = [file.mutant(change) for change in file.changes()[2]]
        self.assertTrue(all(sites.overlap(one, other) for one, other in itertools.combinations(made, 2)))


class BothWays(unittest.TestCase):
    """One program with all mutants does what the programs with one change each do."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="corral-mutants-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / sites.HEADER).write_text(switch.HEADER_TEXT)

    def compiled(self, name, text):
        (self.folder / f"{name}.cc").write_text(text)
        command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-O0", "-I.", "-o", name, f"{name}.cc"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True, timeout=60)
        return self.folder / name

    def output(self, program):
        return subprocess.run([program], capture_output=True, text=True, timeout=20, check=False).stdout

    def test_the_number_in_the_program_says_which_mutant_is_on(self):
        file = file_of(PROGRAM)
        chosen = {}
        for change in itertools.chain.from_iterable(file.changes().values()):
            mutant = file.mutant(change)
            # A loop that does not end would show nothing here.
            if mutant and change.kind != "step" and not any(sites.overlap(mutant, other) for other in chosen.values()):
                chosen[len(chosen) + 1] = mutant
        self.assertGreaterEqual(len(chosen), 12)
        both = self.compiled("both", sites.written(file, chosen))
        programs = switch.programs(self.folder)
        self.assertEqual(list(programs), [both])

        self.assertEqual(self.output(both), self.output(self.compiled("plain", PROGRAM)))
        for number in list(chosen)[::3]:
            switch.switch(programs, number)
            changed = self.compiled(f"changed{number}", file.applied(chosen[number].change))
            self.assertEqual(self.output(both), self.output(changed), chosen[number].change)

    def test_a_line_keeps_its_number(self):
        file = file_of(FUNCTION.format("return a <\n         b;") + "int last = 5;\n")
        mutants = {1: file.mutant(file.changes()[2][0])}
        self.assertEqual(sites.written(file, mutants).split("\n")[5], "int last = 5;")


class Sampling(unittest.TestCase):
    def setUp(self):
        text = FUNCTION.format("\n  ".join(f"if (a == {n}) return b + {n};" for n in range(1, 40)))
        self.files = {path: file_of(text, path) for path in ("src/base/a.cc", "src/wire/b.cc")}

    def row(self, seed):
        return list(itertools.islice(sample.draw(self.files, seed), 20))

    def test_the_seed_decides(self):
        self.assertEqual(self.row(7), self.row(7))
        self.assertNotEqual(self.row(7), self.row(8))
        self.assertEqual({mutant.path for mutant in self.row(7)}, set(self.files))

    def test_a_change_is_known_again_when_its_line_moves(self):
        file = self.files["src/base/a.cc"]
        moved = file_of("// new\n\n" + file.original)
        old = sample.fingerprint(file, file.changes()[3][0])
        self.assertEqual(old, sample.fingerprint(moved, moved.changes()[5][0]))
        self.assertEqual(old["function"], "f")

    def test_the_score_leaves_equivalent_ones_out(self):
        hows = ["unit"] * 7 + ["os", "integration", "survived"] + ["equivalent"] * 5
        lines, score = sample.table([{"folder": "wire", "how": how} for how in hows])
        self.assertEqual(score, 90)
        self.assertRegex(lines[-1], r"^all +15 +7 +1 +1 +1 +5 +90%$")

    def test_the_compiler_names_the_mutants_that_do_not_compile(self):
        row = dict(enumerate(self.row(7), 1))
        lines = {number: (4, 4) if number == 3 else (90, 91) for number in row}
        words = f"../../{row[3].path}:5:7: error: no match"
        self.assertEqual(tree.blamed(words, row, lines), {3})
        of_file = {number for number, mutant in row.items() if mutant.path == row[3].path}
        self.assertEqual(tree.blamed(f"{row[3].path}:77: error", row, lines), of_file)
        self.assertEqual(tree.blamed("ld: no space", row, lines), set())

    def test_every_folder_of_the_sources_has_its_tests(self):
        folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
        self.assertEqual(folders, set(trial.OS_TESTS))

    def test_every_equivalent_change_has_a_reason(self):
        entries = sample.json.loads(sample.EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
        for entry in entries:
            self.assertEqual(set(entry), {"file", "function", "before", "after", "reason"}, entry)
            self.assertTrue(all(entry[key] for key in ("file", "before", "reason")), entry)
            self.assertTrue((ROOT / entry["file"]).is_file(), entry)


class Named(unittest.TestCase):
    def test_a_patch_names_the_test_that_notices_it(self):
        with tempfile.TemporaryDirectory(prefix="corral-mutants-") as folder:
            patch = Path(folder) / "newest.patch"
            patch.write_text("# detected by: unit_tests --gtest_filter='A.*:B.*'\n--- a/src/a.cc\n+++ b/src/a.cc\n")
            (Path(folder) / "sweep.patch").write_text("--- a/src/b.cc\n+++ b/src/b.cc\n")
            self.assertEqual(named.patches([Path(folder)]), {patch: ("unit_tests", "A.*:B.*")})

    def test_every_named_patch_names_a_test(self):
        for patch in named.FOLDERS[0].glob("*.patch"):
            self.assertIn(patch, named.patches())


if __name__ == "__main__":
    unittest.main()
