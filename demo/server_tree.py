#!/usr/bin/env python3
"""A small MCP server over stdio that starts helpers, as many real ones do.

It has one tool, `index`, which takes its time. Before it answers `initialize` it starts an ordinary helper
and one that runs away: it forks twice, opens a session of its own and ignores SIGTERM. Each process ends by
itself after a minute, so that a demonstration that goes wrong leaves nothing for long.
"""
import json
import os
import signal
import sys
import time

LIFETIME_S = 60
CALL_S = 45


def name_this_process(name):
    with open("/proc/self/comm", "w", encoding="ascii") as comm:
        comm.write(name)


def stay():
    # A helper that held the client's pipes would be seen as a hang, not as a leak.
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    signal.alarm(LIFETIME_S)
    while True:
        signal.pause()


def start_helper():
    if os.fork() == 0:
        name_this_process("mcp-helper")
        stay()


def start_runaway():
    read_end, write_end = os.pipe()
    middle = os.fork()
    if middle == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        name_this_process("mcp-runaway")
        os.write(write_end, b".")
        os.close(write_end)
        stay()
    os.close(write_end)
    os.waitpid(middle, 0)
    os.read(read_end, 1)  # it is on its own now
    os.close(read_end)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call_tool(request):
    token = request["params"].get("_meta", {}).get("progressToken")
    send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 0}})
    time.sleep(CALL_S)  # blocking: the end of stdin goes unseen until it is over
    send({"id": request["id"], "result": {"content": [{"type": "text", "text": "indexed"}]}})


def main():
    signal.alarm(LIFETIME_S)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C in the demonstration: no stack trace
    name_this_process("mcp-server")
    start_helper()
    start_runaway()
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "initialize":
            send({"id": request["id"], "result": {"protocolVersion": request["params"]["protocolVersion"],
                                                  "capabilities": {"tools": {}},
                                                  "serverInfo": {"name": "server_tree", "version": "1"}}})
        elif request["method"] == "tools/call":
            call_tool(request)


if __name__ == "__main__":
    main()
