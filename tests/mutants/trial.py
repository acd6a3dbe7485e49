"""Runs the tests against one mutant: unit tests first, then the tests of its directory with real processes, then the
integration tests.

All tests run once without a mutant and tell which ones they come across; a mutant then meets only those tests that
come across it. A failure counts only if the same test passes without the mutant and fails again with it: a machine
under load makes tests fail by itself. Whatever is run, is run by `apart`.
"""

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from switch import NONE, RECORD, switch
from tree import BUILD, TREE, environment

APART = Path(__file__).resolve().parent / "apart"
UNIT = BUILD / "tests" / "unit" / "unit_tests"
OS_PROGRAMS = BUILD / "tests" / "os"
INTEGRATION = TREE / "tests" / "integration" / "run"
_FAILED = re.compile(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", re.MULTILINE)
# A test is given so many seconds, a whole run so many times that.
_UNIT_SECONDS, _OS_SECONDS, _INTEGRATION_SECONDS = 180, 90, 400
_AT_ONCE = 24  # tests with real processes in one go, so that nobody waits long for the lock

# Which programs of tests/os may detect a change in a directory. Generous: of each program only the tests run that come
# across the change.
OS_TESTS = {
    "adopt": ("reap",),
    "base": ("hub", "connect"),
    "bridge": ("hub",),
    "cli": ("hub", "daemon", "reap", "connect", "os"),
    "config": ("daemon", "hub"),
    "control": ("connect", "daemon", "hub"),
    "daemon": ("daemon", "hub", "connect"),
    "events": ("hub", "reconcile"),
    "guard": ("os",),
    "http": ("connect", "hub"),
    "instance": ("hub", "server", "reconcile"),
    "keeper": ("os", "proc", "daemon", "reconcile"),
    "knowledge": ("hub", "server", "reconcile"),
    "known": ("reap", "hub", "daemon"),
    "observe": ("hub", "daemon"),
    "pool": ("hub", "connect", "server"),
    "proc": ("os", "proc", "server"),
    "reap": ("reap", "reconcile"),
    "registry": ("reconcile", "hub"),
    "router": ("hub", "connect"),
    "run": ("os", "proc"),
    "serve": ("daemon", "hub", "connect"),
    "session": ("hub", "connect"),
    "shim": ("connect", "hub", "daemon"),
    "survey": ("reap", "os", "daemon"),
    "transport": ("connect", "hub"),
    "wire": ("hub", "connect"),
}
# What only repeats, and what takes the whole machine.
_LEFT_OUT = re.compile(r"^(Storm/|As/ThreeHundred|ManySessions|FullProcessTable|BadLuckSurvey.Five)|AsOrdinaryUser")


def run_apart(tests, jobs, seconds, record=False):
    """[[filter, passed, reached, words], …] of tests given as (program, filter); stops at the first failure."""
    if not tests:
        return []
    asked = {"tests": [[str(program), chosen] for program, chosen in tests], "jobs": jobs, "seconds": seconds}
    process = subprocess.Popen(
        [str(APART), str(BUILD), sys.executable, "-B", str(APART.parent / "inside.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment(),
        start_new_session=True,
    )
    try:
        rounds = (len(tests) + jobs - 1) // jobs
        output, words = process.communicate(json.dumps(asked | {"record": record}), timeout=seconds * rounds + 60)
    except subprocess.TimeoutExpired:
        return [[tests[0][1], False, [], "no end"]]
    finally:
        if process.poll() is None:
            _end(process)
    if process.returncode != 0:
        sys.exit(f"mutants: tests cannot be run apart: {words.strip()}")
    return json.loads(output)


def _end(process):
    """Ends the group of `apart`; what it has started dies with its process namespace."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def listed(program):
    """The tests of a program by suite."""
    output = subprocess.run([str(program), "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suites = {}
    for line in output.splitlines():
        name = line.split("#")[0].rstrip()
        if name.endswith(".") and not name.startswith(" "):
            suite = suites.setdefault(name, [])
        elif name.startswith("  "):
            suite.append(name.strip())
    return suites


def _across(recorded, number):
    """The tests that come across a mutant, those first that come across few."""
    return [test for test, reached in sorted(recorded.items(), key=lambda item: len(item[1])) if number in reached]


def _short(test):
    return Path(test[0]).name.removesuffix("_tests")


class Trial:
    def __init__(self, programs, jobs, lock, say):
        self._programs, self._jobs, self._lock, self._say = programs, jobs, lock, say
        self._os_jobs = 4 * jobs  # they wait most of the time
        self._units = {}  # {suite's filter: numbers that it comes across}
        self._os = {}  # {(program, test): numbers}
        self._integration = {}  # the same, of files
        self._useless = set()  # tests that fail here without a mutant

    def record_units(self):
        """Which unit tests come across which mutant. They must pass; returns the words of one that does not."""
        tests = [(UNIT, f"{suite}*") for suite in listed(UNIT)]
        switch(self._programs, RECORD)
        ends = run_apart(tests, self._jobs, _UNIT_SECONDS, record=True)
        self._units = {chosen: set(reached) for chosen, _, reached, _ in ends}
        return next((words for _, passed, _, words in ends if not passed), None)

    def record_os(self, folders):
        """Which tests with real processes come across which mutant, of all that are for these directories."""
        wanted = {program for folder in folders for program in OS_TESTS[folder]}
        tests = [test for test in self._all_os() if _short(test) in wanted and not _LEFT_OUT.search(test[1])]
        self._os = self._recorded(tests, self._os_jobs, _OS_SECONDS)

    def record_integration(self):
        install = "what=mutants caller=$PWD packages=$PWD; . ./prepare.sh"
        subprocess.run(["sh", "-euc", install], cwd=INTEGRATION.parent, check=True)
        tests = [(INTEGRATION, path.name) for path in sorted(INTEGRATION.parent.glob("*.test.mjs"))]
        self._integration = self._recorded(tests, 1, _INTEGRATION_SECONDS)

    def _recorded(self, tests, jobs, seconds):
        by_name = {name: program for program, name in tests}
        found = {}
        switch(self._programs, RECORD)
        for at in range(0, len(tests), _AT_ONCE * jobs // self._os_jobs):
            with self._locked():
                ends = run_apart(tests[at : at + _AT_ONCE * jobs // self._os_jobs], jobs, seconds, record=True)
            for name, passed, reached, _ in ends:
                found[(by_name[name], name)] = set(reached)
                if not passed:
                    self._say(f"{name} fails here without a mutant; it does not count")
                    self._useless.add(name)
        return found

    def unit_test(self, number):
        """The unit test that detects a mutant, or None."""
        suites = [chosen for chosen, reached in self._units.items() if number in reached]
        return self._noticed(number, [(UNIT, ":".join(suites))] if suites else [], self._jobs, _UNIT_SECONDS)

    def os_test(self, number, folder):
        """The test of its directory with real processes that detects a mutant, or None."""
        tests = [test for test in _across(self._os, number) if _short(test) in OS_TESTS[folder]]
        return self._noticed_in_turn(number, tests, self._os_jobs, _OS_SECONDS)

    def integration_test(self, number):
        return self._noticed_in_turn(number, _across(self._integration, number), 1, _INTEGRATION_SECONDS)

    def _noticed_in_turn(self, number, tests, jobs, seconds):
        step = _AT_ONCE * jobs // self._os_jobs
        for at in range(0, len(tests), step):
            some = [test for test in tests[at : at + step] if test[1] not in self._useless]
            with self._locked():
                name = self._noticed(number, some, jobs, seconds)
            if name:
                return name
        return None

    def _noticed(self, number, tests, jobs, seconds):
        """The name of the test that fails with the mutant, fails again, and passes without it."""
        while tests:
            switch(self._programs, number)
            failed = next((end for end in run_apart(tests, jobs, seconds) if not end[1]), None)
            if failed is None:
                return None
            program = next(program for program, chosen in tests if chosen == failed[0])
            name = (_FAILED.findall(failed[3]) or [failed[0]])[-1]
            hangs = failed[3].strip() == "no end"  # which nobody waits for twice
            again = [failed] if hangs else run_apart([(program, name)], 1, seconds)
            switch(self._programs, NONE)
            without = run_apart([(program, name)], 1, seconds)
            if not again[0][1] and without[0][1]:
                return name if len(name) < 120 else f"{Path(program).name}: {failed[3].strip()[-80:]!r}"
            self._say(f"{name} fails without the mutant too, or not again; it does not count")
            self._useless.add(name)
            if (program, name) not in tests:  # one of many in a run
                tests = [(program, f"{chosen}:-{name}" if ":-" not in chosen else f"{chosen}:{name}")
                         for program, chosen in tests]
            tests = [test for test in tests if test[1] != name]
        return None

    def _all_os(self):
        programs = sorted(path for path in OS_PROGRAMS.glob("*_tests") if path.is_file())
        return [(program, f"{s}{t}") for program in programs for s, names in listed(program).items() for t in names]

    @contextlib.contextmanager
    def _locked(self):
        if not self._lock:
            yield
            return
        with open(self._lock, "a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
