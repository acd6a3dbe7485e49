"""The container image: its parts, and the container that it describes, as process 1 of its own namespace and not as root."""

import gzip
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import tarfile
import unittest
from pathlib import Path

from clean_root import PACKAGES, Lab, Root, artifact, eventually
from mcp_client import use_server

CPU = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]


class Image:
    """The parts of the archive, each of which has to have the hash that it is named by."""

    def __init__(self):
        self.file = artifact(f"corral-*-image-{CPU}.tar")
        with tarfile.open(self.file) as archive:
            parts = {member.name: archive.extractfile(member).read() for member in archive}
        self.named_by_hash = all(
            hashlib.sha256(content).hexdigest() == name.partition(".")[0]
            for name, content in parts.items()
            if name != "manifest.json"
        )
        entry = json.loads(parts["manifest.json"])[0]
        self.tags = entry["RepoTags"]
        self.configuration = json.loads(parts[entry["Config"]])
        self.config = self.configuration["config"]
        self.layer_bytes = gzip.decompress(parts[entry["Layers"][0]])
        self.layer_hash = hashlib.sha256(self.layer_bytes).hexdigest()
        self.layer = tarfile.open(fileobj=io.BytesIO(self.layer_bytes))
        self.files = {member.name: member for member in self.layer}

    def user(self):
        return int(self.config["User"].partition(":")[0])

    def unpack(self, folder):
        # Not by tarfile: what it keeps of owners and modes depends on the version of Python.
        words = ["tar", "-C", folder, "--numeric-owner", "--same-owner", "-xpf", "-"]
        subprocess.run(words, input=self.layer_bytes, check=True)


class Parts(unittest.TestCase):
    def setUp(self):
        self.image = Image()

    def test_every_part_has_the_hash_that_it_is_named_by(self):
        self.assertTrue(self.image.named_by_hash)
        self.assertEqual(self.image.configuration["rootfs"]["diff_ids"], [f"sha256:{self.image.layer_hash}"])

    def test_no_file_is_more_than_it_has_to_be(self):
        for name, member in self.image.files.items():
            self.assertTrue(member.isfile() or member.isdir(), name)
            self.assertEqual(member.mode & 0o6000, 0, name)
            if name.startswith(("usr", "etc")):
                self.assertEqual((member.uid, member.mode & 0o022), (0, 0), name)

    def test_it_does_not_run_as_root_and_its_volumes_belong_to_its_user(self):
        self.assertGreater(self.image.user(), 0)
        self.assertIn(f":{self.image.user()}:", self.image.layer.extractfile("etc/passwd").read().decode())
        for volume in self.image.config["Volumes"]:
            member = self.image.files[volume.lstrip("/")]
            self.assertEqual((member.uid, member.mode), (self.image.user(), 0o700), volume)

    def test_entry_point_and_health_check_are_programs_of_the_image(self):
        for words in (self.image.config["Entrypoint"], self.image.config["Healthcheck"]["Test"][1:]):
            self.assertTrue(self.image.files[words[0].lstrip("/")].mode & 0o001, words)
        self.assertEqual(self.image.config["Healthcheck"]["Test"][0], "CMD")  # no shell

    def test_skopeo_reads_it(self):
        done = subprocess.run(["skopeo", "inspect", f"docker-archive:{self.image.file}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["Architecture"], {"x64": "amd64", "arm64": "arm64"}[CPU])


class AsAContainer(Lab):
    """The container without a container engine: what the configuration says, in a PID namespace and with another root."""

    def setUp(self):
        self.image = Image()
        folder = self.folder / self.id().rpartition(".")[2]
        folder.mkdir()
        self.image.unpack(folder)
        self.root = Root(folder)
        self.variables = dict(word.split("=", 1) for word in self.image.config["Env"])
        serve = [*self.image.config["Entrypoint"], *self.image.config["Cmd"]]
        start = 'mount -t proc proc "$1/proc" && shift && exec "$@"'
        inside = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", start, "sh", str(self.root.folder)]
        self.engine = subprocess.Popen(
            [*inside, *self.root.command(*serve, user=self.image.user())], env=self.variables, stderr=subprocess.DEVNULL
        )
        self.addCleanup(self._end)
        self.first = eventually("process 1 was not started", self._first)

    def _first(self):
        children = Path(f"/proc/{self.engine.pid}/task/{self.engine.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def _end(self):
        if self.engine.poll() is None:
            self.engine.kill()
        self.engine.wait()

    def command(self, *words):
        """The words as an engine's `exec` runs them."""
        user = str(self.image.user())
        inside = ["nsenter", "--target", str(self.first), "--pid"]
        return [*inside, "/usr/sbin/chroot", f"--userspec={user}:{user}", str(self.root.folder), *words]

    def health(self):
        words = self.image.config["Healthcheck"]["Test"][1:]
        return subprocess.run(self.command(*words), env=self.variables, capture_output=True)

    def test_it_becomes_healthy_serves_and_ends_on_its_stop_signal(self):
        eventually(lambda: f"the health check fails: {self.health()}", lambda: self.health().returncode == 0)
        corral = self.image.config["Entrypoint"][0]
        for way in (["run"], ["connect", "--require-daemon"]):
            use_server(self, self.command(corral, *way, "--", *self.root.server()), env=self.variables)

        os.kill(self.first, getattr(signal, self.image.config["StopSignal"]))

        self.assertEqual(self.engine.wait(60), 0)
        self.nothing_is_left()

    def test_the_health_check_notices_a_daemon_that_is_gone(self):
        eventually(lambda: f"the health check fails: {self.health()}", lambda: self.health().returncode == 0)
        chroot = self.root.command(*self.image.config["Healthcheck"]["Test"][1:], user=self.image.user())
        os.kill(self.first, signal.SIGTERM)
        self.engine.wait(60)

        self.assertNotEqual(subprocess.run(chroot, env=self.variables, capture_output=True).returncode, 0)


class WithPodman(Lab):
    """The same with a container engine, where one works."""

    def podman(self, *words, ok=True):
        own = ["--root", str(self.folder / "images"), "--runroot", str(self.folder / "running"), "--storage-driver", "vfs"]
        engine = ["podman", *own, "--cgroup-manager", "cgroupfs", "--runtime", "runc"]
        done = subprocess.run([*engine, *map(str, words)], capture_output=True, text=True, timeout=120)
        if ok and done.returncode != 0:
            raise AssertionError(f"podman {' '.join(map(str, words))}: {done.stderr}")
        return done

    def test_loaded_started_healthy_used_stopped(self):
        if not (shutil.which("podman") and shutil.which("runc")):
            self.skipTest("podman or runc is not installed")
        self.podman("load", "-i", Image().file)
        tag = Image().tags[0]
        limits = ["--ulimit", "nofile=10000:10000", "--ulimit", "nproc=10000:10000", "--network", "none"]
        name = self.folder.name
        started = self.podman("run", "-d", "--name", name, *limits, "-v", f"{PACKAGES}:/servers:ro", tag, ok=False)
        self.addCleanup(self.podman, "rm", "-f", "-v", name, ok=False)
        if started.returncode != 0:
            self.skipTest(f"podman cannot start a container here: {started.stderr.strip().splitlines()[-1]}")

        eventually("it is not healthy", lambda: self.podman("healthcheck", "run", name, ok=False).returncode == 0)
        once = self.podman("run", "--rm", *limits, tag, "version")
        self.podman("stop", "-t", "20", name)

        self.assertIn("corral", once.stdout)
        self.assertEqual(self.podman("inspect", name, "--format", "{{.State.ExitCode}}").stdout.strip(), "0")
        self.podman("rm", "-v", name)
        self.assertEqual(self.podman("volume", "ls", "-q").stdout, "")


if __name__ == "__main__":
    unittest.main()
