"""The ways that are compared: how each is brought up from nothing, and how a client of it is made."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time

from clients import ChildClient, FifoClient, HttpClient, SocketClient
from processes import end_marked

HERE = os.path.dirname(os.path.abspath(__file__))


class Lab:
    """What all ways of one pass share."""

    def __init__(self, folder, corral, peers, delay):
        self.folder, self.corral, self.peers, self.delay = folder, corral, peers, delay


class Way:
    """`open` makes a client; the first one finds nothing running. `tag` marks every process of it."""

    name = ""
    lists = True  # whether its clients ask for the tools before they call one
    fast = False  # whether a further client needs no start of the server, so that it can be measured often
    missing = ""  # why it cannot be measured here

    def __init__(self, lab, number):
        self.lab = lab
        self.tag = f"{os.path.basename(lab.folder)}-way{number}"
        self.folder = os.path.join(lab.folder, self.tag)
        os.mkdir(self.folder)
        self.environment = {**os.environ, "CORRAL_BENCH_TAG": self.tag}
        self.server = [sys.executable, os.path.join(HERE, "slow_server.py"), f"--delay={lab.delay}", f"--tag={self.tag}"]
        self.process = None

    def start(self, argv):
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment
        )

    def open(self):
        return ChildClient(self.server, self.environment)

    def settle(self):
        """Before a further client is measured."""

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        end_marked(self.tag)


class Direct(Way):
    name = "direct stdio"


class Fifo(Way):
    name = "FIFO, one client at a time"
    fast = True

    def open(self):
        paths = [os.path.join(self.folder, name) for name in ("in", "out")]
        if not self.process:
            for path in paths:
                os.mkfifo(path)
            self.held = [os.open(path, os.O_RDWR) for path in paths]  # the server never sees the end
            self.process = subprocess.Popen(self.server, stdin=self.held[0], stdout=self.held[1], env=self.environment)
        return FifoClient(*paths)

    def close(self):
        super().close()
        for descriptor in self.held if self.process else []:
            os.close(descriptor)


class Socat(Way):
    name = "socat UNIX-LISTEN,fork EXEC"
    missing = "" if shutil.which("socat") else "socat is not installed"

    def open(self):
        path = os.path.join(self.folder, "s")
        if not self.process:
            self.start(["socat", f"UNIX-LISTEN:{path},fork,backlog=64", "EXEC:" + " ".join(self.server)])
        wait_for(lambda: accepts(path))
        return SocketClient(path)


class McpProxy(Way):
    """Its port opens when its server has answered."""

    name = "mcp-proxy 6.7.19 (npm), HTTP"
    fast = True
    script = "mcp-proxy/dist/bin/mcp-proxy.mjs"

    def __init__(self, lab, number):
        super().__init__(lab, number)
        modules = os.path.join(lab.peers, "node_modules")
        self.node, self.program = os.path.join(modules, "node/bin/node"), os.path.join(modules, self.script)
        self.missing = "" if os.path.exists(self.program) else "npm could not install it"

    def options(self):
        return ["--host", "127.0.0.1", "--port", str(self.port), "--", *self.server]

    def open(self):
        if not self.process:
            self.port = free_port()
            self.start([self.node, self.program, *self.options()])
            wait_for(lambda: listens(self.port))
        return HttpClient(self.port)


class Supergateway(McpProxy):
    name = "supergateway 4.0.0 (npm), HTTP"
    fast = False
    script = "supergateway/dist/index.js"

    def options(self):
        words = ["--stdio", " ".join(self.server), "--outputTransport", "streamableHttp", "--stateful"]
        return [*words, "--port", str(self.port), "--logLevel", "none"]


class Run(Way):
    name = "`corral run`"

    def open(self):
        return ChildClient([self.lab.corral, "run", "--", *self.server], self.environment)


class Connect(Way):
    """A daemon of its own, which the first client starts."""

    policy = {}

    def __init__(self, lab, number):
        super().__init__(lab, number)
        entry = {"command": self.server[0], "args": self.server[1:], "corral": self.policy}
        entry["env"] = {"CORRAL_BENCH_TAG": self.tag}
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"mcpServers": {"slow": entry}}, file)

    def words(self, command):
        where = ["--runtime-dir", os.path.join(self.folder, "run")]
        return [self.lab.corral, command, *where, "--config", os.path.join(self.folder, "config.json")]

    def open(self):
        return ChildClient([*self.words("connect"), "slow"], self.environment)

    def close(self):
        argv = [self.lab.corral, "shutdown", "--runtime-dir", os.path.join(self.folder, "run")]
        subprocess.run(argv, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        super().close()


class Private(Connect):
    name = "`connect`, private, cold (`eager`)"
    policy = {"share": "session", "eager": True}


class Manifest(Connect):
    name = "`connect`, private, from the manifest"
    policy = {"share": "session"}


class Spare(Connect):
    name = "`connect`, private, `warm: 3`"
    policy = {"share": "session", "warm": 3}

    def settle(self):
        time.sleep(self.lab.delay + 1)


class Shared(Connect):
    name = "`connect`, shared"
    policy = {"share": "shared"}
    fast = True


class Call(Connect):
    name = "`corral call`, on a shared server"
    policy = {"share": "shared"}
    lists = False
    fast = True

    def open(self):
        return CommandClient(self)


class CommandClient:
    """A whole command for each call."""

    def __init__(self, way):
        self.way = way

    def call(self, tool, **arguments):
        words = [*self.way.words("call"), "slow", tool, *(f"{key}={value}" for key, value in arguments.items())]
        done = subprocess.run(words, env=self.way.environment, capture_output=True, text=True, timeout=100)
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.startswith("corral call:")]
            raise RuntimeError(said[-1] if said else f"exit code {done.returncode}")
        return done.stdout.strip()

    def close(self):
        pass


ALL = [Direct, Fifo, Socat, Supergateway, McpProxy, Run, Private, Manifest, Spare, Shared, Call]


def wait_for(condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not come up")
        time.sleep(0.002)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def accepts(path):
    """Without a connection of its own, which would start a server: the kernel lists the sockets that listen."""
    with open("/proc/net/unix", encoding="utf-8") as file:
        return any(line.split()[3] == "00010000" and line.rstrip().endswith(path) for line in file)


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
