#!/usr/bin/env python3
"""Runs every check over the project and fails if one does. `make check` runs this before it compiles."""

import sys

import check_coroutines
import check_includes
import check_paths
import check_requirements
import check_sizes
import check_words
from check_common import parse_root

CHECKS = (check_includes, check_sizes, check_coroutines, check_requirements, check_paths, check_words)


def main(argv=None):
    root = parse_root(__doc__, argv)
    # A list, not a generator: one failing check must not hide what the next ones find.
    results = [check.main(["--root", str(root)]) for check in CHECKS]
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
