#!/usr/bin/env python3
"""An MCP server over stdio that takes --delay SECONDS to start. Legacy era, 29 tools as the seed's server has.

`echo` answers with its text, `count` with how often this process was asked: whether two clients see one row of
numbers shows whether they share its state. It ends with its input, and by itself after five minutes.
"""

import argparse
import json
import signal
import sys
import time

TOOLS = [
    {"name": name, "description": f"The tool {name}", "inputSchema": {"type": "object", "properties": {}}}
    for name in ["echo", "count", *(f"tool_{number}" for number in range(27))]
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--tag", help="only there to be seen in /proc")
    options = parser.parse_args()
    signal.alarm(300)
    time.sleep(options.delay)
    counted = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        method, params = request.get("method"), request.get("params", {})
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        if method == "initialize":
            answer["result"] = {
                "protocolVersion": params.get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "slow", "version": "1"},
            }
        elif method == "tools/list":
            answer["result"] = {"tools": TOOLS}
        elif method == "tools/call":
            counted += params["name"] == "count"
            text = str(counted) if params["name"] == "count" else params["arguments"].get("text", "")
            answer["result"] = {"content": [{"type": "text", "text": text}]}
        elif method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": f"no method {method}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


main()
