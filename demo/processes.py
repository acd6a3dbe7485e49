"""Reads process trees from /proc, finds processes by a mark in their environment, and ends them safely."""
import os
import select
import signal
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    name: str


def read(pid):
    """The process, or None if it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    name = text[text.index("(") + 1:text.rindex(")")]
    state, parent = text[text.rindex(")") + 1:].split()[:2]
    return None if state in "ZX" else Process(pid, int(parent), name)


def all_processes():
    found = (read(int(entry)) for entry in os.listdir("/proc") if entry.isdigit())
    return [process for process in found if process]


def has_mark(pid, mark):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark.encode() in file.read().split(b"\0")
    except OSError:
        return False


def marked(mark):
    """Every process that carries `mark` (NAME=value) in its environment, by pid."""
    found = (process for process in all_processes() if has_mark(process.pid, mark))
    return sorted(found, key=lambda process: process.pid)


def tree(root, mark):
    """(branch, process) of `root` and its descendants, then of marked processes no longer below it."""
    everything = {process.pid: process for process in all_processes()}
    rows = []

    def visit(process, branch, indent):
        rows.append((branch, process))
        children = sorted((p for p in everything.values() if p.parent == process.pid), key=lambda p: p.pid)
        for child in children:
            last = child is children[-1]
            visit(child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))

    if root in everything:
        visit(everything[root], "", "")
    seen = {process.pid for _, process in rows}
    rows += [("", process) for process in marked(mark) if process.pid not in seen]
    return rows


def end(processes, mark, seconds=5.0):
    """SIGKILL to each that still carries the mark. Through a pidfd, so that a recycled pid is never hit."""
    for process in processes:
        try:
            pidfd = os.pidfd_open(process.pid)
        except OSError:
            continue
        try:
            if has_mark(process.pid, mark):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                select.select([pidfd], [], [], seconds)
        except ProcessLookupError:
            pass
        finally:
            os.close(pidfd)


def wait_for_none(mark, seconds):
    """Waits until nothing carries the mark, at most `seconds`. Returns what is left."""
    deadline = time.monotonic() + seconds
    while True:
        left = marked(mark)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)
