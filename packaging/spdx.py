"""Writes what is in the programs as an SPDX document (2.3, JSON), for packaging/sbom.

Two questions to the build answer it. Ninja knows every header that was read for an object of a program. The linker, run
once more into nowhere with --trace, names every file that it takes. dpkg knows the package of each. A file that no package
owns and that is not corral's own is an error, and so is a package whose licence is not in the table below: nothing is left out silently.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
# The licences of what gets into programs, by Debian's source package, read from its copyright file.
LICENCES = {
    "boost1.81": "BSL-1.0",
    "cli11": "BSD-3-Clause",
    "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "linux": "GPL-2.0-only WITH Linux-syscall-note",
    "spdlog": "MIT",
    "sqlite3": "blessing",
    "tomlplusplus": "MIT",
}
# The programs: target of the build, tree and path in it, and what the document calls it.
PROGRAMS = (
    ("bin/corral", "dynamic", "bin/corral", "corral-dynamic"),
    ("static/bin/corral", "static", "bin/corral", "corral-static"),
    ("libexec/corral/corral-keeper", "static", "libexec/corral/corral-keeper", "corral-keeper"),
)
HEADER, ARCHIVE, SHARED = "DEPENDS_ON", "STATIC_LINK", "DYNAMIC_LINK"
MEANING = {
    HEADER: "code from its headers is compiled into the program",
    ARCHIVE: "object files of it are part of the program",
    SHARED: "the program loads it when it starts",
}


def fail(message):
    sys.exit(f"packaging/sbom: {message}")


def output_of(*words, cwd=None):
    done = subprocess.run(words, capture_output=True, text=True, cwd=cwd)
    if done.returncode != 0:
        fail(f"`{shlex.join(words)}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def headers_of(build, target):
    """Every file that the compiler has read for the objects of a program."""
    inputs = set(output_of("ninja", "-t", "inputs", target, cwd=build).split("\n"))
    found, wanted = set(), False
    for line in output_of("ninja", "-t", "deps", cwd=build).split("\n"):
        if line.startswith("    "):
            if wanted:
                found.add(os.path.realpath(build / line.strip()))
        elif line:
            wanted = line.partition(": #deps")[0] in inputs
    if not found:
        fail(f"the build does not know which headers '{target}' was made from; build it again from the beginning")
    return found


def linked_files_of(build, target):
    """Every file that the linker takes for a program, apart from what the compiler has just made."""
    commands = output_of("ninja", "-t", "commands", target, cwd=build).strip().split("\n")
    link = next((part for part in commands[-1].split(" && ") if f" -o {target} " in f"{part} "), None)
    if link is None:
        fail(f"the build does not say how '{target}' is linked")
    with tempfile.TemporaryDirectory() as nowhere:
        words = [f"{nowhere}/program" if word == target else word for word in shlex.split(link)]
        traced = output_of(*words, "-Wl,--trace", cwd=build)
    found = set()
    for line in traced.split("\n"):
        name = re.sub(r"^-l\w+ \((.*)\)$", r"\1", line.strip())  # the form of older linkers
        if name and os.path.exists(build / name) and is_code(build / name):
            found.add(os.path.realpath(build / name))
    return found


def is_code(path):
    """Not a text that sends the linker to other files."""
    with open(path, "rb") as file:
        return file.read(4) in (b"\x7fELF", b"!<ar")


def kind_of(path):
    name = os.path.basename(path)
    if re.search(r"\.so(\.\d+)*$", name):
        return SHARED
    return ARCHIVE if name.endswith((".a", ".o", ".c")) else HEADER


class Packages:
    """The packages of Debian that files belong to."""

    def __init__(self, own):
        self.own = own  # directories whose files are corral's
        self.found = {}  # by name: (version, source, architecture)
        self._of_file = {}

    def look_up(self, paths):
        """Asks dpkg once for all of them."""
        foreign = sorted(path for path in paths if not self._is_own(path) and not self._sqlite_of(path))
        answers = {}
        # A merged /usr: the package may have the file under the name without /usr.
        names = {path: [path, path.removeprefix("/usr")] for path in foreign}
        asked = [name for both in names.values() for name in dict.fromkeys(both)]
        done = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True)
        for line in done.stdout.split("\n"):
            package, separator, path = line.partition(": ")
            if separator and not package.startswith("diversion "):
                answers[path] = package.partition(",")[0]
        for path, both in names.items():
            package = next((answers[name] for name in both if name in answers), None)
            if package is None:
                fail(f"'{path}' got into the program, and no Debian package has it. Build with the libraries of Debian")
            self._of_file[path] = self._describe(package)

    def of(self, path):
        """The name of the package, or nothing for corral's own files."""
        if self._is_own(path):
            return None
        return self._sqlite_of(path) or self._of_file[path]

    def _is_own(self, path):
        return self._sqlite_of(path) is None and any(path.startswith(f"{folder}/") for folder in self.own)

    def _sqlite_of(self, path):
        """SQLite from Debian's source package: packaging/sqlite-source has written its version beside it."""
        version = Path(path).parent / "package"
        if not os.path.basename(path).startswith("sqlite3.") or not version.is_file():
            return None
        self.found["sqlite3-source"] = (version.read_text().strip(), "sqlite3", "source")
        return "sqlite3-source"

    def _describe(self, package):
        form = "${Package}\\t${Version}\\t${source:Package}\\t${Architecture}"
        name, version, source, architecture = output_of("dpkg-query", "-W", "-f", form, package).split("\t")
        self.found[name] = (version, source, architecture)
        return name


def identifier(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def described_package(name, version, source, architecture):
    if source not in LICENCES:
        fail(f"the licence of Debian's '{source}' is not in packaging/spdx.py: read its copyright file and add it")
    debian_name = "sqlite3" if name == "sqlite3-source" else name
    locator = f"pkg:deb/debian/{debian_name}@{version.replace(':', '%3A').replace('+', '%2B')}?arch={architecture}"
    return {
        "SPDXID": identifier(name),
        "name": debian_name,
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": f"from Debian's source package {source}",
        "licenseConcluded": LICENCES[source],
        "licenseDeclared": LICENCES[source],
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator},
        ],
    }


def described_file(path, tree, name):
    data = (tree / path).read_bytes()
    digests = {kind: hashlib.new(kind.lower(), data).hexdigest() for kind in ("SHA1", "SHA256")}
    return {
        "SPDXID": f"SPDXRef-File-{name}",
        "fileName": f"./{name}/{path}",
        "fileTypes": ["BINARY"],
        "checksums": [{"algorithm": kind, "checksumValue": value} for kind, value in digests.items()],
        "licenseConcluded": "NOASSERTION",
        "licenseInfoInFiles": ["NOASSERTION"],
        "copyrightText": "NOASSERTION",
    }


def own_package(version, files):
    checksums = sorted(file["checksums"][0]["checksumValue"] for file in files)
    code = hashlib.sha1("".join(checksums).encode()).hexdigest()
    return {
        "SPDXID": identifier("corral"),
        "name": "corral",
        "versionInfo": version,
        "supplier": "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": code},
        "hasFiles": [file["SPDXID"] for file in files],
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "MIT",
        "licenseInfoFromFiles": ["NOASSERTION"],
        "copyrightText": (SOURCE / "LICENSE").read_text().split("\n")[2],
        "primaryPackagePurpose": "APPLICATION",
    }


def parts_of_programs(build):
    """(name of the program, relationship, package) of all programs, and the packages."""
    packages = Packages([str(SOURCE), str(build)])
    files = {name: headers_of(build, target) | linked_files_of(build, target) for target, _, _, name in PROGRAMS}
    packages.look_up(set().union(*files.values()))
    parts = {(name, kind_of(path), packages.of(path)) for name, paths in files.items() for path in paths}
    return sorted(part for part in parts if part[2] is not None), packages.found


def document(options):
    parts, found = parts_of_programs(options.build.resolve())
    files = [described_file(path, getattr(options, tree), name) for _, tree, path, name in PROGRAMS]
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", identifier("corral"), None)]
    relationships += [(identifier("corral"), "CONTAINS", file["SPDXID"], None) for file in files]
    relationships += [(f"SPDXRef-File-{name}", kind, identifier(part), MEANING[kind]) for name, kind, part in parts]
    created = datetime.datetime.fromtimestamp(options.epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"corral-{options.version}",
        "creationInfo": {"created": created, "creators": ["Tool: corral-packaging-sbom"]},
        "documentDescribes": [identifier("corral")],
        "packages": [own_package(options.version, files)]
        + [described_package(name, *facts) for name, facts in sorted(found.items())],
        "files": files,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other, **({"comment": why} if why else {})}
            for one, kind, other, why in relationships
        ],
    }
    # A name that no other document has: it changes with the content.
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    body["documentNamespace"] = f"https://spdx.org/spdxdocs/corral-{options.version}-{digest[:32]}"
    return body


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("--build", "--dynamic", "--static", "--out"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    options = parser.parse_args()
    options.out.write_text(json.dumps(document(options), indent=1) + "\n")


if __name__ == "__main__":
    main()
