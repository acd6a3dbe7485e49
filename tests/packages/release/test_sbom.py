"""The list of what is in the programs, against the required fields of SPDX 2.3, and against the programs themselves."""

import hashlib
import json
import re
import subprocess
import tarfile
import unittest

from clean_root import NODE, PACKAGES, artifact

# What the specification requires (clauses 6 to 8 and 11), and the form of each value.
ID = r"SPDXRef-[A-Za-z0-9.-]+"
NAME = r".+"
EXPRESSION = r"NOASSERTION|NONE|[A-Za-z0-9.+() -]+"
DOCUMENT = {
    "spdxVersion": r"SPDX-2\.3",
    "dataLicense": r"CC0-1\.0",
    "SPDXID": r"SPDXRef-DOCUMENT",
    "name": NAME,
    "documentNamespace": r"https://[^#\s]+",
}
PACKAGE = {
    "SPDXID": ID,
    "name": NAME,
    "versionInfo": NAME,
    "downloadLocation": NAME,
    "licenseConcluded": EXPRESSION,
    "licenseDeclared": EXPRESSION,
    "copyrightText": NAME,
    "supplier": r"(?:Person|Organization): .+|NOASSERTION",
}
FILE = {"SPDXID": ID, "fileName": r"\./.+", "licenseConcluded": EXPRESSION, "copyrightText": NAME}
RELATIONSHIPS = {"DESCRIBES", "CONTAINS", "DEPENDS_ON", "STATIC_LINK", "DYNAMIC_LINK"}
PARSER = "require('spdx-expression-parse')(process.argv[1])"


def problems_of(document):
    """What the specification would not accept."""
    found = []

    def check(thing, rules, where):
        for key, form in rules.items():
            if not isinstance(thing.get(key), str) or not re.fullmatch(form, thing[key]):
                found.append(f"{where}: {key} is {thing.get(key)!r}")

    check(document, DOCUMENT, "document")
    information = document.get("creationInfo", {})
    check(information, {"created": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"}, "creationInfo")
    if not all(re.match(r"(Tool|Person|Organization): ", one) for one in information.get("creators") or [""]):
        found.append("creators")
    for package in document["packages"]:
        check(package, PACKAGE, f"package {package.get('name')}")
        if package.get("filesAnalyzed", True) and not package.get("packageVerificationCode"):
            found.append(f"package {package.get('name')}: no packageVerificationCode")
    for file in document["files"]:
        check(file, FILE, f"file {file.get('fileName')}")
        if "SHA1" not in [one["algorithm"] for one in file.get("checksums", [])]:
            found.append(f"file {file.get('fileName')}: no SHA1")
    ids = [thing.get("SPDXID") for thing in [document, *document["packages"], *document["files"]]]
    found += [f"{one} is there twice" for one in set(ids) if ids.count(one) > 1]
    for relation in document["relationships"]:
        ends = {relation["spdxElementId"], relation["relatedSpdxElement"]}
        if not ends <= set(ids) or relation["relationshipType"] not in RELATIONSHIPS:
            found.append(f"relationship {relation}")
    return found


class Sbom(unittest.TestCase):
    def setUp(self):
        self.document = json.loads(artifact("corral-*-linux-x64.spdx.json").read_text())

    def parts_of(self, file, *kinds):
        ids = {package["SPDXID"]: package["name"] for package in self.document["packages"]}
        return {
            ids[relation["relatedSpdxElement"]]
            for relation in self.document["relationships"]
            if relation["spdxElementId"] == f"SPDXRef-File-{file}" and relation["relationshipType"] in kinds
        }

    def test_it_is_what_the_specification_requires(self):
        self.assertEqual(problems_of(self.document), [])

    def test_the_check_itself_notices_what_is_missing(self):
        for spoil in (
            lambda document: document.pop("documentNamespace"),
            lambda document: document["packages"][1].pop("licenseDeclared"),
            lambda document: document["files"][0].update(checksums=[]),
            lambda document: document["relationships"][-1].update(relatedSpdxElement="SPDXRef-nothing"),
        ):
            document = json.loads(json.dumps(self.document))
            spoil(document)
            self.assertNotEqual(problems_of(document), [])

    def test_every_licence_is_an_expression_that_npms_parser_of_spdx_accepts(self):
        expressions = {package["licenseDeclared"] for package in self.document["packages"]}
        self.assertNotIn("NOASSERTION", expressions)
        for expression in sorted(expressions):
            done = subprocess.run([NODE, "-e", PARSER, expression], capture_output=True, text=True, cwd=PACKAGES / "npm")
            self.assertEqual(done.returncode, 0, f"{expression}: {done.stderr}")

    def test_it_describes_the_program_of_the_tarball(self):
        with tarfile.open(artifact("corral-*-linux-x64.tar.xz")) as archive:
            program = next(member for member in archive if member.name.endswith("/bin/corral"))
            digest = hashlib.sha256(archive.extractfile(program).read()).hexdigest()
        file = next(file for file in self.document["files"] if file["SPDXID"] == "SPDXRef-File-corral-static")
        self.assertIn({"algorithm": "SHA256", "checksumValue": digest}, file["checksums"])

    def test_the_libraries_that_corral_itself_names_are_in_it(self):
        source = {"libboost1.81-dev", "libspdlog-dev", "libfmt-dev", "libcli11-dev", "libtomlplusplus-dev"}
        self.assertLessEqual(source, self.parts_of("corral-static", "DEPENDS_ON"))
        self.assertIn("sqlite3", self.parts_of("corral-static", "DEPENDS_ON", "STATIC_LINK"))
        self.assertLessEqual({"libc6-dev", "libstdc++-12-dev"}, self.parts_of("corral-static", "STATIC_LINK"))
        self.assertEqual(self.parts_of("corral-static", "DYNAMIC_LINK"), set())
        self.assertEqual(self.parts_of("corral-dynamic", "DYNAMIC_LINK"), {"libc6", "libsqlite3-0"})
        self.assertEqual(self.parts_of("corral-keeper", "DYNAMIC_LINK"), set())


if __name__ == "__main__":
    unittest.main()
