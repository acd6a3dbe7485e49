#!/usr/bin/env python3
"""Validates the line that `corral run --report` writes against docs/report-schema.json.

    corral run --report report.json -- some-server; python3 tools/check_report.py report.json
    python3 tools/check_report.py < report.json

Every line of the input must be one valid report. The validator knows the part of JSON Schema 2020-12 that the
file uses; a keyword it doesn't know is an error, so that the schema can't promise what nobody checks.
"""

import argparse
import json
import re
import sys
from pathlib import Path

SCHEMA = Path(__file__).resolve().parent.parent / "docs" / "report-schema.json"
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "examples"}


class SchemaError(Exception):
    """The schema itself asks for something that this validator can't do."""


def _is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    if name not in types:
        raise SchemaError(f"unknown type {name}")
    return isinstance(value, types[name])


def _same(left, right):
    # In Python 1 == True; in JSON they differ.
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _type(value, names, where, _):
    names = names if isinstance(names, list) else [names]
    if not any(_is_type(value, name) for name in names):
        yield f"{where}: {json.dumps(value)} is not of type {' or '.join(names)}"


def _enum(value, allowed, where, _):
    if not any(_same(value, one) for one in allowed):
        yield f"{where}: {json.dumps(value)} is none of {', '.join(map(json.dumps, allowed))}"


def _const(value, wanted, where, _):
    if not _same(value, wanted):
        yield f"{where}: {json.dumps(value)} must be {json.dumps(wanted)}"


def _pattern(value, pattern, where, _):
    if isinstance(value, str) and not re.search(pattern, value):
        yield f"{where}: {json.dumps(value)} does not match {pattern}"


def _minimum(value, least, where, _):
    if _is_type(value, "number") and value < least:
        yield f"{where}: {value} is less than {least}"


def _required(value, names, where, _):
    if isinstance(value, dict):
        yield from (f"{where}: the field {name} is missing" for name in names if name not in value)


def _properties(value, schemas, where, root):
    if isinstance(value, dict):
        for name, schema in schemas.items():
            if name in value:
                yield from validate(value[name], schema, f"{where}.{name}", root)


def _items(value, schema, where, root):
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from validate(item, schema, f"{where}[{index}]", root)


def _min_items(value, least, where, _):
    if isinstance(value, list) and len(value) < least:
        yield f"{where}: needs at least {least} entries"


def _max_items(value, most, where, _):
    if isinstance(value, list) and len(value) > most:
        yield f"{where}: may have at most {most} entries"


def _any_of(value, schemas, where, root):
    if not any(not list(validate(value, schema, where, root)) for schema in schemas):
        yield f"{where}: fits none of the allowed forms"


def _one_of(value, schemas, where, root):
    fits = sum(not list(validate(value, schema, where, root)) for schema in schemas)
    if fits != 1:
        yield f"{where}: fits {fits} of the allowed forms instead of one"


def _reference(value, pointer, where, root):
    schema = root
    for part in pointer.removeprefix("#/").split("/"):
        schema = schema[part]
    yield from validate(value, schema, where, root)


KEYWORDS = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "minimum": _minimum,
    "required": _required,
    "properties": _properties,
    "items": _items,
    "minItems": _min_items,
    "maxItems": _max_items,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "$ref": _reference,
}


def validate(value, schema, where="report", root=None):
    """Yields one sentence per violation."""
    root = schema if root is None else root
    if isinstance(schema, bool):
        if not schema:
            yield f"{where}: is not allowed"
        return
    for keyword, wanted in schema.items():
        if keyword in KEYWORDS:
            yield from KEYWORDS[keyword](value, wanted, where, root)
        elif keyword == "additionalProperties":
            if isinstance(value, dict):
                for name in value.keys() - schema.get("properties", {}).keys():
                    yield from validate(value[name], wanted, f"{where}.{name}", root)
        elif keyword not in ANNOTATIONS:
            raise SchemaError(f"unknown keyword {keyword}")


def _reject_constant(name):
    raise ValueError(f"{name} is not JSON")


def _unique_fields(pairs):
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields


def check_line(line, schema):
    """The violations of one line; empty when it is a valid report."""
    try:
        value = json.loads(line, parse_constant=_reject_constant, object_pairs_hook=_unique_fields)
    except ValueError as error:
        return [f"not JSON: {error}"]
    return list(validate(value, schema))


def main(argv=None):
    keep_lines = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=keep_lines)
    parser.add_argument("file", nargs="?", default="-", help="one report per line ('-': standard input)")
    parser.add_argument("--schema", type=Path, default=SCHEMA)
    arguments = parser.parse_args(argv)
    schema = json.loads(arguments.schema.read_text(encoding="utf-8"))
    name = "stdin" if arguments.file == "-" else arguments.file
    try:
        text = sys.stdin.read() if arguments.file == "-" else Path(arguments.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"{name}:1: can't read it ({error}); give a file in UTF-8 that --report wrote")
        return 1
    lines = text.splitlines()
    failed = not lines
    if not lines:
        print(f"{name}:1: no report; run `corral run --report FILE` first")
    for number, line in enumerate(lines, 1):
        for violation in check_line(line, schema):
            failed = True
            print(f"{name}:{number}: {violation}; make report and docs/report-schema.json agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
