"""The words and phrases that check_words.py catches, and what it lets pass.

Planted words are written in two parts, so that this file itself passes the checks.
"""

import unittest

from check_case import CheckCase


class Words(CheckCase):
    check = "check_words"

    def test_clean_files_pass(self):
        self.write("src/a.cc", "// See https://example.org/wor" "k/today and ~/wor" "k.\nint todo_list;\n")
        self.write("docs/use.md", 'Put it into "/home/you/servers". Never pkil' "l a server.\n")
        self.write("tests/t.sh", "# pkil" 'l would hit others, so we end it by pid\nkill -TERM "$pid"\n')
        self.write("package-lock.json", '{"funding": {"url": "https://a.org"}, "resolved": "packages/x"}\n')
        self.assert_clean()

    def test_marks_of_unfinished_work_are_caught(self):
        for mark in ("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK"):
            with self.subTest(mark):
                self.write("src/a.cc", f"int a;\n// {mark}: later\n")
                self.assert_caught("src/a.cc:2: mark of unfinished work")

    def test_paths_of_one_machine_are_caught(self):
        for path in ("/wor" "k/main", "/hom" "e/anna/x", "/User" "s/anna", "/roo" "t/.cache"):
            with self.subTest(path):
                self.write("README.md", f"Run `{path}`.\n")
                self.assert_caught("README.md:1: path of one machine")

    def test_registry_hosts_are_caught(self):
        url = "https://registry.example.org/x.tgz"
        self.write("tests/package-lock.json", f'{{\n  "resolved": "{url}"\n}}\n')
        self.write("yarn.lock", f'  resolved "{url}"\n')
        self.write(".npmrc", "registr" "y=https://registry.example.org\n")
        self.assert_caught(
            ".npmrc:1: registry host",
            "tests/package-lock.json:2: registry host in a lock file",
            "yarn.lock:1: registry host in a lock file",
        )

    def test_messages_composed_by_hand_are_caught(self):
        text = 'send(R"({"jsonrpc":"2.0","method":")" + method + "\\"}");\n'
        self.write("src/router/a.cc", text)
        self.write("src/wire/json_text.cc", text)
        self.write("tests/unit/b.cc", text)
        self.assert_caught("src/router/a.cc:1: message composed by hand")

    def test_calls_that_crash_a_static_program_are_caught_in_src(self):
        self.write("src/base/a.cc", "// Not getpwuid(): see system_users.h.\nint groups = getgroups(0, nullptr);\n")
        self.write("tests/os/b.cc", "if (getpwuid(uid) != nullptr) ++uid;\n")
        self.assert_clean()
        self.write("src/base/c.cc", "const passwd* who = getpwuid(uid);\nstd::random_device random;\n")
        self.write("src/http/d.cc", "getaddrinfo(host, port, &hints, &found);\n")
        self.assert_caught(
            "src/base/c.cc:1: not for a static program: getpwuid",
            "src/base/c.cc:2: not for a static program: random_device",
            "src/http/d.cc:1: not for a static program: getaddrinfo",
        )

    def test_revisions_by_their_dates_are_caught_outside_their_table(self):
        self.write("src/wire/revisions.h", 'Revision{.date = "2025-06-18"};\n')
        self.write("src/cli/a.cc", "// Since 2025-06-18.\nint a;  // of 2025-06-18\n")
        self.write("src/cli/b.cc", 'const char* b = "2026-11-16T03:40:00Z";\n')
        self.write("tests/unit/c.cc", 'is_legacy("2025-06-18");\n')
        self.assert_clean()
        self.write("src/cli/d.cc", 'if (version >= "2025-06-18") return;\n')
        self.write("src/cli/e.h", '\nsay("use 2025-06-18");\n')
        self.assert_caught(
            "src/cli/d.cc:1: revision by its date: 2025-06-18", "src/cli/e.h:2: revision by its date: 2025-06-18"
        )

    def test_bare_bool_parameters_are_caught(self):
        self.write("src/knowledge/sharing.h", "inline Sharing sharing_of(bool shared);\n")
        self.write("src/wire/json_writer.h", "JsonObject& flag(std::string_view key, bool value);\n")
        self.write("src/base/a.cc", "bool f();  // f(bool x)\nfor (bool more = true; more;) {}\nif (bool b = f()) {}\n")
        self.write("src/base/b.cc", 'say("f(bool x)");\nstruct S {\n  bool a = false;\n};\n')
        self.write("tests/unit/c.cc", "void f(bool x);\n")
        self.assert_clean()
        self.write("src/base/d.h", "void f(int a,\n       bool deep);\nvoid g(const bool x = true);\n")
        self.write("src/base/e.h", "using Done = std::function<void(bool)>;\n")
        self.assert_caught(
            "src/base/d.h:2: bare bool parameter: deep",
            "src/base/d.h:3: bare bool parameter: x",
            "src/base/e.h:1: bare bool parameter: bool",
        )

    def test_unit_tests_that_sleep_are_caught(self):
        self.write("tests/unit/base/loop_test.cc", "std::this_thread::sleep_for(kSlow);\n")
        self.write("tests/os/a_test.cc", "usleep(1000);\n")
        self.write("tests/unit/b_test.cc", "// usleep(1000) would be wrong here\nbool sleeps_for(int);\n")
        self.assert_clean()
        self.write("tests/unit/c_test.cc", "usleep(1000);\nstd::this_thread::sleep_for(kSoon);\n")
        self.write("tests/unit/session/d.h", "nanosleep(&time, nullptr);\n")
        self.assert_caught(
            "tests/unit/c_test.cc:1: unit test that sleeps",
            "tests/unit/c_test.cc:2: unit test that sleeps",
            "tests/unit/session/d.h:1: unit test that sleeps",
        )

    def test_kill_by_name_is_caught_in_scripts(self):
        self.write("tests/t.py", 'run(["pkil' 'l", "-f", "server"])\n')
        self.write("Makefile", "clean:\n\tkillal" "l server\n")
        self.assert_caught("Makefile:2: kill by name", "tests/t.py:1: kill by name")

    def test_switched_off_tests_and_ragged_ends_are_caught(self):
        self.write("tests/a.cc", "TEST(A, DISABLE" "D_b) {}\n")
        self.write("tests/b.mjs", "test.onl" "y('x', f);\n")
        self.write("tests/c.cc", "int a; \nint b;")
        self.assert_caught(
            "tests/a.cc:1: test switched off",
            "tests/b.mjs:1: test switched off",
            "tests/c.cc:1: white space",
            "tests/c.cc:2: no new line",
        )

    def test_calques_are_caught_in_every_page(self):
        calques = {
            "It is n" "o sandbox.": "is n" "o sandbox",
            "Whoev" "er asks gets it.": "Whoev" "er",
            "Wh" "o asks gets it.": "Wh" "o asks",
            "It ends. Wh" "o asks gets it.": "Wh" "o asks",
            "A process of our" "s.": "of our" "s",
            "Start it ane" "w.": "ane" "w",
            "What stands behin" "d --.": "stands behin" "d",
            "It stands i" "n the entry.": "stands i" "n",
            "These are n" "o options.": "are n" "o options",
            "If no daemon can be ha" "d.": "can be ha" "d",
            "What it knows by hear" "t.": "by hear" "t",
            "It is\nn" "o sandbox.": "is n" "o sandbox",
            "`corral start` allows it agai" "n.": "allows it agai" "n",
            "It takes some minute" "s.": "some minute" "s",
            "Clients come by UR" "L.": "come by UR" "L",
            "The limit of open file" "s.": "limit of open file" "s",
            "They run in turn" "s.": "in turn" "s",
            "The user writes what h" "e wants.": "h" "e",
        }
        for sentence, caught in calques.items():
            with self.subTest(sentence):
                self.write("README.md", "Fine.\n" + sentence + "\n")
                self.assert_caught(f"README.md:2: not plain English: {caught}; ")
        self.write("docs/decisions/0001-a.md", "It is n" "o sandbox.\n")
        self.write("README.md", "Fine.\n")
        self.assert_caught("docs/decisions/0001-a.md:1: not plain English: is n" "o sandbox")

    def test_plain_english_and_what_is_quoted_pass(self):
        self.write(
            "docs/a.md",
            "There is no server. It is no longer there. Who may do this? Who is it, then?\n"
            "There\nis no client. It takes its turn. Clients connect by URL.\n"
            "There are no clients. They are no longer there, and there\nare no others.\n"
            "The program says `it is n" "o file` or\n```\nwhoev" "er comes\n```\n",
        )
        self.assert_clean()

    def test_source_and_tests_are_judged_and_scripts_are_not(self):
        text = "// Wh" "o calls it is n" "o client.\n"
        judged = ("bench/a.cc", "fuzz/a.cc", "src/wire/a.cc", "tests/integration/a.test.mjs", "tests/unit/wire/a.cc")
        for path in (*judged, "tests/chaos/run", "tools/a.py"):
            self.write(path, text)
        phrases = ("Wh" "o calls", "is n" "o client")
        self.assert_caught(*(f"{path}:1: not plain English: {phrase}" for path in judged for phrase in phrases))

    def test_benchmarks_in_python_and_build_files_are_judged(self):
        text = "# It is\n# n" "o client.\nx = 1  # Wh" "o calls\n"
        for path in ("bench/a.py", "cmake/A.cmake"):
            self.write(path, text)
        self.assert_caught(
            *(f"{path}:{found}" for path in ("bench/a.py", "cmake/A.cmake") for found in (
                "1: not plain English: is n" "o client", "3: not plain English: Wh" "o calls"
            ))
        )

    def test_a_phrase_that_goes_on_in_the_next_line_of_a_comment_is_caught(self):
        self.write("src/wire/a.cc", "  /// It is\n  /// n" "o client.\n  // There\n  // is no other.\n")
        self.assert_caught("src/wire/a.cc:1: not plain English: is n" "o client")

    def test_names_of_tests_that_are_not_plain_english_are_caught(self):
        names = {
            "TEST(Text, ANumberIsN" "oWord)": "IsN" "oWord",
            "TEST_F(Text, IsReadByWhoev" "erAsks)": "Whoev" "er",
            "TEST_P(Text, BeginsAne" "w)": "Ane" "w",
            "TEST(Text, OfACommandOfOur" "s)": "OfOur" "s",
            "TEST_F(Text, Wh" "oAsksIsTold)": "Wh" "oAsksIsTold",
            "TEST(Wh" "oIsTold, IsTold)": "Wh" "oIsTold",
            "TEST_F(Text,\n       ALongNameIsN" "oName)": "IsN" "oName",
        }
        for name, caught in names.items():
            with self.subTest(name):
                self.write("tests/unit/a_test.cc", "int a;\n" + name + " {\n}\n")
                self.assert_caught(f"tests/unit/a_test.cc:2: not plain English: {caught}; ")

    def test_names_of_tests_in_plain_english_pass(self):
        names = ("ThereIsNoServer", "IsNotAServer", "IsNoLongerThere", "ANewOne", "OfOurselves", "SaysWhoAsks")
        self.write("tests/unit/a_test.cc", "".join(f"TEST(Who, {name}) {{\n}}\n" for name in names))
        self.write("src/wire/a.cc", "TEST(Text, ANumberIsN" "oWord) {\n}\n")
        self.assert_clean()

    def test_generated_folders_and_binary_files_are_left_alone(self):
        self.write("node_modules/x/a.js", "// TO" "DO \n")
        (self.root / "logo.png").write_bytes(b"\0 \n")
        self.write("fuzz/corpus/json/1", "{} ")
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
