"""The rpm package: what is in it, and its life in an empty root: installed, used with a real server, verified, removed."""

import os
import shutil
import subprocess
import unittest

from clean_root import Lab, Root, artifact, files_below
from mcp_client import use_server

NOBODY = 54321  # an ordinary user, whom no /etc/passwd knows


def query(*words):
    done = subprocess.run(["rpm", *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def the_rpm():
    return artifact(f"corral-*-1.{os.uname().machine}.rpm")


class Content(Lab):
    def test_it_has_everything_and_nothing_runs_at_its_installation(self):
        _, listed = query("-qpl", the_rpm())
        for path in (
            "/usr/bin/corral",
            "/usr/libexec/corral/corral-keeper",
            "/usr/share/man/man1/corral.1.gz",
            "/usr/share/man/man1/corral-adopt.1.gz",
            "/usr/share/bash-completion/completions/corral",
            "/usr/share/zsh/site-functions/_corral",
            "/usr/share/fish/vendor_completions.d/corral.fish",
            "/usr/share/doc/corral/copyright",
        ):
            self.assertIn(path, listed.split("\n"))
        self.assertNotIn(".build-id", listed)
        self.assertEqual(query("-qp", "--scripts", "--triggers", the_rpm()), (0, ""))
        _, required = query("-qpR", the_rpm())
        self.assertEqual([line for line in required.split("\n") if line and not line.startswith("rpmlib(")], [])

    def test_a_changed_byte_is_noticed(self):
        self.assertEqual(query("-K", the_rpm())[0], 0)
        changed = self.folder / "changed.rpm"
        data = bytearray(the_rpm().read_bytes())
        data[-5000] ^= 1
        changed.write_bytes(data)

        self.assertNotEqual(query("-K", changed)[0], 0)


class LifeInAnEmptyRoot(Lab):
    def rpm(self, *words):
        code, said = query("--root", self.folder / "root", *words)
        self.assertEqual(code, 0, f"rpm {words}: {said}")
        return said

    def use(self, root, user):
        server = root.server()
        options = {"env": {"PATH": "/usr/bin", "HOME": "/home/user"}}
        use_server(self, root.command("/usr/bin/corral", "run", "--", *server, user=user), **options)
        use_server(self, root.command("/usr/bin/corral", "connect", "--", *server, user=user), **options)
        shown = root.run("/usr/bin/corral", "ps", user=user)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        ended = root.run("/usr/bin/corral", "shutdown", user=user)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.nothing_is_left()

    def test_installed_used_verified_removed(self):
        (self.folder / "root").mkdir()
        root = Root(self.folder / "root")
        os.chown(root.folder / "home/user", NOBODY, NOBODY)
        self.rpm("--initdb")
        before = files_below(root.folder)

        self.rpm("-i", the_rpm())
        self.use(root, user=NOBODY)
        shutil.rmtree(root.folder / "home/user")
        (root.folder / "home/user").mkdir()
        self.use(root, user=None)
        self.assertEqual(self.rpm("-V", "corral"), "")
        self.rpm("-e", "corral")

        kept = ("var/lib/rpm", "tmp", "home/user")  # rpm's own, and the user's
        new = {path for path in files_below(root.folder) - before if not path.startswith(kept)}
        # Empty directories that every distribution has, such as /usr/bin, belong to other packages.
        self.assertEqual({path for path in new if "corral" in path or not (root.folder / path).is_dir()}, set())


if __name__ == "__main__":
    unittest.main()
