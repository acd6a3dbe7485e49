"""What the check scripts share: the list of files, the form of a message, and the way they end.

Every check prints `file:line: problem; what to do` for each problem and exits with 1 if there was one.
The standard library of Python 3.11 is all they need, so they run before anything else is installed.
"""

import argparse
import dataclasses
import subprocess
import sys
from pathlib import Path

CPP_SUFFIXES = {".cc", ".cpp", ".h", ".hpp"}
# Made by tools or by package managers; nobody edits them here.
SKIPPED_FOLDERS = {".git", "build", "node_modules", "__pycache__", ".venv", ".cache", "dist"}


@dataclasses.dataclass(frozen=True, order=True)
class Problem:
    path: str
    line: int
    what: str
    fix: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}; {self.fix}"


def project_files(root):
    """All files of the project as sorted paths relative to root, without what is ignored or generated."""
    listed = _files_known_to_git(root)
    if listed is None:
        listed = (path.relative_to(root) for path in root.rglob("*"))
    return sorted(
        path
        for path in listed
        if not SKIPPED_FOLDERS.intersection(path.parts)
        and (root / path).is_file()
        and not (root / path).is_symlink()
    )


def _files_known_to_git(root):
    """Tracked and new files that are not ignored; None where git can't tell (no git, an exported tree)."""
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        answer = subprocess.run(command, capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return [Path(name.decode("utf-8", "surrogateescape")) for name in answer.stdout.split(b"\0") if name]


def files_under(root, folders, suffixes):
    """The project's files below some top-level directories with one of the suffixes."""
    return [path for path in project_files(root) if path.parts[0] in folders and path.suffix in suffixes]


def read_text(path):
    """The text of a file, or None when it is binary."""
    data = path.read_bytes()
    if b"\0" in data:
        return None
    return data.decode("utf-8", "replace")


def parse_root(description, argv=None):
    """The command line that all checks have: only --root, which tests point at a temporary directory."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--root",
        type=Path,
        default=Path(__file__).resolve().parent.parent,
        help="directory of the project to check (default: the one this script lives in)",
    )
    return parser.parse_args(argv).root.resolve()


def finish(name, problems, summary):
    """Prints the problems and one closing line; returns the exit code."""
    for problem in sorted(set(problems)):
        print(problem)
    count = len(set(problems))
    if count:
        print(f"{name}: {count} problem{'s' if count != 1 else ''}", file=sys.stderr)
        return 1
    print(f"{name}: ok, {summary}")
    return 0
