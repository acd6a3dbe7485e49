"""Include rule, sizes, paths and requirements: what each check catches and what it lets pass."""

import subprocess
import sys
import unittest

from check_case import TOOLS, CheckCase

import check_requirements


class Includes(CheckCase):
    check = "check_includes"

    def test_allowed_edges_pass(self):
        self.write("src/base/result.h", "#pragma once\n#include <string>\n")
        self.write("src/proc/spawner.h", '#pragma once\n#include "base/result.h"\n#include "keeper/plan.h"\n')
        self.write("src/keeper/plan.h", "#ifndef CORRAL_PLAN_H\n#define CORRAL_PLAN_H\n#endif\n")
        self.write("src/run/run.cc", '#include "run/run.h"\n#include "proc/a.h"\n#include "version.h"\n')
        self.write("src/cli/main.cc", '#include <CLI/CLI.hpp>\n#include "run/run.h"\n#include "base/a.h"\n')
        self.assert_clean()

    def test_edge_against_the_order_is_caught(self):
        self.write("src/base/log.cc", '\n#include "proc/spawner.h"\n')
        self.write("src/keeper/main.cc", '#include "../base/result.h"\n')
        self.write("src/router/router.cc", '#include "session/session.h"\n')
        self.write("src/session/session.cc", '#include "transport/stdio_client.h"\n')
        self.assert_caught(
            "src/base/log.cc:2: base/ includes proc/",
            "src/keeper/main.cc:1: keeper/ includes base/",
            "src/router/router.cc:1: router/ includes session/",
            "src/session/session.cc:1: session/ includes transport/",
        )

    def test_nobody_includes_the_command_line(self):
        self.write("src/daemon/hub.cc", '#include "cli/options.h"\n')
        self.assert_caught("src/daemon/hub.cc:1: daemon/ includes cli/")

    def test_only_the_front_header_of_the_registry_is_visible(self):
        includes = '#include "registry/registry.h"\n#include "registry/sqlite_registry.h"\n'
        self.write("src/instance/a.cc", includes)
        self.write("src/daemon/hub.cc", '#include "registry/sqlite_registry.h"\n')
        self.assert_caught("src/instance/a.cc:2: registry/sqlite_registry.h is private")

    def test_keeper_stays_without_libraries(self):
        includes = "#include <unistd.h>\n#include <boost/asio.hpp>\n#include <iostream>\n"
        self.write("src/keeper/main.cc", includes)
        self.write("src/run/run.cc", "#include <CLI/CLI.hpp>\n")
        self.assert_caught(
            "src/keeper/main.cc:2: <boost/asio.hpp> in keeper/",
            "src/keeper/main.cc:3: <iostream> in keeper/",
            "src/run/run.cc:1: <CLI/CLI.hpp> in run/",
        )

    def test_folder_without_rule_and_header_without_guard_are_caught(self):
        self.write("src/misc/thing.cc", "")
        self.write("src/base/ids.h", "struct Id {};\n")
        self.assert_caught(
            "src/base/ids.h:1: header without guard",
            "src/misc/thing.cc:1: src/misc/ has no rule",
        )

    def test_include_in_a_comment_does_not_count(self):
        self.write("src/base/log.cc", '// #include "proc/spawner.h"\n/*\n#include "cli/main.h"\n*/\n')
        self.assert_clean()


FUNCTION_FORMS = {
    "free function": "int f(int a) {\n%s}\n",
    "member outside": "void Foo::bar() const noexcept {\n%s}\n",
    "constructor with braces in its list": "Foo::Foo(int a) : a_{a}, b_{1} {\n%s}\n",
    "member inside": "class Foo final : public Bar {\n public:\n  void f() override {\n%s}\n};\n",
    "template": "template <class T>\nauto f(T x) -> std::vector<T> {\n%s}\n",
    "qualified by a macro": "void Foo::bar() NOEXCEPT {\n%s}\n",
    "operator": "bool operator==(const A& a, const B& b) {\n%s}\n",
    "test": "TEST(Suite, Name) {\n%s}\n",
    "lambda of a file": "const auto kWalk = [](int x) {\n%s};\n",
    "in extern C": 'extern "C" {\nint main() {\n%s}\n}\n',
    "digit separators and quotes": "long f() {\n  auto a = 1'000'000; auto c = '}'; auto s = \"}\";\n%s}\n",
    "two branches": "#if A\nint f(int x) {\n#else\nint f(long x) {\n#endif\n%s}\n",
}


class Sizes(CheckCase):
    check = "check_sizes"

    def write(self, path, text):
        """Enough comments that only what a test is about is found."""
        super().write(path, text + "// Why.\n" * 40 if path.startswith("src/") else text)

    def test_short_code_passes_and_prints_the_budget(self):
        self.write("src/base/a.cc", "// Why.\nint f() {\n  return 1;\n}\n")
        output = self.assert_clean()
        self.assertIn("src: 1 files, 1 functions", output)
        self.assertRegex(output, r"function lines, p90 +3 +budget +35 +ok")

    def test_long_function_is_caught_in_every_form(self):
        for name, form in FUNCTION_FORMS.items():
            with self.subTest(name):
                self.write("src/base/a.cc", "namespace x {\n" + form % ("  g();\n" * 60) + "}\n")
                self.assert_caught("src/base/a.cc:")

    def test_function_under_the_cap_passes_in_every_form(self):
        for name, form in FUNCTION_FORMS.items():
            with self.subTest(name):
                self.write("src/base/a.cc", "namespace x {\n" + form % ("  g();\n" * 54) + "}\n")
                self.assertIn("1 functions", self.assert_clean())

    def test_long_table_and_long_class_are_no_functions(self):
        self.write("src/base/a.cc", "const Row kRows[] = {\n" + "  {1, f(2)},\n" * 100 + "};\n")
        self.write("src/base/a.h", "struct A {\n" + "  std::function<int(int)> f{g(1)};\n" * 100 + "};\n")
        self.assert_clean()

    def test_class_with_too_many_member_functions_is_caught_however_they_are_written(self):
        functions = {
            "declared": "  void f(int a, int b = g(1)) const;\n",
            "inline": "  int f() const { return g(h()); }\n",
            "constructor": "  A(int x) : x_(x), y_{x} {}\n",
            "template": "  template <class T>\n  std::map<T, std::vector<T>> f(std::function<void(T)> t);\n",
            "override": "  void f() noexcept override = 0;\n",
            "operator": "  bool operator<(const A& other) const;\n  int x_ = 3;\n",
        }
        for name, function in functions.items():
            with self.subTest(name):
                self.write("src/base/a.h", "class A final : B<int> {\n public:\n" + function * 40 + "};\n")
                self.assert_clean()
                self.write("src/base/a.h", "class A final : B<int> {\n public:\n" + function * 41 + "};\n")
                self.assert_caught("src/base/a.h:1: class A has 41 member functions")

    def test_data_types_and_defaults_are_not_member_functions(self):
        members = "  std::function<void(int)> f;\n  int x = g(1);\n  using F = void(int);\n  A(A&&) = default;\n"
        members += "  struct B {\n    void f();\n  };\n  friend bool operator==(const A&, const A&);\n"
        CheckCase.write(self, "src/base/a.h", "class A {\n" + ("// Why.\n" * 2 + members) * 41 + "};\n")
        self.assert_clean()

    def test_two_types_of_one_name_in_one_namespace_are_caught(self):
        comments = "// Why.\n" * 30
        self.write("src/base/a.h", comments + "namespace n {\nstruct A {\n  int x;\n};\n}\n")
        self.write("src/base/b.h", comments + "namespace n {\nclass A {\n  int x;\n};\n}\n")
        self.assert_caught("src/base/b.h:32: type n::A is also in src/base/a.h")

        for other in ("namespace m {\nclass A {\n};\n}\n", "namespace n {\nclass B {\n  struct A {\n  };\n};\n}\n",
                      "namespace n {\nnamespace {\nclass A {\n};\n}\n}\n", "namespace n {\nclass A;\n}\n"):
            with self.subTest(other=other):
                self.write("src/base/b.h", comments + other)
                self.assert_clean()

    def test_class_in_two_files_is_caught_and_two_classes_of_one_name_are_not(self):
        self.write("src/base/a.cc", "void A::f() {\n}\n")
        self.write("src/wire/a.cc", "void A::f() {\n}\n")
        self.assert_clean()
        self.write("src/base/b.cc", "int A::g() {\n  return 1;\n}\n")
        self.assert_caught("src/base/b.cc:1: class A is also defined here")

    def test_unit_that_is_too_small_is_caught(self):
        CheckCase.write(self, "src/base/a.h", "// Why.\n" * 15)
        CheckCase.write(self, "src/base/a.cc", "int a;\n" * 15)
        self.assert_clean()
        CheckCase.write(self, "src/base/b.h", "// Why.\n" * 29)
        self.assert_caught("src/base/b.h:1: b has only 29 lines")

    def test_headers_without_contracts_are_caught(self):
        CheckCase.write(self, "src/base/a.h", "// Why.\n" * 14 + "int f();\n" * 86)
        self.assert_caught("src/base:1: 14 % of the headers are comments")

    def test_long_file_and_long_python_function_are_caught(self):
        CheckCase.write(self, "src/base/a.cc", "int a;\n" * 501)
        self.write("tests/x/t.py", "def f():\n" + "    g()\n" * 60)
        self.assert_caught("src/base/a.cc:501: file has 501 lines", "tests/x/t.py:1: function f has 61 lines")

    def test_long_readme_is_caught_and_other_pages_may_be_long(self):
        self.write("README.md", "A line.\n" * 250)
        self.write("docs/a.md", "A line.\n" * 251)
        self.assert_clean()
        self.write("README.md", "A line.\n" * 251)
        self.assert_caught("README.md:251: page has 251 lines")


class Paths(CheckCase):
    check = "check_paths"

    def tell(self, steps, most=2):
        rows = "".join(f"| {number} | {functions} | `{file}` |\n" for number, (functions, file) in enumerate(steps))
        head = "| | function | file |\n|---|---|---|\n"
        self.write("ARCHITECTURE.md", f"# Map\n\n<!-- path: call, at most {most} files -->\n\n{head}{rows}\nEnd.\n")

    def setUp(self):
        super().setUp()
        self.write("src/a/pipe.cc", "namespace x {\nvoid Pipe::read() {\n}\nint flush(int fd) {\n  return fd;\n}\n}\n")
        self.write("src/b/pipe.h", "class Queue {\n public:\n  void push() { f(); }\n  int top() const;\n};\n")

    def test_functions_that_exist_pass(self):
        self.tell([("`Pipe::read`, `flush`", "a/pipe.cc"), ("`Queue::push`", "b/pipe.h"), ("`flush`", "a/pipe.cc")])
        self.assertIn("call 2 files", self.assert_clean())

    def test_function_or_file_that_does_not_exist_is_caught(self):
        self.tell([("`Pipe::read`, `Pipe::write`", "a/pipe.cc"), ("`Queue::push`", "b/queue.h")])
        self.assert_caught("ARCHITECTURE.md:7: Pipe::write is not in src/a/pipe.cc", "ARCHITECTURE.md:8: no file src/b/queue.h")

    def test_path_through_too_many_files_is_caught(self):
        self.tell([("`flush`", "a/pipe.cc"), ("`Queue::push`", "b/pipe.h")], most=1)
        self.assert_caught("ARCHITECTURE.md:3: path call has 2 files, not 1")

    def test_files_that_are_only_asked_are_counted_apart(self):
        rows = "| pass it on | `Pipe::read` | `a/pipe.cc` |\n| ask: may it | `Queue::push` | `b/pipe.h` |\n"
        page = "<!-- path: call, at most 1 files{} -->\n\n| | function | file |\n|---|---|---|\n" + rows + "\nEnd.\n"
        self.write("ARCHITECTURE.md", page.format(" and 1 asked"))
        self.assert_clean()
        self.write("ARCHITECTURE.md", page.format(""))
        self.assert_caught("ARCHITECTURE.md:1: path call has 1 files that are asked, not 0")

    def test_path_beyond_another_counts_only_its_own_files(self):
        table = "\n\n| | function | file |\n|---|---|---|\n| 1 | `flush` | `a/pipe.cc` |\n"
        more = "| 2 | `Queue::push` | `b/pipe.h` |\n\n"
        page = "<!-- path: warm, at most 1 files -->" + table + "\n<!-- path: first, at most {} files beyond warm -->" + table + more
        self.write("ARCHITECTURE.md", page.format(1))
        self.assert_clean()
        self.write("ARCHITECTURE.md", page.format(0))
        self.assert_caught("ARCHITECTURE.md:7: path first has 1 files, not 0")

    def test_files_that_are_not_counted_exist_and_are_no_steps(self):
        self.tell([("`flush`", "a/pipe.cc")])
        page = (self.root / "ARCHITECTURE.md").read_text()
        more = "\n<!-- not counted: {} -->\n\nNot counted: `b/pipe.h`,\n`a/{}.cc`.\n\nLater: `c/d.cc`.\n"
        self.write("ARCHITECTURE.md", page + more.format("call", "pipe"))
        self.assert_caught("ARCHITECTURE.md:14: a/pipe.cc is a step of path call")
        self.write("ARCHITECTURE.md", page + more.format("call", "gone"))
        self.assert_caught("ARCHITECTURE.md:14: no file src/a/gone.cc")
        self.write("ARCHITECTURE.md", page + more.format("cal", "pipe"))
        self.assert_caught("ARCHITECTURE.md:11: there is no path cal")
        self.write("src/a/other.cc", "int a;\n")
        self.write("ARCHITECTURE.md", page + more.format("call", "other"))
        self.assert_clean()

    def test_path_without_a_table_is_caught(self):
        self.write("ARCHITECTURE.md", "<!-- path: call, at most 3 files -->\n\nLater.\n")
        self.assert_caught("ARCHITECTURE.md:1: path call has no table")


class Requirements(CheckCase):
    check = "check_requirements"

    def page(self, changes=None):
        """A page with every requirement planned, some rows replaced."""
        rows = {name: f"| {name} | It works. | *planned* |" for name in check_requirements.REQUIREMENTS}
        rows.update(changes or {})
        lines = ["| id | requirement | proof |", "|---|---|---|", *rows.values(), ""]
        self.write("docs/requirements.md", "\n".join(lines))

    def test_all_planned_passes_and_is_counted(self):
        self.page()
        self.assertIn("41 requirements, 0 proved, 0 partly, 41 planned", self.assert_clean())

    def test_tests_of_every_kind_are_found(self):
        self.write("tests/os/a_test.cc", "TEST_F(Tree,\n       Dies) {}\n")
        node_test = "test('none (0) isn\\'t left', f);\n  labTest(\n    `SIGKILL of ${who}: none left`, g);\n"
        self.write("tests/integration/b.test.mjs", node_test)
        self.write("tests/tools/c.py", "class C:\n    def test_it(self):\n        pass\n")
        proofs = "`tests/os/a_test.cc::Tree.Dies`, `tests/tools/c.py::C.test_it`"
        node = "`tests/integration/b.test.mjs::none (0) isn't left`"
        template = "`tests/integration/b.test.mjs::SIGKILL of us: none left`"
        partly = f"| B1 | So it is. | {node}, {template}; *planned*: Windows |"
        self.page({"S0.1": f"| S0.1 | It works. | {proofs} |", "B1": partly})
        self.assertIn("1 proved, 1 partly, 39 planned", self.assert_clean())

    def test_missing_tests_are_caught(self):
        self.write("tests/os/a_test.cc", "// TEST(Tree, Dies)\nTEST(Tree, DiesLater) {}\n")
        node_test = "// test(`SIGKILL of ${who}: none left`);\ntest(`SIGKILL of ${who}: left`, f);\n"
        self.write("tests/b.mjs", node_test)
        self.page(
            {
                "S0.1": "| S0.1 | It works. | `tests/os/a_test.cc::Tree.Dies` |",
                "S0.2": "| S0.2 | It works. | `tests/os/gone_test.cc::Tree.Dies` |",
                "S0.3": "| S0.3 | It works. | `src/a.cc::Tree.Dies` |",
                "B1": "| B1 | It works. | `tests/b.mjs::SIGKILL of us: none left` |",
            }
        )
        self.assert_caught(
            "docs/requirements.md:3: S0.1: tests/os/a_test.cc has no test Tree.Dies",
            "docs/requirements.md:4: S0.2: there is no tests/os/gone_test.cc",
            "docs/requirements.md:5: S0.3: src/a.cc is outside tests/",
            "docs/requirements.md:31: B1: tests/b.mjs has no test SIGKILL of us: none left",
        )

    def test_malformed_rows_are_caught(self):
        self.page(
            {
                "S0.1": "| S0.1 | It works. Always. | *planned* |",
                "S0.2": "| S0.2 | It works. | soon |",
                "S0.3": "| S0.3 | It works. | |",
                "S1.1": "",
                "B13": "| B12 | It works. | *planned* |\n| B99 | It works. | *planned* |",
            }
        )
        self.assert_caught(
            "docs/requirements.md:1: B13 has no row",
            "docs/requirements.md:1: S1.1 has no row",
            "docs/requirements.md:3: S0.1 is not one sentence",
            "docs/requirements.md:4: S0.2: can't read 'soon'",
            "docs/requirements.md:5: S0.3 has no proof",
            "docs/requirements.md:43: B12 stands twice",
            "docs/requirements.md:44: unknown requirement B99",
        )

    def test_missing_page_is_caught(self):
        self.assert_caught("docs/requirements.md:1: the page is missing")


class Programs(CheckCase):
    def run_all(self):
        command = [sys.executable, "-B", str(TOOLS / "check_all.py"), "--root", str(self.root)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def test_all_checks_run_even_if_the_first_one_fails(self):
        self.write("src/a.cc", "int a; \n")

        result = self.run_all()

        self.assertEqual(result.returncode, 1)
        self.assertIn("src/a.cc:1: file directly in src/", result.stdout)
        self.assertIn("docs/requirements.md:1: the page is missing", result.stdout)
        self.assertIn("src/a.cc:1: white space at the end of the line", result.stdout)
        self.assertIn("check_words: 1 problem", result.stderr)

    def test_a_clean_project_passes(self):
        rows = [f"| {requirement} | It works. | *planned* |\n" for requirement in check_requirements.REQUIREMENTS]
        self.write("docs/requirements.md", "".join(rows))
        self.write("src/base/a.h", "#pragma once\n" + "// Why.\n" * 30)

        result = self.run_all()

        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)


if __name__ == "__main__":
    unittest.main()
