"""The command that makes a release refuses what could not be made again."""

import subprocess
import unittest

from clean_root import SOURCE, Lab, dist


class Release(Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tree = cls.folder / "tree"
        subprocess.run(["git", "clone", "--quiet", SOURCE, cls.tree], check=True)

    def run_script(self, *words, **variables):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), **variables}
        return subprocess.run([self.tree / "packaging" / words[0], *words[1:]], env=environment, capture_output=True, text=True)

    def test_a_changed_tree_is_refused_by_the_name_of_the_file(self):
        (self.tree / "not-committed").write_text("")

        done = self.run_script("release", self.folder / "out")

        self.assertEqual(done.returncode, 1)
        self.assertIn("not-committed", done.stderr)
        self.assertIn("ALLOW_DIRTY=1", done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_a_directory_with_other_files_is_left_alone(self):
        place = self.folder / "mine"
        place.mkdir()
        for name in ("corral", "corral_0.0.1-1_amd64.deb"):
            (place / name).write_text(name)

        done = self.run_script("release", place, ALLOW_DIRTY="1")

        self.assertEqual(done.returncode, 1)
        self.assertIn("has 'corral', which is not of a release", done.stderr)
        self.assertEqual(len(list(place.iterdir())), 2)

    def test_the_page_with_the_checks_is_not_a_change(self):
        (self.tree / "docs/releases").mkdir(exist_ok=True)
        (self.tree / "docs/releases/new-checks.md").write_text("")
        script = 'source=$1; . "$source/packaging/common.sh"; uncommitted'

        done = subprocess.run(["sh", "-c", script, "release", self.tree], capture_output=True, text=True)

        self.assertEqual((done.returncode, done.stdout.replace("?? not-committed\n", "")), (0, ""), done.stderr)

    def test_a_second_build_needs_the_first(self):
        done = self.run_script("reproduce", self.folder)

        self.assertEqual(done.returncode, 1)
        self.assertIn("make release", done.stderr)

    def test_every_package_of_a_build_is_there_at_least_for_this_processor(self):
        names = {path.name for path in dist().iterdir()}
        for pattern in ("corral_*.deb", "*linux-x64.tar.xz", "*.x86_64.rpm", "*image-x64.tar", "*linux-x64-*.tgz", "*.spdx.json"):
            self.assertEqual(len(list(dist().glob(pattern))), 1, f"{pattern} among {names}")


if __name__ == "__main__":
    unittest.main()
