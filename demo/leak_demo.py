#!/usr/bin/env python3
"""Shows what happens to an MCP server's processes when its client is killed, without corral and with it.

The last two lines of stdout are the result. The exit code is 0 only if it is as expected: the whole tree is
left without corral, and nothing with it.
"""
import argparse
import os
import secrets
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

import processes

HERE = Path(__file__).resolve().parent
MOMENT_S = 2.5  # how long we wait before we count what is left without corral
PATIENCE_S = 15.0  # with corral we wait for the end, and say how long it took: a busy machine may need longer
TREE = {"sh": "wrapper, as in the configuration of many servers",
        "mcp-server": "the MCP server, in the middle of the tool call",
        "mcp-helper": "a helper that it started",
        "mcp-runaway": "a helper that ran away: own session, ignores SIGTERM"}
ROLES = {**TREE,
         "client": "the client; it called a tool and waits for the answer",
         "corral": "corral run: watches the client, copies nothing",
         "corral-keeper": "its keeper: whatever runs away lands here"}


class Screen:
    """Prints with a little colour, or none."""

    CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

    def __init__(self, colour):
        self.colour = colour

    def paint(self, text, *styles):
        if not self.colour or not styles:
            return text
        return f"\033[{';'.join(self.CODES[style] for style in styles)}m{text}\033[0m"

    def line(self, text="", *styles):
        print(self.paint(text, *styles), flush=True)


class Failed(Exception):
    """The demonstration could not be shown; the text says why."""


def wants_colour(choice):
    if choice == "auto":
        return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return choice == "always"


def start_client(prefix, mark):
    server = [sys.executable, str(HERE / "server_tree.py")]
    # `exit $?` keeps the shell there: without it, it would become the server.
    command = [*prefix, "sh", "-c", shlex.join(server) + "; exit $?"]
    environment = {**os.environ, "CORRAL_DEMO_TAG_FOR_SERVER": mark.partition("=")[2]}
    return subprocess.Popen([sys.executable, str(HERE / "client.py"), *command], env=environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def wait_for_word(client, word):
    deadline = time.monotonic() + PATIENCE_S
    while select.select([client.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
        line = client.stdout.readline()
        if line.strip() == word:
            return
        if not line:
            break
    raise Failed(f"the client never got as far as '{word}'")


def show_tree(screen, rows):
    width = max(len(branch) + len(process.name) for branch, process in rows) + 2
    for branch, process in rows:
        pid = screen.paint(f"{process.pid:>8}", "cyan")
        name = screen.paint(branch, "dim") + screen.paint(process.name, "bold")
        pad = " " * (width - len(branch) - len(process.name))
        role = ROLES.get(process.name, "")
        if not branch and process.name in TREE:
            role += f" (parent: {process.parent})"
        screen.line(f"{pid}  {name}{pad}{screen.paint(role, 'dim')}".rstrip())


def count_survivors(screen, mark, expect_none):
    """Waits, prints what is left, returns it."""
    killed_at = time.monotonic()
    if expect_none:
        left = processes.wait_for_none(mark, PATIENCE_S)
    else:
        time.sleep(MOMENT_S)
        left = processes.marked(mark)
    after = f"{time.monotonic() - killed_at:.1f} s later"
    if not left:
        screen.line(f"  {after}, nothing is left.", "green")
        return left
    screen.line(f"  {after}, {len(left)} processes are still there:", "red")
    for process in left:
        screen.line(f"{screen.paint(f'{process.pid:>8}', 'cyan')}  {screen.paint(process.name, 'red')}")
    return left


def act(screen, number, title, prefix, expect_none):
    """One half of the demonstration. Returns the survivors; none of them is left when it returns."""
    mark = "CORRAL_DEMO_TAG=" + secrets.token_hex(16)
    shown = " ".join((["corral", "run", "--"] if prefix else []) + ["sh", "-c", "'python3 server_tree.py'"])
    screen.line()
    screen.line(f"{screen.paint(f'{number}. {title}', 'bold', 'yellow')}   {screen.paint(shown, 'dim')}")
    screen.line()
    client = start_client(prefix, mark)
    try:
        wait_for_word(client, "in-call")
        rows = processes.tree(client.pid, mark)
        missing = set(TREE) - {process.name for _, process in rows}
        if missing:
            raise Failed("these processes never started: " + ", ".join(sorted(missing)))
        show_tree(screen, rows)
        screen.line()
        screen.line(f"  kill -KILL {client.pid}: the client is gone, in the middle of its call.")
        client.kill()
        client.wait()
        return count_survivors(screen, mark, expect_none)
    finally:
        client.kill()
        client.wait()
        processes.end(processes.marked(mark), mark)


def introduce(screen):
    screen.line("What becomes of an MCP server when its client dies?", "bold")
    screen.line()
    screen.line("  A client starts a server through a shell, as a configuration says. The server starts two")
    screen.line("  helpers; one of them forks twice, opens its own session and ignores SIGTERM.")
    screen.line("  Then the client is killed in the middle of a tool call, and we count what is left.")


def conclude(screen):
    screen.line()
    screen.line("Next: put `corral run --` before a server in your client's configuration; examples/", "dim")
    screen.line("shows how. Nothing else changes: the server keeps the client's own pipes.", "dim")
    screen.line("What has leaked here already: build/release/bin/corral doctor", "dim")
    screen.line()


def result(name, survivors):
    pids = ", ".join(str(process.pid) for process in survivors)
    return f"{name}: survivors=[{pids}] leaked={'true' if survivors else 'false'}"


def main():
    parser = argparse.ArgumentParser(description="Shows what a killed client leaves behind.")
    parser.add_argument("--corral", required=True, metavar="PATH", help="the corral program")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    options = parser.parse_args()
    if not os.access(options.corral, os.X_OK):
        parser.error(f"--corral: no program at {options.corral}; build it first")
    screen = Screen(wants_colour(options.color))

    introduce(screen)
    without = act(screen, 1, "Without corral", [], expect_none=False)
    screen.line("  (ended now, by pid, to leave your machine as it was)", "dim")
    corral = str(Path(options.corral).resolve())
    with_corral = act(screen, 2, "With corral", [corral, "run", "--"], expect_none=True)
    conclude(screen)
    # Without colour and without anything after them: scripts read these two.
    screen.line(result("without corral", without))
    screen.line(result("with corral", with_corral))
    as_expected = {process.name for process in without} == set(TREE) and not with_corral
    return 0 if as_expected else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"leak_demo: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
