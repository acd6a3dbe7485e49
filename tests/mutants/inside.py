"""Runs tests inside `apart`.

Reads {"tests": [[program, tests of it], …], "jobs": …, "seconds": …, "record": …} and prints [[tests, passed, numbers of
the mutants that they came across, words], …]. Stops at the first failure unless it records.
"""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

from switch import REACHED

MEMORY = 8 << 30  # bytes of address space: a mutant that takes all memory must not take others with it
# Each test has a list of its own, whatever runs at the same time; afterwards it is copied to where it can be read.
RECORDING = """mount -t tmpfs none "$1" && : >"$2" && chmod 666 "$2" || exit 125
list=$2; copy=$3; shift 3; "$@"; status=$?; cat "$list" >"$copy"; exit "$status" """


def run_one(test, seconds, record):
    program, chosen = test
    command = [program, chosen]
    if os.path.basename(program).endswith("_tests"):
        command = [program, f"--gtest_filter={chosen}", "--gtest_brief=1", *([] if record else ["--gtest_fail_fast"])]
    if os.path.basename(program) == "unit_tests":
        command = ["prlimit", f"--as={MEMORY}", *command]
    copy = tempfile.mktemp(prefix="corral-reached-")
    if record:
        folder = os.path.dirname(REACHED)
        command = ["unshare", "--mount", "sh", "-c", RECORDING, "sh", folder, REACHED, copy, *command]
    # A file, not a pipe: what a test leaves behind would keep a pipe open.
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd="/tmp"
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return chosen, False, [], "no end"
        output.seek(0)
        words = output.read()
    numbers = []
    if record and os.path.exists(copy):
        with open(copy, encoding="ascii") as reached:
            numbers = sorted({int(line) for line in reached.read().split()})
        os.remove(copy)
    return chosen, process.returncode == 0, numbers, words


def what_failed(words):
    """The names of the tests that failed, and the last words."""
    return "\n".join(line for line in words.splitlines() if line.startswith("[  FAILED  ]")) + "\n" + words[-4000:]


def main():
    asked = json.load(sys.stdin)
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):  # in the background they may be ignored
        signal.signal(number, signal.SIG_DFL)
    os.makedirs(os.path.dirname(REACHED), exist_ok=True)
    stop = threading.Event()

    def run(test):
        if stop.is_set():
            return None
        end = run_one(test, asked["seconds"], asked["record"])
        if not end[1] and not asked["record"]:
            stop.set()
        return end

    with concurrent.futures.ThreadPoolExecutor(asked["jobs"]) as pool:
        ends = [end for end in pool.map(run, asked["tests"]) if end]
    json.dump([[*end[:3], "" if end[1] else what_failed(end[3])] for end in ends], sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # whatever a test has left behind dies with the namespace


if __name__ == "__main__":
    main()
