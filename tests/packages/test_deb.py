"""The Debian package: what is in it, what lintian says, that it is the same each time, and its life on a machine."""

import hashlib
import os
import pathlib
import re
import shutil
import unittest

from . import support
from .support import folder, in_root, needs_roots, run, the_package

MOST_BYTES = 5_600_000


class Content(unittest.TestCase):
    def setUp(self):
        self.file = the_package("corral_*_amd64.deb")

    def field(self, name):
        return run("dpkg-deb", "-f", self.file, name).stdout.strip()

    def test_its_fields_say_what_it_needs(self):
        self.assertEqual(self.field("Package"), "corral")
        self.assertEqual(self.field("Architecture"), "amd64")
        self.assertRegex(self.field("Version"), r"^\d+\.\d+\.\d+-1$")
        self.assertRegex(self.field("Depends"), r"libc6 \(>= 2\.\d+\)")
        self.assertRegex(self.field("Depends"), r"libsqlite3-0 \(>= 3\.")
        # The program is newer than the C library that it needs, so that it also runs on older systems.
        needed = re.search(r"libc6 \(>= 2\.(\d+)\)", self.field("Depends"))
        self.assertLessEqual(int(needed[1]), 35)

    def test_it_runs_nothing_when_it_is_installed(self):
        members = run("dpkg-deb", "--ctrl-tarfile", self.file, encoding="latin-1").stdout
        for script in ("preinst", "postinst", "prerm", "postrm", "config", "triggers"):
            self.assertNotIn(f"./{script}", members)
        self.assertIn("./md5sums", members)

    def test_its_files_are_where_debian_has_them(self):
        listed = run("dpkg-deb", "-c", self.file).stdout
        sizes = {}
        for line in listed.splitlines():
            mode, owner, size, _, _, name = line.split(maxsplit=5)
            self.assertEqual(owner, "root/root", line)
            sizes[name] = (mode, int(size))
        self.assertEqual(sizes["./usr/bin/corral"][0], "-rwxr-xr-x")
        self.assertEqual(sizes["./usr/libexec/corral/corral-keeper"][0], "-rwxr-xr-x")
        self.assertLessEqual(sizes["./usr/bin/corral"][1], MOST_BYTES)
        for name in ("man/man1/corral.1.gz", "zsh/vendor-completions/_corral", "bash-completion/completions/corral",
                     "fish/vendor_completions.d/corral.fish", "doc/corral/copyright", "doc/corral/changelog.Debian.gz",
                     "doc/corral/changelog.gz", "doc/corral/README.md"):
            self.assertIn(f"./usr/share/{name}", sizes)

    def test_it_is_the_same_each_time(self):
        # Not the one in dist/, which may be of an earlier commit.
        with folder() as first, folder() as second:
            made = [run(support.PACKAGING / "deb", support.BUILD, place).stdout.strip() for place in (first, second)]
            one, other = (pathlib.Path(file).read_bytes() for file in made)
            self.assertEqual(hashlib.sha256(one).hexdigest(), hashlib.sha256(other).hexdigest())

    def test_lintian_has_no_objection_that_is_not_named(self):
        self.assertIsNotNone(shutil.which("lintian"), "lintian is missing; type: apt-get install lintian")
        said = run("lintian", "--fail-on", "error,warning", "--allow-root", self.file, ok=False)
        self.assertEqual(said.returncode, 0, said.stdout)
        self.assertNotIn("unused-override", said.stdout)


def newer(file, place):
    """The same package with a higher version."""
    tree = place / "tree"
    run("dpkg-deb", "-R", file, tree)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"^Version: .*$", "Version: 99.0.0-1", control.read_text(), flags=re.MULTILINE))
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", tree, place / "newer.deb")
    return place / "newer.deb"


@needs_roots
class Life(unittest.TestCase):
    def test_install_use_upgrade_remove_and_purge(self):
        file = the_package("corral_*_amd64.deb")
        with folder() as place:
            root = place / "root"
            sources = run("sh", "-c", '. "$1/common.sh"; debian_sources deb', "sh", support.PACKAGING).stdout
            self.assertTrue(sources, "apt has no sources of this release")
            run(*support.OWN_PROCESSES, "--mount-proc", "mmdebstrap", "--variant=minbase", "--quiet", "", root, "-", input=sources)
            packages = root / "packages"
            packages.mkdir(mode=0o755)
            shutil.copy(file, packages / "first.deb")
            shutil.copy(newer(file, place), packages / "newer.deb")
            shutil.copy(support.ROOT / "tests" / "packages" / "deb_story.sh", packages)
            if os.path.exists("/etc/resolv.conf"):
                shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
            told = in_root(root, 'chroot "$root" sh /packages/deb_story.sh /packages/first.deb /packages/newer.deb')
            self.assertTrue(told.stdout.endswith("STORY OK\n"), told.stdout)


if __name__ == "__main__":
    unittest.main()
