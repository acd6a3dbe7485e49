"""The tarball: what is in it, that it is the same each time, and that its program needs nothing but a kernel."""

import hashlib
import json
import os
import pathlib
import re
import tarfile
import unittest

from . import support
from .support import folder, in_root, needs_roots, run, the_package

MOST_BYTES = 6_500_000
NOBODY_KNOWS = 54321  # a uid that no /etc/passwd has


class Content(unittest.TestCase):
    def setUp(self):
        self.file = the_package("corral-*-linux-x64.tar.xz")

    def test_it_has_everything_below_one_directory(self):
        with tarfile.open(self.file) as archive:
            members = {member.name: member for member in archive.getmembers()}
        top = self.file.name.removesuffix(".tar.xz")
        self.assertEqual({name.split("/")[0] for name in members}, {top})
        for name in ("bin/corral", "libexec/corral/corral-keeper"):
            self.assertEqual(members[f"{top}/{name}"].mode, 0o755, name)
        for name in ("share/man/man1/corral.1.gz", "share/man/man1/corral-run.1.gz", "share/doc/corral/copyright",
                     "share/doc/corral/README", "share/doc/corral/CHANGELOG", "share/zsh/site-functions/_corral",
                     "share/bash-completion/completions/corral", "share/fish/vendor_completions.d/corral.fish"):
            self.assertEqual(members[f"{top}/{name}"].mode, 0o644, name)
            self.assertGreater(members[f"{top}/{name}"].size, 50, name)
        self.assertEqual({(member.uid, member.gid) for member in members.values()}, {(0, 0)})
        self.assertEqual(len({member.mtime for member in members.values()}), 1, "all files have the time of the commit")
        self.assertLessEqual(members[f"{top}/bin/corral"].size, MOST_BYTES)

    def test_it_is_the_same_each_time(self):
        # Not the one in dist/, which may be of an earlier commit.
        with folder() as first, folder() as second:
            made = [run(support.PACKAGING / "tarball", support.BUILD, place, "x64").stdout.strip() for place in (first, second)]
            one, other = (pathlib.Path(file).read_bytes() for file in made)
            self.assertEqual(hashlib.sha256(one).hexdigest(), hashlib.sha256(other).hexdigest())

    def test_the_documented_command_removes_all_that_it_installed(self):
        page = (support.ROOT / "docs" / "install.md").read_text(encoding="utf-8")
        (line,) = [line for line in page.splitlines() if line.startswith("tar -tf ")]
        with folder() as home:
            installed = home / ".local"
            installed.mkdir()
            (installed / "mine").write_text("mine")
            run("tar", "-C", installed, "--strip-components=1", "-xf", self.file)
            self.assertIn("corral", run(installed / "bin" / "corral", "version").stdout)

            named = re.sub(r"corral-\S+\.tar\.xz", "'" + str(self.file) + "'", line)
            run("sh", "-c", named, env={"HOME": str(home), "PATH": os.environ["PATH"]})

            self.assertEqual([path.name for path in installed.rglob("*") if path.is_file()], ["mine"])

    def test_another_processor_is_refused(self):
        with folder() as place:
            refused = run(support.PACKAGING / "tarball", support.BUILD, place, "arm64", ok=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("is for x64, not for 'arm64'", refused.stdout)
            self.assertEqual(list(place.iterdir()), [])


class BadInput(unittest.TestCase):
    def test_a_directory_that_is_not_a_build_is_named(self):
        with folder() as place:
            for words in (["stage", place, place / "out"], ["deb", place, place / "out"], ["tarball", place, place / "out", "x64"]):
                refused = run(support.PACKAGING / words[0], *words[1:], ok=False)
                self.assertNotEqual(refused.returncode, 0, words)
                self.assertIn(str(place), refused.stdout)
                self.assertRegex(refused.stdout, r"make one with `cmake --preset release`|Type: make static")

    def test_a_build_that_was_interrupted_is_named(self):
        with folder() as place:
            (place / "CMakeCache.txt").write_text("CMAKE_PROJECT_VERSION:STATIC=1.2.3\n")
            refused = run(support.PACKAGING / "stage", place, place / "out", ok=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(f"there is no '{place}/bin/corral': the build is not complete", refused.stdout)

    def test_a_time_that_is_not_a_number_is_refused(self):
        with folder() as place:
            refused = run("cmake", "-S", support.ROOT, "-B", place, "-G", "Ninja", ok=False,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "yesterday"})
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("SOURCE_DATE_EPOCH is 'yesterday'", refused.stdout)

    def test_a_directory_with_other_files_is_left_alone(self):
        with folder() as place:
            (place / "mine").write_text("mine")
            refused = run(support.PACKAGING / "stage", support.BUILD, place, ok=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("is not empty", refused.stdout)
            self.assertEqual([path.name for path in place.iterdir()], ["mine"])


@needs_roots
class EmptyRoot(unittest.TestCase):
    """A root with the content of the tarball, /proc and /tmp: no library, no shell, no /etc."""

    def setUp(self):
        place = folder()
        self.root = place.__enter__()
        self.addCleanup(place.__exit__, None, None, None)
        self.root.chmod(0o755)
        run("tar", "-C", self.root, "--strip-components=1", "-xf", the_package("corral-*-linux-x64.tar.xz"))
        for name in ("proc", "tmp", "dev"):
            (self.root / name).mkdir()

    def test_it_says_what_it_is(self):
        done = in_root(self.root, 'chroot "$root" /bin/corral --version -v --json')
        facts = json.loads(done.stdout)
        self.assertEqual(facts["program"]["linked"], "static")
        self.assertEqual(facts["program"]["sqlite"], "source")
        self.assertIn("relro", facts["program"]["hardening"])

    def test_run_keeps_a_server_and_proves_its_end(self):
        done = in_root(self.root, 'chroot "$root" /bin/corral run --report - -- /bin/corral version </dev/null')
        self.assertIn('"survivors":[],"leaked":false', done.stdout)
        self.assertIn('"proof":"echild"', done.stdout)

    def test_a_user_whom_nothing_names_needs_no_home(self):
        # The call that finds a home directory is the one that crashes in other static programs.
        done = in_root(self.root, f'env -u HOME chroot --userspec={NOBODY_KNOWS}:{NOBODY_KNOWS} "$root" /bin/corral doctor')
        self.assertIn("No MCP server is running here", done.stdout)

    def test_nor_does_one_on_a_machine_with_plug_ins_for_names(self):
        program = self.root / "bin" / "corral"
        environment = {name: value for name, value in os.environ.items() if name != "HOME"}
        done = run(program, "doctor", "--json", user=NOBODY_KNOWS, group=NOBODY_KNOWS, extra_groups=[], cwd="/",
                   env=environment, ok=False)
        self.assertIn(done.returncode, (0, 1), done.stdout)  # 1: something leaked on this machine
        self.assertIn('"schema":1', done.stdout)

    def test_connect_starts_a_daemon_that_answers_and_ends(self):
        done = in_root(self.root, """
            export HOME=/tmp
            chroot "$root" /bin/corral serve --background
            chroot "$root" /bin/corral call corral get_server_info
            chroot "$root" /bin/corral ps
            chroot "$root" /bin/corral shutdown
            for one in "$root"/proc/[0-9]*; do ! grep -q corral "$one/comm" || { cat "$one/comm"; exit 9; }; done
        """)
        self.assertIn('"current_pid"', done.stdout)
        self.assertIn("ended ", done.stdout)

    def test_without_dev_serve_says_what_is_missing(self):
        done = in_root(self.root, 'HOME=/tmp chroot "$root" /bin/corral serve --background', ok=False, dev=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("cannot open '/dev/null': No such file or directory", done.stdout)
        self.assertNotIn("@janitor", done.stdout)

    def test_without_dev_run_works(self):
        done = in_root(self.root, 'chroot "$root" /bin/corral run --report - -- /bin/corral version </dev/null', dev=False)
        self.assertIn('"survivors":[],"leaked":false', done.stdout)


if __name__ == "__main__":
    unittest.main()
