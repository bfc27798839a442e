#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints `FILE:LINE: N columns` for each line of these files that ends beyond column 100.

usage: columns.py FILE...

A tab goes to the next multiple of 8. Some lines may be longer: one that a tool reads as a whole
(NOLINT, a URL), and those of a table between `clang-format off` and `clang-format on`.
"""
import re
import sys

COLUMNS = 100
UNBROKEN = re.compile(r"NOLINT|https?://\S{40}")


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            in_table = False
            for number, line in enumerate(file, 1):
                if "clang-format o" in line:
                    in_table = "clang-format off" in line
                width = len(line.rstrip("\n").expandtabs(8))
                if width > COLUMNS and not in_table and not UNBROKEN.search(line):
                    print(f"{path}:{number}: {width} columns")


if __name__ == "__main__":
    main()
