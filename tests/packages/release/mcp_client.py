"""A client of MCP over stdio, as small as it can be: it starts a command, asks, and ends it by closing the pipe."""

import json
import os
import selectors
import subprocess
import time

ANSWER_PATIENCE = 60.0  # seconds: a node server that starts cold on a busy machine


class McpClient:
    def __init__(self, argv, **options):
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )
        self.errors = b""
        self._buffer = b""
        self._next = 0
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(self.process.stdout, selectors.EVENT_READ)
        self._waiting.register(self.process.stderr, selectors.EVENT_READ)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        self._waiting.close()

    def _send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _line(self, end):
        while b"\n" not in self._buffer:
            ready = self._waiting.select(max(0.0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"no answer; stderr: {self.errors.decode('utf-8', 'replace')}")
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if key.fileobj is self.process.stderr:
                    self.errors += data
                    if not data:
                        self._waiting.unregister(self.process.stderr)
                elif not data:
                    raise AssertionError(f"stdout was closed; stderr: {self.errors.decode('utf-8', 'replace')}")
                else:
                    self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def request(self, method, params=None):
        self._next += 1
        self._send({"id": self._next, "method": method, "params": params or {}})
        end = time.monotonic() + ANSWER_PATIENCE
        while True:
            message = self._line(end)
            if message.get("id") == self._next and "method" not in message:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]

    def begin(self):
        offer = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "package-test", "version": "1"}}
        answer = self.request("initialize", offer)
        self._send({"method": "notifications/initialized"})
        return answer

    def end(self):
        """Closes the pipe, and gives the exit code."""
        self.process.stdin.close()
        return self.process.wait(ANSWER_PATIENCE)


def use_server(case, argv, **options):
    """One session with the server 'everything' through a command: its tools, a call, and the end by closing the pipe."""
    with McpClient(argv, **options) as client:
        case.assertEqual(client.begin()["serverInfo"]["name"], "mcp-servers/everything", argv)
        tools = [tool["name"] for tool in client.request("tools/list")["tools"]]
        case.assertIn("echo", tools)
        answer = client.request("tools/call", {"name": "echo", "arguments": {"message": "through a package"}})
        case.assertIn("through a package", answer["content"][0]["text"])
        case.assertEqual(client.end(), 0, client.errors)
