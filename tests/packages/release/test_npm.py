"""The npm packages, installed from a registry: the wrapper is as if it were the program, with a node that can replace itself
by it and with one that cannot, and npm runs and downloads nothing else."""

import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import time
import unittest

from clean_root import EVERYTHING, NODE, PACKAGES, SOURCE, Lab, command_line, dist, eventually, processes_of
from mcp_client import McpClient, use_server
from npm_registry import Registry

MAIN = json.loads((SOURCE / "packaging/wrapper/package.json").read_text())["name"]
HERE_CPU = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
PLATFORM = f"{MAIN}-linux-{HERE_CPU}"
# Ends only when it is killed, and answers nothing: what is left behind by a wrapper that loses it is seen.
POLITE = "while :; do sleep 1; done"
STUBBORN = "trap '' TERM HUP INT; while :; do sleep 1; done"
SHELL = ["sh", "-c"]
OFFER = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"package-test","version":"1"}}'
HELLO = f'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{OFFER}}}\n'.encode()
DAEMON = re.compile(r"^corral-janitor |/corral serve ")
UNTIL_A_SIGNAL_HAS_AN_EFFECT = 1.5  # seconds; that nothing happens cannot be waited for
FAILED = 125


def setUpModule():
    if not NODE.exists():
        raise AssertionError(f"there is no '{NODE}'; tests/packages/release/run installs it")


class NpmLab(Lab):
    """An installation below the directory of the tests, with a home of its own and a registry that has only our packages."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.registry = Registry(sorted(dist().glob("*.tgz")))
        cls.addClassCleanup(cls.registry.close)
        cls.project = cls.folder / "project"
        cls.project.mkdir()
        (cls.project / "package.json").write_text("{}")
        cls.npm("install", "--ignore-scripts", MAIN)
        cls.wrapper = cls.project / "node_modules/.bin/corral"
        cls.program = (cls.project / "node_modules" / PLATFORM / "bin/corral").resolve()

    @classmethod
    def variables(cls, **more):
        """With the pinned npm and node first, and only our registry."""
        return {
            "PATH": f"{NODE.parent}:{PACKAGES}/.bin:/usr/bin:/bin",
            "HOME": str(cls.home),
            "npm_config_registry": cls.registry.url,
            "npm_config_cache": str(cls.folder / "npm-cache"),
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_update_notifier": "false",
            **more,
        }

    @classmethod
    def npm(cls, *words, cwd=None):
        done = subprocess.run(
            ["npm", *words], cwd=cwd or cls.project, env=cls.variables(), capture_output=True, text=True, timeout=120
        )
        if done.returncode != 0:
            raise AssertionError(f"npm {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout


class Installation(NpmLab):
    def test_no_package_has_a_script(self):
        for tarball in sorted(dist().glob("*.tgz")):
            with tarfile.open(tarball) as files:
                manifest = json.load(files.extractfile("package/package.json"))
            self.assertNotIn("scripts", manifest, tarball.name)
            self.assertNotIn("dependencies", manifest, tarball.name)

    def test_only_the_package_of_this_platform_is_installed_and_nothing_else_is_asked_for(self):
        scope = self.project / "node_modules" / MAIN.partition("/")[0]

        installed = sorted(path.name for path in scope.iterdir())

        self.assertEqual(installed, sorted([MAIN.partition("/")[2], PLATFORM.partition("/")[2]]))
        for path in self.registry.asked:
            self.assertIn("corral", path)
            if path.endswith(".tgz"):
                self.assertIn(path.partition("-linux-")[2].partition("-")[0], ("", HERE_CPU))

    def test_the_documented_command_installs_from_the_files_of_a_release(self):
        page = (SOURCE / "docs/install.md").read_text()
        (line,) = [line for line in page.splitlines() if line.startswith("npm install -g ./")]
        prefix = self.folder / "documented"
        variables = self.variables(npm_config_prefix=str(prefix), npm_config_ignore_scripts="true")

        done = subprocess.run(["sh", "-c", line], cwd=dist(), env=variables, capture_output=True, text=True, timeout=120)

        self.assertEqual(done.returncode, 0, done.stderr)
        shown = subprocess.run([prefix / "bin/corral", "version"], env=variables, capture_output=True, text=True)
        self.assertTrue(shown.stdout.startswith("corral "), shown.stderr)

    def test_a_global_installation_has_manual_pages_and_is_gone_after_removal(self):
        prefix = self.folder / "prefix"
        self.npm("install", "-g", "--prefix", str(prefix), "--ignore-scripts", MAIN)
        self.assertTrue((prefix / "share/man/man1/corral.1.gz").exists())
        shown = subprocess.run([prefix / "bin/corral", "--version"], env=self.variables(), capture_output=True, text=True)
        self.assertEqual(shown.returncode, 0, shown.stderr)

        self.npm("uninstall", "-g", "--prefix", str(prefix), MAIN)

        left = [path for path in prefix.rglob("*corral*") if not path.is_dir()]  # npm keeps the empty directory of a scope
        self.assertEqual(left, [])

    def test_npx_runs_a_session_with_a_real_server_and_leaves_nothing(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        words = ["npx", "--yes", MAIN, "run", "--", str(NODE), str(PACKAGES / EVERYTHING)]

        use_server(self, words, cwd=elsewhere, env=self.variables())

        self.nothing_is_left()


class WrapperCases:
    """What must be the same with every node. The classes below say which node it is."""

    stays = None  # whether a node process waits beside the program

    def environment(self, **more):
        return self.variables(**more)

    def start(self, *words, file=None, **options):
        """The wrapper, or another file, with pipes."""
        process = subprocess.Popen(
            [*(file if isinstance(file, list) else [file or self.wrapper]), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            **options,
        )
        self.addCleanup(self._close, process)
        return process

    def _close(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def programs(self):
        """The processes that are the program."""
        found = []
        for pid in processes_of(self.folder):
            try:
                if os.readlink(f"/proc/{pid}/exe") == str(self.program):
                    found.append(pid)
            except OSError:
                pass
        return found

    def started(self):
        """Waits until the server of a session runs; returns the program's pid."""
        servers = (f"sh -c {STUBBORN}", f"sh -c {POLITE}")
        eventually("no server was started", lambda: any(command_line(pid) in servers for pid in processes_of(self.folder)))
        return self.programs()[0]

    def outcome(self, argv, text=""):
        done = subprocess.run(argv, input=text, capture_output=True, text=True, env=self.environment(), timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_says_what_the_program_says(self):
        for words in (["--version"], ["no-such-command"], ["run", "--", "sh", "-c", "cat; echo x >&2; exit 7"]):
            with self.subTest(words=words):
                direct = self.outcome([self.program, *words], "text\n")
                self.assertEqual(self.outcome([self.wrapper, *words], "text\n"), direct)

    def test_a_node_process_stays_only_where_node_cannot_replace_itself(self):
        process = self.start("run", "--", "sh", "-c", STUBBORN)
        program = self.started()

        self.assertEqual(process.pid != program, self.stays)

    def test_signals_end_the_session_as_they_end_that_of_the_program(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            for server in (STUBBORN, POLITE):
                with self.subTest(signal=number.name, server=server):
                    codes = [self.ended_by(number, start, server) for start in (self.program, self.wrapper)]

                    self.assertEqual(codes[1], codes[0])
                    self.assertGreater(codes[0], 128)

    def ended_by(self, number, file, server):
        """The exit code of a session that this signal ends."""
        process = self.start("run", "--", "sh", "-c", server, file=file, start_new_session=True)
        self.started()
        process.send_signal(number)
        code = process.wait(60)
        self.nothing_is_left()
        return code

    def test_a_program_that_is_killed_looks_killed(self):
        process = self.start("run", "--", "sh", "-c", STUBBORN)
        os.kill(self.started(), signal.SIGKILL)

        self.assertEqual(process.wait(60), -signal.SIGKILL)
        self.nothing_is_left()

    def test_a_killed_wrapper_leaves_nothing(self):
        process = self.start("run", "--", "sh", "-c", STUBBORN)
        self.started()

        process.kill()
        process.wait()

        self.nothing_is_left()  # although stdin is still open here

    def test_a_killed_client_leaves_nothing_although_its_pipes_stay_open(self):
        runtime = self.folder / "run-of-daemon"
        for words in (["run"], ["connect", "--runtime-dir", str(runtime)]):
            with self.subTest(words=words):
                client = 'exec 3<&0; "$@" <&3 3<&- & wait'
                process = self.start(client, "sh", self.wrapper, *words, "--", "sh", "-c", STUBBORN, file=SHELL)
                process.stdin.write(HELLO)
                process.stdin.flush()
                self.started()

                process.kill()
                process.wait()

                if words[0] == "connect":
                    self.assert_only_the_daemon_is_left(runtime)
                    self.shut_down(runtime)
                self.nothing_is_left()

    def assert_only_the_daemon_is_left(self, runtime):
        def others():
            lines = [command_line(pid) for pid in processes_of(self.folder)]
            return [line for line in lines if line and not DAEMON.search(line)]

        eventually(lambda: f"the session of a killed client goes on: {others()}", lambda: not others())

    def shut_down(self, runtime):
        """The daemon outlives its clients, not the test."""
        done = subprocess.run(
            [self.program, "shutdown", "--runtime-dir", str(runtime)], env=self.environment(), capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_key_on_the_terminal_does_not_end_the_session(self):
        controller, terminal = os.openpty()
        self.addCleanup(os.close, controller)
        words = ["run", "--", str(NODE), str(PACKAGES / EVERYTHING)]
        # The client's group is in the foreground of the terminal; the pipes lead to the client.
        in_terminal = ["setsid", "--ctty", "sh", "-c", 'exec "$@" <&3 3<&-', "sh", str(self.wrapper), *words]
        with McpClient(
            ["sh", "-c", f'exec 3<&0; exec "$@" </dev/fd/{terminal}', "sh", *in_terminal],
            env=self.environment(),
            pass_fds=[terminal],
        ) as client:
            client.begin()

            # Again and again: a signal that is forwarded is lost if the one of the key is still pending.
            end = time.monotonic() + UNTIL_A_SIGNAL_HAS_AN_EFFECT
            while time.monotonic() < end:
                for key in (b"\x03", b"\x1c"):
                    os.write(controller, key)
                    self.assertTrue(client.request("tools/list")["tools"])
                    time.sleep(0.02)

            self.assertEqual(client.end(), 0)
        os.close(terminal)
        self.nothing_is_left()

    def test_connect_works_with_a_real_server(self):
        runtime = self.folder / "runtime"
        words = ["connect", "--runtime-dir", str(runtime), "--", str(NODE), str(PACKAGES / EVERYTHING)]

        use_server(self, [self.wrapper, *words], env=self.environment())

        self.shut_down(runtime)
        self.nothing_is_left()

    def test_adopt_writes_the_path_of_the_program(self):
        home = self.folder / f"adopting-{self.stays}"
        (home / ".cursor").mkdir(parents=True)
        entry = {"mcpServers": {"everything": {"command": "node", "args": [str(PACKAGES / EVERYTHING)]}}}
        (home / ".cursor/mcp.json").write_text(json.dumps(entry))
        variables = self.environment(HOME=str(home))
        variables["PATH"] = f"{self.wrapper.parent}:{variables['PATH']}"

        done = subprocess.run(
            ["corral", "adopt", "cursor", "--yes"], env=variables, capture_output=True, text=True, timeout=60
        )

        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        written = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["everything"]
        self.assertEqual(written["command"], str(self.program))
        self.assertEqual(written["args"][0], "connect")


class WrapperThatReplacesItself(WrapperCases, NpmLab):
    stays = False


class WrapperThatWaitsBeside(WrapperCases, NpmLab):
    """A node without process.execve, as node is before 22.15."""

    stays = True

    def environment(self, **more):
        older = self.folder / "older.cjs"
        older.write_text("delete process.execve;\n")
        return super().environment(NODE_OPTIONS=f"--require={older}", **more)

    def test_a_signal_that_node_ignores_is_told_by_the_exit_code(self):
        project = self.folder / "ended-by-a-pipe"
        shutil.copytree(self.project, project, symlinks=True)
        (project / "node_modules" / PLATFORM / "bin/corral").write_text("#!/bin/sh\nkill -PIPE $$\n")

        code, _, _ = self.outcome([project / "node_modules/.bin/corral"])

        self.assertEqual(code, 128 + signal.SIGPIPE)


class Faults(NpmLab):
    """What is wrong is said by name, with what to do. Each case has an installation of its own."""

    def broken(self, change, preload=""):
        project = self.folder / self.id().rpartition(".")[2]
        shutil.copytree(self.project, project, symlinks=True)
        change(project / "node_modules")
        options = {}
        if preload:
            (project / "preload.cjs").write_text(preload)
            options["NODE_OPTIONS"] = f"--require={project / 'preload.cjs'}"
        done = subprocess.run(
            [project / "node_modules/.bin/corral", "--version"],
            env=self.variables(**options),
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual((done.returncode, done.stdout), (FAILED, ""), done.stderr)
        return done.stderr

    def assert_names(self, said, *words):
        for word in words:
            self.assertIn(word, said)

    def test_a_missing_platform_package(self):
        said = self.broken(lambda modules: shutil.rmtree(modules / PLATFORM))

        self.assert_names(said, PLATFORM, f"linux-{HERE_CPU}", "--omit=optional", f"npm install {PLATFORM}@")

    def test_the_platform_package_of_another_machine(self):
        other = f"{MAIN}-linux-{'arm64' if HERE_CPU == 'x64' else 'x64'}"

        def change(modules):
            (modules / PLATFORM).rename(modules / other)
            offer = modules / MAIN / "package.json"
            manifest = json.loads(offer.read_text())
            manifest["optionalDependencies"] = {name: manifest["version"] for name in (PLATFORM, other)}
            offer.write_text(json.dumps(manifest))

        self.assert_names(self.broken(change), PLATFORM, other, "another machine", f"npm install {PLATFORM}@")

    def test_a_platform_package_of_another_version(self):
        def change(modules):
            file = modules / PLATFORM / "package.json"
            file.write_text(json.dumps({**json.loads(file.read_text()), "version": "9.9.9"}))

        self.assert_names(self.broken(change), PLATFORM, "9.9.9", f"npm install {PLATFORM}@")

    def test_a_platform_package_without_its_program(self):
        said = self.broken(lambda modules: (modules / PLATFORM / "bin/corral").unlink())

        self.assert_names(said, PLATFORM, "damaged", f"npm install {PLATFORM}@")

    def test_a_platform_that_has_no_package(self):
        said = self.broken(lambda _: None, "Object.defineProperty(process, 'arch', {value: 'riscv64'});")

        self.assert_names(said, "linux-riscv64", f"linux-{HERE_CPU}", "source")


class Adopting(NpmLab):
    def test_npx_adopts_with_a_warning_about_its_cache(self):
        (self.home / ".cursor").mkdir()
        entry = {"mcpServers": {"everything": {"command": "node", "args": ["x.js"]}}}
        (self.home / ".cursor/mcp.json").write_text(json.dumps(entry))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()

        done = subprocess.run(
            ["npx", "--yes", MAIN, "adopt", "cursor", "--dry-run", "--json"],
            env=self.variables(),
            cwd=elsewhere,
            capture_output=True,
            text=True,
            timeout=120,
        )

        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertIn("/_npx/", report["program"])
        self.assertTrue(report["program"].endswith(f"/node_modules/{PLATFORM}/bin/corral"), report["program"])
        self.assertIn("in the cache of npx", " ".join(report["warnings"]))


if __name__ == "__main__":
    unittest.main()
