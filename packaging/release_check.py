"""Checks a release with everything that takes too long for every change, and writes docs/releases/VERSION-checks.md.

    make release-check               every part
    make release-check PART="npm rpm"   only these; the page keeps what it says about the others, if they were of this commit

A part that this machine cannot do is "not run", with the reason. The exit code is 1 if a part failed.
"""

import argparse
import dataclasses
import datetime
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
PACKAGE_TESTS = "tests/packages/release/run"


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    what: str
    command: str
    needs: tuple = ()  # programs
    root: bool = False
    file: str = ""  # what has to be there in the tree


def packages(name, what, *needs):
    return Part(name, what, f"{PACKAGE_TESTS} {name}", ("node", "npm", "unshare", *needs), root=True)


PARTS = (
    Part("deb-tarball", "Debian package and tarball in roots of their own", "tests/packages/run", ("lintian", "mmdebstrap"), True),
    packages("release", "the commands that make a release, and that every package is there", "git"),
    packages("rpm", "rpm: content, life in an empty root", "rpm"),
    packages("npm", "npm: the wrapper with two kinds of node, a registry, npx, adopt"),
    packages("image", "container image: content, as process 1, health check, podman", "skopeo"),
    packages("sbom", "SPDX list: required fields, licences, the programs themselves"),
    packages("sums", "sums and signature, with a key of its own", "gpg"),
    packages("network", "nothing leaves loopback", "strace", "ip", "curl"),
    Part("reproduce", "a second build in another directory", "packaging/reproduce dist", ("git",)),
    Part("arm64", "arm64: unit tests and `corral run` under qemu", "packaging/arm64 build/release-check",
         ("aarch64-linux-gnu-g++", "qemu-aarch64-static")),
    Part("tsan", "unit tests under ThreadSanitizer", "make tsan", ("clang++",)),
    Part("clients", "real clients: before, adopted, released", "CORRAL_BIN=build/release/static/bin/corral tests/clients/run",
         ("node", "npm", "unshare", "setpriv", "script"), root=True, file="build/release/static/bin/corral"),
)


@dataclasses.dataclass
class Result:
    name: str
    outcome: str  # passed, FAILED, not run
    seconds: float
    numbers: str


def obstacle(part):
    """Why this machine cannot do it; empty if it can."""
    if part.root and os.geteuid() != 0:
        return "needs root"
    missing = [program for program in part.needs if shutil.which(program) is None]
    if missing:
        return f"missing here: {', '.join(missing)}"
    return f"there is no {part.file}" if part.file and not (SOURCE / part.file).exists() else ""


def numbers_of(output):
    """What a run says about itself: how many tests there were, and which were left out for which reason."""
    found = []
    for form in (
        r"^Ran (\d+ tests?) in",
        r"^\[==========\] (\d+ tests) from .* ran",
        r"^# (tests \d+)$",
        r"^.{0,4}(tests \d+)$",
        r"^\d+% (tests passed, .*)$",
        r"^(\d+ files are the same in both builds)$",
        r"^(corral run works under qemu)$",
        r"^(NOT TESTED: .*)$",
    ):
        found += re.findall(form, output, re.MULTILINE)
    skipped = re.findall(r"skipped ['\"](.*)['\"]$", output, re.MULTILINE)
    return list(dict.fromkeys(found)), skipped


def run_part(part, log):
    reason = obstacle(part)
    if reason:
        return Result(part.name, "not run", 0, reason)
    start = time.monotonic()
    with open(log, "w", encoding="utf-8") as file:
        code = subprocess.run(["sh", "-c", part.command], cwd=SOURCE, stdout=file, stderr=subprocess.STDOUT).returncode
    seconds = time.monotonic() - start
    output = log.read_text(encoding="utf-8", errors="replace")
    numbers, skipped = numbers_of(output)
    if code != 0:
        print("\n".join(output.splitlines()[-30:]), file=sys.stderr)
        return Result(part.name, "FAILED", seconds, "; ".join(numbers + [f"exit code {code}"]))
    counted = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    if skipped and counted and len(skipped) >= int(counted[1]):
        return Result(part.name, "not run", seconds, "; ".join(dict.fromkeys(skipped)))
    return Result(part.name, "passed", seconds, "; ".join(numbers + [f"not run: {reason}" for reason in dict.fromkeys(skipped)]))


def git(*words):
    return subprocess.run(["git", *words], cwd=SOURCE, capture_output=True, text=True, check=True).stdout.rstrip()


def commit_name():
    """The commit that is checked. The page with the result is not part of what is checked."""
    changes = [line for line in git("status", "--porcelain").split("\n") if line and not line[3:].startswith("docs/releases/")]
    return git("rev-parse", "HEAD") + (" with changes that are not committed" if changes else "")


def earlier_results(page, commit):
    """What the page already says about other parts, if it is about the same commit."""
    text = page.read_text() if page.exists() else ""
    if f"Commit: {commit}\n" not in text:
        return {}
    rows = re.findall(r"^\| (\S+) \| .* \| (passed|FAILED|not run) \| ([\d.]+) s \| (.*) \|$", text, re.MULTILINE)
    return {name: Result(name, outcome, float(seconds), numbers) for name, outcome, seconds, numbers in rows}


def write_page(page, version, commit, results):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
    machine = f"{os.cpu_count()} processors, {os.uname().machine}, Linux {os.uname().release.partition('-')[0]}"
    lines = [
        f"# Checks of {version}",
        "",
        f"Commit: {commit}",
        "",
        f"Made by `make release-check` at {now} UTC on a machine with {machine}. [releasing.md](../releasing.md) says what each part is.",
        "",
        "| part | what | command | result | time | numbers |",
        "|---|---|---|---|---|---|",
    ]
    for part in PARTS:
        result = results.get(part.name, Result(part.name, "not run", 0, "left out"))
        cells = [part.name, part.what, f"`{part.command}`", result.outcome, f"{result.seconds:.0f} s", result.numbers.replace("|", "/")]
        lines.append(f"| {' | '.join(cells)} |")
    sums = SOURCE / "dist" / "SHA256SUMS"
    if sums.exists():
        lines += ["", "The release that was checked:", "", "| file | bytes | SHA-256 |", "|---|---|---|"]
        for line in sums.read_text().splitlines():
            digest, name = line.split("  ", 1)
            lines.append(f"| {name} | {(sums.parent / name).stat().st_size} | `{digest}` |")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(part.name for part in PARTS)}")
    parser.add_argument("--page", type=Path, help="write this page (docs/releases/VERSION-checks.md)")
    options = parser.parse_args()
    known = {part.name for part in PARTS}
    if unknown := [name for name in options.parts if name not in known]:
        parser.error(f"unknown part '{unknown[0]}': use {', '.join(part.name for part in PARTS)}")
    version = re.search(r"project\(corral VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    page = options.page or SOURCE / "docs" / "releases" / f"{version}-checks.md"
    commit = commit_name()
    results = {}
    logs = SOURCE / "build" / "release-check"
    logs.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        if options.parts and part.name not in options.parts:
            continue
        print(f"{part.name}: {part.command}", flush=True)
        results[part.name] = run_part(part, logs / f"{part.name}.log")
        print(f"  {results[part.name].outcome} ({results[part.name].numbers})", flush=True)
        # Another run may have written about other parts meanwhile.
        write_page(page, version, commit, earlier_results(page, commit) | results)
    sys.exit(1 if any(result.outcome == "FAILED" for result in results.values()) else 0)


if __name__ == "__main__":
    main()
