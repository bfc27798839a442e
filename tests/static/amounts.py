#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints `FILE:LINE: TEXT` for each string of these C files that gives a number a unit of its own.

usage: amounts.py FILE...

Text for people has its amounts from src/base/quantity.h: run.py names the files. A fault is a
format of a number before a unit ("%.1f MiB", "%" PRIu64 " bytes") and a unit of bytes alone, as in
a table of units.
"""
import re
import sys

NUMBER = r'(?:%[-+ #0-9.*]*(?:hh?|ll?|[zjt])?[diufgeE]|%[-+ #0-9.*]*"\s*PRI[diu]64\s*")'
BYTES = r"[kKMGTPE]i?B|B"
UNIT = rf"(?:{BYTES}|[Bb]ytes?|secs?|[mun]?s)(?![A-Za-z_])"
OWN = re.compile(rf'{NUMBER}\s*{UNIT}|"(?:{BYTES})"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def blank(match):
    """A comment's lines without its text."""
    return "\n" * match.group().count("\n")


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            text = COMMENT.sub(blank, file.read())
        for match in OWN.finditer(text):
            print(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}")


if __name__ == "__main__":
    main()
