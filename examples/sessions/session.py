#!/usr/bin/env python3
"""One session, from its creation to the proof of its end: session.py DIRECTORY SERVER TOOL [ARGUMENTS]"""
import json
import os
import socket
import subprocess
import sys

folder, server, tool, arguments = [*sys.argv[1:], "{}"][:4]


def daemon(verb, **members):
    """One question on the control socket, one answer (docs/protocol/control.md)."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"{folder}/corral.sock")
        line.sendall(json.dumps({"protocol": 3, "verb": verb, **members}).encode() + b"\n")
        reply = json.loads(line.makefile(encoding="utf-8").readline())
    return reply["result"] if reply["reply"] == "result" else sys.exit(reply["text"])


def ask(method, **params):
    """One question to the server, over the pipes of `corral connect`."""
    print(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}), file=shim.stdin, flush=True)
    return next(m for m in map(json.loads, shim.stdout) if m.get("id") == method)["result"]


session = daemon("session-create", servers=[server], owner=os.getpid(), cwd=os.getcwd(),
                 environment=[f"{name}={value}" for name, value in os.environ.items()])["id"]
shim = subprocess.Popen([os.environ.get("CORRAL", "corral"), "connect", "--runtime-dir", folder, "--session", session,
                         server], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "example", "version": "1"})
print(ask("tools/call", name=tool, arguments=json.loads(arguments))["content"][0]["text"])
# No pipe is closed: this is what ends the server, with everything that it started.
print(json.dumps(daemon("session-end", session=session)))
