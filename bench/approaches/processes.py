"""The processes that carry a mark, with all that is below them, from /proc. Only such are ever ended."""

import os
import signal
import time


def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def marked(tag):
    """Pids of the living that have the tag in arguments or environment, and of their descendants."""
    mark, own = tag.encode() + b"\0", os.getpid()
    children, found = {}, set()
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        fields = read(pid, "stat").rpartition(b")")[2].split()
        if len(fields) < 2 or fields[0] in b"ZX" or pid == own:
            continue
        children.setdefault(int(fields[1]), []).append(pid)
        words = read(pid, "cmdline")
        if mark in words or tag.encode() + b"/" in words or mark in read(pid, "environ"):
            found.add(pid)
    queue = list(found)
    while queue:
        for child in children.get(queue.pop(), []):
            if child not in found:
                found.add(child)
                queue.append(child)
    return found


def is_server(pid):
    words = read(pid, "cmdline").split(b"\0")
    return len(words) > 1 and words[1].endswith(b"slow_server.py")


def memory(pid):
    """PSS in MB."""
    for line in read(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0


def end_marked(tag):
    """Asks, waits, and kills through a pidfd whatever still carries the mark. Returns how many had to be killed."""
    deadline = time.monotonic() + 5
    while marked(tag) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = marked(tag)
    for pid in left:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        if pid in marked(tag):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)
    return len(left)
