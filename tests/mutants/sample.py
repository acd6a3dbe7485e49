#!/usr/bin/env python3
"""Breaks src/ at random places, one at a time, and counts how many of the changes the tests notice.

The seed decides the places: `--mutants 60 --seed 7` twice on the same commit is the same sample. See README.md.
"""

import argparse
import difflib
import json
import random
import signal
import sys
import time

import sites
import switch
from sites import ROOT
from tree import BUILD, TREE, build_with
from trial import Trial

EQUIVALENT = ROOT / "tests" / "mutants" / "equivalent.json"
SURVIVORS = TREE.parent / "survivors"
NOTICED = ("unit", "os", "integration")  # by which tests
HOWS = (*NOTICED, "survived", "equivalent")


def load_files():
    files = {}
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".cc", ".h"):
            name = path.relative_to(ROOT).as_posix()
            files[name] = sites.File(name, path.read_text(encoding="utf-8"))
    return files


def fingerprint(file, change):
    """What names a change without the number of a line: file, function, and the lines before and after."""
    line = file.source.line(change.at)
    last = file.source.line(change.end)
    before = " ".join(" ".join(file.original.split("\n")[line - 1 : last]).split())
    changed = file.applied(change).split("\n")
    after = " ".join(" ".join(changed[line - 1 : line - 1 + 1 + change.new.count("\n")]).split())
    return {"file": file.path, "function": file.function_of(line), "before": before, "after": after}


def draw(files, seed):
    """An endless row of mutants: a line of code by chance, then one of its changes."""
    dice = random.Random(seed)
    lines = [(path, line) for path, file in files.items() for line in file.code_lines()]
    changes = {}
    taken = []
    while True:
        path, line = dice.choice(lines)
        if path not in changes:
            changes[path] = files[path].changes()
        found = changes[path].get(line)
        if not found:
            continue
        kinds = sorted({change.kind for change in found})
        kind = dice.choice(kinds)
        change = dice.choice([change for change in found if change.kind == kind])
        mutant = files[path].mutant(change)
        if mutant is None or any(sites.overlap(mutant, other) for other in taken):
            continue
        taken.append(mutant)
        yield mutant


def difference(file, change):
    old, new = file.original.splitlines(True), file.applied(change).splitlines(True)
    return "".join(difflib.unified_diff(old, new, f"a/{file.path}", f"b/{file.path}", n=3))


def table(results):
    """The score by directory, as lines."""
    folders = {}
    for result in results:
        counts = folders.setdefault(result["folder"], dict.fromkeys(HOWS, 0))
        counts[result["how"]] += 1
    total = {how: sum(counts[how] for counts in folders.values()) for how in HOWS}
    lines = ["directory  mutants" + "".join(f"{how:>13}" for how in HOWS) + "  score"]
    for folder, counts in [*sorted(folders.items()), ("all", total)]:
        numbers = "".join(f"{counts[how]:13}" for how in HOWS)
        lines.append(f"{folder:10} {sum(counts.values()):7}{numbers} {score(counts):5.0f}%")
    return lines, score(total)


def score(counts):
    noticed = sum(counts[how] for how in NOTICED)
    real = noticed + counts["survived"]
    return 100.0 * noticed / real if real else 100.0


def say(text):
    print(f"mutants: {text}", flush=True)


def chosen(files, arguments):
    """The mutants of the sample by number, all compiled; and how many were drawn for it."""
    row = draw(files, arguments.seed)
    drawn, compiled = {}, {}
    while len(compiled) < arguments.mutants:
        missing = arguments.mutants - len(compiled)
        first = len(drawn) + 1
        drawn |= {number: next(row) for number in range(first, first + missing + missing // 8 + 1)}
        compiled = build_with(
            files, compiled | {n: m for n, m in drawn.items() if n >= first}, arguments.jobs, say
        )
    return dict(sorted(compiled.items())[: arguments.mutants])


def known_equivalents():
    entries = json.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    return {tuple(entry[key] for key in ("file", "function", "before", "after")): entry["reason"] for entry in entries}


def first_results(files, mutants):
    """What is known of each mutant before a test runs."""
    reasons = known_equivalents()
    results = []
    for number, mutant in mutants.items():
        file = files[mutant.path]
        mark = fingerprint(file, mutant.change)
        reason = reasons.get(tuple(mark.values()))
        result = {"number": number, "folder": mutant.path.split("/")[1], "line": file.source.line(mutant.change.at)}
        result |= {"kind": mutant.change.kind, "how": "equivalent" if reason else "survived", "by": reason}
        results.append(result | mark)
    return results


def try_all(results, how, look, keep):
    """Runs one kind of tests against all that have survived so far."""
    left = [result for result in results if result["how"] == "survived"]
    for place, result in enumerate(left, 1):
        began = time.monotonic()
        test = look(result)
        if test:
            result |= {"how": how, "by": test}
        keep()
        say(
            f"{place}/{len(left)} {result['file']}:{result['line']} {result['kind']} {result['after']!r}:"
            f" {'detected by ' + test if test else f'passes the {how} tests'} ({time.monotonic() - began:.0f} s)"
        )


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=None, help="default: by chance, and printed")
    parser.add_argument("--score", type=float, default=92.0, help="percent that must be detected (92)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lock", help="a file that is locked while tests with real processes run")
    parser.add_argument("--list", action="store_true", help="only print the sample")
    arguments = parser.parse_args(argv)
    if arguments.mutants < 1 or arguments.jobs < 1:
        parser.error("--mutants and --jobs must be at least 1")
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1 << 31)
    return arguments


def main(argv=None):
    arguments = parse(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is running is ended, too
    say(f"seed {arguments.seed}, {arguments.mutants} mutants")
    files = load_files()
    if arguments.list:
        row = draw(files, arguments.seed)
        for _ in range(arguments.mutants):
            mutant = next(row)
            print(difference(files[mutant.path], mutant.change))
        return 0
    SURVIVORS.mkdir(parents=True, exist_ok=True)
    for old in SURVIVORS.glob("*.diff"):
        old.unlink()
    mutants = chosen(files, arguments)
    trial = Trial(switch.programs(BUILD), arguments.jobs, arguments.lock, say)
    failure = trial.record_units()
    if failure:
        print(failure)
        say("the unit tests fail without any mutant; correct that first")
        return 2
    log = TREE.parent / f"sample-{arguments.seed}.json"
    results = first_results(files, mutants)

    def keep():
        log.write_text(json.dumps(results, indent=1) + "\n")

    try_all(results, "unit", lambda result: trial.unit_test(result["number"]), keep)
    trial.record_os({result["folder"] for result in results if result["how"] == "survived"})
    try_all(results, "os", lambda result: trial.os_test(result["number"], result["folder"]), keep)
    if any(result["how"] == "survived" for result in results):
        trial.record_integration()
        try_all(results, "integration", lambda result: trial.integration_test(result["number"]), keep)
    for result in results:
        if result["how"] == "survived":
            mutant = mutants[result["number"]]
            (SURVIVORS / f"{result['number']}.diff").write_text(difference(files[mutant.path], mutant.change))
    lines, reached = table(results)
    print("\n".join(lines))
    say(f"seed {arguments.seed}: {reached:.1f} % detected, {arguments.score:g} % wanted; {log.relative_to(ROOT)}")
    say(f"what survived: {SURVIVORS.relative_to(ROOT)}/*.diff")
    return 0 if reached >= arguments.score else 1


if __name__ == "__main__":
    sys.exit(main())
