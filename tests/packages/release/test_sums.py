"""The sums of a release and their signature, with a key that exists only for this test."""

import os
import subprocess
import unittest

from clean_root import SOURCE, Lab, artifact, dist

KEY = "throw-away@example.com"


class Sums(Lab):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.keys = cls.folder / "keys"
        cls.stranger = cls.folder / "stranger"
        for home in (cls.keys, cls.stranger):
            home.mkdir(mode=0o700)
            cls.addClassCleanup(subprocess.run, ["gpgconf", "--homedir", home, "--kill", "all"], check=True)
        cls.gpg(cls.keys, "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "never")
        public = cls.gpg(cls.keys, "--armor", "--export", KEY).stdout
        cls.gpg(cls.stranger, "--import", input=public)

    @staticmethod
    def gpg(home, *words, ok=True, **options):
        done = subprocess.run(
            ["gpg", "--batch", "--homedir", home, *map(str, words)], capture_output=True, text=True, **options
        )
        if ok and done.returncode != 0:
            raise AssertionError(done.stderr)
        return done

    def setUp(self):
        self.place = self.folder / self.id().rpartition(".")[2]
        self.place.mkdir()
        for name in ("one.tar", "two.rpm"):
            (self.place / name).write_text(name)

    def sums(self, *key):
        variables = {**os.environ, "GNUPGHOME": str(self.keys)}
        return subprocess.run([SOURCE / "packaging/sums", self.place, *key], env=variables, capture_output=True, text=True)

    def check(self):
        return subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=self.place, capture_output=True).returncode

    def verify(self):
        signature, signed = self.place / "SHA256SUMS.asc", self.place / "SHA256SUMS"
        return self.gpg(self.stranger, "--verify", signature, signed, ok=False).returncode

    def test_the_signature_is_good_for_somebody_who_has_the_public_key(self):
        self.assertEqual(self.sums(KEY).returncode, 0)

        self.assertEqual((self.check(), self.verify()), (0, 0))

    def test_a_changed_file_and_a_changed_list_are_noticed(self):
        self.sums(KEY)
        (self.place / "one.tar").write_text("other")
        self.assertNotEqual(self.check(), 0)
        (self.place / "SHA256SUMS").write_text("other")
        self.assertNotEqual(self.verify(), 0)

    def test_an_unknown_key_is_an_error_and_leaves_no_signature(self):
        done = self.sums("nobody@example.com")

        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nobody@example.com", done.stderr)
        self.assertFalse((self.place / "SHA256SUMS.asc").exists())

    def test_an_old_signature_does_not_stay(self):
        self.sums(KEY)
        self.sums()

        self.assertEqual(sorted(path.name for path in self.place.iterdir()), ["SHA256SUMS", "one.tar", "two.rpm"])

    def test_the_sums_of_the_release_name_every_file(self):
        listed = {line.split("  ", 1)[1] for line in artifact("SHA256SUMS").read_text().splitlines()}
        there = {path.name for path in dist().iterdir() if path.is_file()} - {"SHA256SUMS", "SHA256SUMS.asc"}

        self.assertEqual(listed, there)
        self.assertEqual(subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=dist()).returncode, 0)


if __name__ == "__main__":
    unittest.main()
