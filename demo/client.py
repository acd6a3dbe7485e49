#!/usr/bin/env python3
"""The client of the demonstration: starts the server in its arguments, opens an MCP session and calls a tool.

It says on stdout how far it is, one word per line, and then waits for an answer that it won't live to see.
"""
import json
import os
import signal
import subprocess
import sys

LIFETIME_S = 60


def main():
    signal.alarm(LIFETIME_S)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C in the demonstration: no stack trace
    with open("/proc/self/comm", "w", encoding="ascii") as comm:
        comm.write("client")
    environment = dict(os.environ)
    # Only processes that the client starts carry the mark: the client itself does not count as a survivor.
    environment["CORRAL_DEMO_TAG"] = environment.pop("CORRAL_DEMO_TAG_FOR_SERVER")
    server = subprocess.Popen(sys.argv[1:], env=environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    send({"id": 1, "method": "initialize",
          "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                     "clientInfo": {"name": "demo", "version": "1"}}})
    if json.loads(server.stdout.readline()).get("id") != 1:
        sys.exit("client: the server did not initialize")
    send({"method": "notifications/initialized"})
    print("initialized", flush=True)

    send({"id": 2, "method": "tools/call",
          "params": {"name": "index", "arguments": {}, "_meta": {"progressToken": 2}}})
    for line in server.stdout:
        message = json.loads(line)
        if message.get("method") == "notifications/progress":
            print("in-call", flush=True)
        elif message.get("id") == 2:
            print("answered", flush=True)


if __name__ == "__main__":
    main()
