#!/usr/bin/env python3
"""A small MCP server for trying corral: it keeps notes while it runs, and reports its pid.

Plain stdio, standard library only. Its tools declare their effects (annotations), as a server should.
"""
import json
import os
import sys

NOTES = []
TOOLS = [
    {"name": "add_note", "description": "Keep a note for as long as this process lives.",
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
     "annotations": {"readOnlyHint": False, "destructiveHint": False}},
    {"name": "list_notes", "description": "All notes so far.",
     "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "process", "description": "The process number of this server.",
     "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
]


def call(name, arguments):
    if name == "add_note":
        NOTES.append(str(arguments.get("text", "")))
        return f"kept, {len(NOTES)} so far"
    if name == "list_notes":
        return "\n".join(NOTES) or "no notes yet"
    if name == "process":
        return str(os.getpid())
    raise KeyError(name)


def answer(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-11-25"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": call(params.get("name"), params.get("arguments") or {})}]}
    raise KeyError(method)


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message)
        except KeyError as unknown:
            reply["error"] = {"code": -32601, "message": f"there is no {unknown}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
