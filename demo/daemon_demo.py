#!/usr/bin/env python3
"""Starts the daemon with the notes server, lets three clients use it, and prints what to try next.

The exit code is 0 only if the three really shared one process and the daemon is left running.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = 3


class Client:
    """An MCP client that uses `corral connect`, as an agent or editor uses its servers."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "demo", "version": "1"}})
        self.tell("notifications/initialized")

    def tell(self, method):
        self.send({"method": method})

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.last:
                return message["result"]
        raise SystemExit(f"demo: no answer to {method}")

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def leave(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


def write_configuration(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": {"notes": {
        "command": sys.executable, "args": [str(HERE / "notes_server.py")],
        "corral": {"share": "shared"}}}}, indent=2) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corral", required=True, help="the program to use")
    parser.add_argument("--runtime-dir", help="directory of the daemon's socket (default: the usual one)")
    options = parser.parse_args()
    corral = str(pathlib.Path(options.corral).resolve())
    place = ["--runtime-dir", options.runtime_dir] if options.runtime_dir else []
    configuration = pathlib.Path(corral).parents[1] / "demo" / "config.json"
    write_configuration(configuration)

    print("Starting the daemon with one server, `notes`:", flush=True)
    started = subprocess.run([corral, "serve", "--background", "--replace", "--config", str(configuration), *place])
    if started.returncode != 0:
        return started.returncode
    clients = [Client([corral, "connect", *place, "notes"]) for _ in range(CLIENTS)]
    for number, client in enumerate(clients, 1):
        client.call("add_note", text=f"written by client {number}")
    processes = {client.call("process") for client in clients}
    notes = clients[0].call("list_notes").splitlines()
    print(f"\n{CLIENTS} clients used it at once, through {len(processes)} server process "
          f"(pid {', '.join(sorted(processes))}), and see the same {len(notes)} notes.\n", flush=True)
    subprocess.run([corral, "status", *place], check=True)
    for client in clients:
        client.leave()

    def words(command):
        return " ".join([corral, command, *place])

    print(f"""
The daemon keeps running; `{words("shutdown")}` ends it and everything that it started. Three commands to try:

  {words("ps")}
      what is running, for which clients, and how much it uses; `top` shows this live
  {corral} doctor
      the MCP servers on this machine, and those that have leaked
  {corral} adopt --all --dry-run
      how corral would be put in front of the servers in your clients' files; it changes nothing

`{corral} help` lists all commands, and `make install` installs it.""")
    return 0 if len(processes) == 1 and len(notes) == CLIENTS else 1


if __name__ == "__main__":
    sys.exit(main())
