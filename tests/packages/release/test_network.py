"""Nothing phones home: in a network of its own, which has only loopback, corral's commands are traced by the kernel's own
means (strace), and every address that they connect or send to is on loopback or a Unix socket."""

import json
import re
import subprocess
import unittest

from clean_root import EVERYTHING, NODE, PACKAGES, Lab, artifact
from mcp_client import use_server

# Calls that name another end. A netlink socket is the kernel.
CALLS = "connect,sendto,sendmsg,sendmmsg"
FAMILY = re.compile(r"\{sa_family=(AF_\w+)(.*?)\}")
HARMLESS = {"AF_UNIX", "AF_LOCAL", "AF_NETLINK", "AF_UNSPEC"}
ON_LOOPBACK = re.compile(r'"127\.\d+\.\d+\.\d+"|"::1"|"::ffff:127\.')


def outside(trace):
    """The lines of a trace that lead off this machine."""
    return [
        line
        for line in trace.split("\n")
        for family, rest in FAMILY.findall(line)
        if family not in HARMLESS and not ON_LOOPBACK.search(rest)
    ]


class NothingLeavesLoopback(Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        installed = cls.folder / "installed"
        installed.mkdir()
        subprocess.run(["tar", "-C", installed, "-xf", artifact("corral-*-linux-x64.tar.xz")], check=True)
        cls.program = next(installed.glob("*/bin/corral"))
        cls.runtime = cls.folder / "runtime"
        (cls.home / ".cursor").mkdir()
        entry = {"command": str(NODE), "args": [str(PACKAGES / EVERYTHING)]}
        (cls.home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"everything": entry}}))
        cls.number = 0

    def traced(self, *words):
        """The words as a command in a network with nothing but loopback, and where its trace goes."""
        type(self).number += 1
        trace = self.folder / f"trace-{self.number}"
        network = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        strace = ["strace", "-f", "-qq", "-e", f"trace={CALLS}", "-o", str(trace)]
        return [*network, *strace, *map(str, words)], trace

    def assert_quiet(self, trace):
        self.assertEqual(outside(trace.read_text()), [])

    def test_the_check_notices_a_name_that_is_looked_up_and_a_connection(self):
        script = "require('net').connect(80, '192.0.2.1').on('error', () => {})"
        command, trace = self.traced(NODE, "-e", script)

        subprocess.run(command, env=self.environment(), capture_output=True, timeout=60)

        self.assertNotEqual(outside(trace.read_text()), [])

    def test_commands_that_need_no_daemon(self):
        for words in (
            ["version", "-v"],
            ["help"],
            ["doctor"],
            ["adopt", "--dry-run"],
            ["adopt", "--all", "--yes"],
            ["adopt", "--status"],
            ["release", "--all"],
            ["config", "check"],
            ["service", "install", "--dry-run"],
            ["status", "--runtime-dir", self.runtime],
            ["completions", "bash"],
        ):
            with self.subTest(words=words):
                command, trace = self.traced(self.program, *words)
                done = subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=120)
                self.assertTrue(done.stdout + done.stderr, "the command did nothing")
                self.assertNotIn("unknown command", done.stderr)
                self.assert_quiet(trace)

    def test_run_with_a_real_server(self):
        command, trace = self.traced(self.program, "run", "--", NODE, PACKAGES / EVERYTHING)

        use_server(self, command, env=self.environment())

        self.assert_quiet(trace)
        self.nothing_is_left()

    def test_serve_with_http_and_connect(self):
        # One script, because daemon and client have to be in the same network.
        self.runtime.mkdir(mode=0o700)
        script = (
            '"$1" serve --runtime-dir "$2" --port 18765 2>"$2/log" & '
            'until "$1" status --runtime-dir "$2" >/dev/null 2>&1; do sleep 0.1; done; '
            '"$1" connect --require-daemon --runtime-dir "$2" -- "$3" "$4"; code=$?; '
            'curl -s http://127.0.0.1:18765/healthz >&2; '
            '"$1" shutdown --runtime-dir "$2" >&2; wait; exit $code'
        )
        words = ["sh", "-c", script, "sh", self.program, self.runtime, NODE, PACKAGES / EVERYTHING]
        command, trace = self.traced(*words)

        use_server(self, command, env=self.environment())

        self.assertIn('"127.0.0.1"', trace.read_text())  # the health check: the trace sees connections
        self.assert_quiet(trace)
        self.nothing_is_left()


if __name__ == "__main__":
    unittest.main()
