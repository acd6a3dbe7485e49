"""Makes the npm packages for packaging/npm: the small one that people install, and one with the programs for each platform.

What does not depend on the platform (manual pages, completions, licences) is in the small package. No package has a script
that npm would run. `npm pack` gives all files one date, so the same trees give the same bytes.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
WRAPPER = SOURCE / "packaging" / "wrapper"
PROGRAMS = ("bin", "libexec")


def main_package(folder, tree, version, platforms):
    manifest = json.loads((WRAPPER / "package.json").read_text())
    manifest["version"] = version
    manifest["optionalDependencies"] = {f"{manifest['name']}-linux-{cpu}": version for cpu in platforms}
    shutil.copytree(WRAPPER / "bin", folder / "bin")
    shutil.copytree(tree / "share", folder / "share")
    manifest["man"] = sorted(f"./{page.relative_to(folder)}" for page in folder.glob("share/man/man1/*"))
    (folder / "README.md").write_text((WRAPPER / "README.md").read_text().replace("NAME", manifest["name"]))
    return manifest


def platform_package(folder, tree, version, cpu):
    general = json.loads((WRAPPER / "package.json").read_text())
    name = f"{general['name']}-linux-{cpu}"
    for part in PROGRAMS:
        shutil.copytree(tree / part, folder / part)
    (folder / "README.md").write_text(
        f"# {name}\n\nThe program of `{general['name']}` for Linux on {cpu}. npm installs it with that package.\n"
    )
    return {
        "name": name,
        "version": version,
        "description": f"The program of {general['name']} for Linux on {cpu}",
        "license": general["license"],
        "os": ["linux"],
        "cpu": [cpu],
        "preferUnplugged": True,
    }


def pack(folder, manifest, out):
    shutil.copy(SOURCE / "LICENSE", folder)
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
    packed = subprocess.run(
        ["npm", "pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", str(out), str(folder)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "npm_config_loglevel": "error", "npm_config_update_notifier": "false"},
    )
    if packed.returncode != 0:
        sys.exit(f"packaging/npm: npm cannot pack {manifest['name']}: {packed.stderr.strip()}")
    return out / json.loads(packed.stdout)[0]["filename"].replace("@", "").replace("/", "-")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("trees", nargs="+", metavar="CPU=TREE")
    options = parser.parse_args()
    platforms = {cpu: Path(tree) for cpu, _, tree in (word.partition("=") for word in options.trees)}
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folders = {name: Path(scratch) / name for name in ("main", *platforms)}
        for folder in folders.values():
            folder.mkdir()
        first = next(iter(platforms.values()))
        packages = [(folders["main"], main_package(folders["main"], first, options.version, platforms))]
        for cpu, tree in platforms.items():
            packages.append((folders[cpu], platform_package(folders[cpu], tree, options.version, cpu)))
        for folder, manifest in packages:
            print(pack(folder, manifest, options.out.resolve()))


if __name__ == "__main__":
    main()
