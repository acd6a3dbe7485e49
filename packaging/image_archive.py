"""Writes the container image for packaging/image, in the form of `docker save`.

Such an image is a tar file with the root, its configuration, and a list that names both. All times are that of the commit and
all owners are numbers, so the same tree gives the same bytes. Docker, podman, containerd, buildah and skopeo read it. It
is not in OCI's own form, because that has no health check: podman then ignores one.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

USER = 65532  # what images without a distribution use for "not root"
HOME = "/var/lib/corral"
CONFIGURATION = f"{HOME}/.config/corral"
STATE = f"{HOME}/.local/state/corral"
RUNTIME = f"/run/user/{USER}/corral"
ARCHITECTURES = {"x64": "amd64", "arm64": "arm64"}
SECOND = 1_000_000_000  # the unit of times in a health check

FILES = {
    "etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\ncorral:x:{USER}:{USER}:corral:{HOME}:/sbin/nologin\n",
    "etc/group": f"root:x:0:\ncorral:x:{USER}:\n",
}
# Mode and owner; the directories above them belong to root.
DIRECTORIES = {"tmp": (0o1777, 0)} | {
    path.lstrip("/"): (0o700, USER)
    for path in (HOME, f"{HOME}/.config", CONFIGURATION, f"{HOME}/.local", f"{HOME}/.local/state", STATE, f"/run/user/{USER}", RUNTIME)
}


def root_entries(tree):
    """Path -> (mode, owner, content) of everything in the image; the content of a directory is None."""
    entries = {path: (mode, owner, None) for path, (mode, owner) in DIRECTORIES.items()}
    for path, text in FILES.items():
        entries[path] = (0o644, 0, text.encode())
    for file in tree.rglob("*"):
        if file.is_file():
            entries[f"usr/{file.relative_to(tree)}"] = (0o755 if file.stat().st_mode & 0o100 else 0o644, 0, file.read_bytes())
    for path in list(entries):
        for above in list(Path(path).parents)[:-1]:
            entries.setdefault(str(above), (0o755, 0, None))
    return entries


def write_tar(entries, epoch):
    """A tar file as bytes, in the order of the paths: a directory comes before what is in it."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, (mode, owner, content) in sorted(entries.items()):
            member = tarfile.TarInfo(path)
            member.mode, member.uid, member.gid, member.mtime = mode, owner, owner, epoch
            if content is None:
                member.type = tarfile.DIRTYPE
            else:
                member.size = len(content)
            archive.addfile(member, None if content is None else io.BytesIO(content))
    return whole.getvalue()


def configuration(options, layer):
    labels = {
        "org.opencontainers.image.title": "corral",
        "org.opencontainers.image.description": "Keeps the processes of MCP servers",
        "org.opencontainers.image.licenses": "MIT",
        "org.opencontainers.image.version": options.version,
    }
    created = datetime.datetime.fromtimestamp(options.epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "created": created,
        "architecture": ARCHITECTURES[options.cpu],
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Env": [f"HOME={HOME}", "PATH=/usr/local/bin:/usr/bin:/bin"],
            "Entrypoint": ["/usr/bin/corral"],
            "Cmd": ["serve"],
            "WorkingDir": HOME,
            "Volumes": {CONFIGURATION: {}, STATE: {}},
            "StopSignal": "SIGTERM",
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/corral", "status"],  # without a shell; exits with 0 if the daemon answers
                "Interval": 30 * SECOND,
                "Timeout": 5 * SECOND,
                "StartPeriod": 5 * SECOND,
                "Retries": 3,
            },
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/image"}],
    }


def image(options):
    """The archive. Its parts are named by their content. Only the layer is compressed: podman 4 reads no compressed archive."""
    layer = write_tar(root_entries(options.tree), options.epoch)
    config = json.dumps(configuration(options, layer), sort_keys=True, separators=(",", ":")).encode()
    parts = {}
    for content, ending in ((config, "json"), (gzip.compress(layer, mtime=0), "tar.gz")):
        parts[f"{hashlib.sha256(content).hexdigest()}.{ending}"] = content
    config_name, layer_name = parts
    index = [{"Config": config_name, "RepoTags": [f"corral:{options.version}"], "Layers": [layer_name]}]
    parts["manifest.json"] = json.dumps(index).encode()
    return write_tar({name: (0o644, 0, content) for name, content in parts.items()}, options.epoch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--cpu", choices=ARCHITECTURES, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.write_bytes(image(options))


if __name__ == "__main__":
    main()
