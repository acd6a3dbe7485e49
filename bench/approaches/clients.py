"""MCP clients over a child's pipes, a unix socket, a pair of FIFOs and Streamable HTTP: just enough to measure."""

import http.client
import json
import os
import select
import socket
import subprocess
import time

PATIENCE = 100  # seconds for one answer
CHANGED = "notifications/tools/list_changed"


class Client:
    """One session. A subclass sends a message and receives the next one."""

    def __init__(self):
        self.last_id = 0
        self.news = []

    def send(self, message):
        raise NotImplementedError

    def receive(self, deadline):
        raise NotImplementedError

    def request(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self.receive(deadline)
            if message.get("id") == self.last_id and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
            self.news.append(message.get("method"))

    def initialize(self):
        introduction = {"name": "approaches", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": introduction})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def list_tools(self):
        """If there are none yet, waits for the notification that they changed, as real clients do."""
        tools = self.request("tools/list", {})["tools"]
        deadline = time.monotonic() + PATIENCE
        while not tools:
            while CHANGED not in self.news:
                self.news.append(self.receive(deadline).get("method"))
            self.news.clear()
            tools = self.request("tools/list", {})["tools"]
        return tools

    def call(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        return result["content"][0]["text"]

    def close(self):
        pass


class LineClient(Client):
    """Lines over two descriptors."""

    def __init__(self, to, source):
        super().__init__()
        self.to, self.source, self.rest = to, source, b""

    def send(self, message):
        os.write(self.to, json.dumps(message).encode() + b"\n")

    def receive(self, deadline):
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("no answer in time")
            try:
                got = os.read(self.source, 1 << 16)
            except BlockingIOError:  # another client of the same FIFO was quicker
                continue
            if not got:
                raise RuntimeError("the other side ended")
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)


class ChildClient(LineClient):
    def __init__(self, argv, environment):
        self.child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        super().__init__(self.child.stdin.fileno(), self.child.stdout.fileno())

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()


class SocketClient(LineClient):
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        super().__init__(self.socket.fileno(), self.socket.fileno())

    def close(self):
        self.socket.close()


class FifoClient(LineClient):
    def __init__(self, to, source):
        super().__init__(os.open(to, os.O_WRONLY), os.open(source, os.O_RDWR | os.O_NONBLOCK))

    def close(self):
        os.close(self.to)
        os.close(self.source)


class HttpClient(Client):
    """Each request is a POST; the answer is JSON or the first events of a stream."""

    def __init__(self, port):
        super().__init__()
        self.port, self.session, self.answers = port, None, []

    def send(self, message):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        connection.request("POST", "/mcp", json.dumps(message), headers)
        response = connection.getresponse()
        self.session = response.getheader("Mcp-Session-Id") or self.session
        if "id" in message:
            self.answers.append(self.answer_in(response))
        connection.close()

    @staticmethod
    def answer_in(response):
        if "event-stream" not in (response.getheader("Content-Type") or ""):
            return json.loads(response.read())
        for line in response:
            if line.startswith(b"data:") and line[5:].strip():
                message = json.loads(line[5:])
                if "method" not in message:
                    return message
        raise RuntimeError("the stream ended without an answer")

    def receive(self, deadline):
        return self.answers.pop(0)
