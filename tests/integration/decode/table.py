# SPDX-License-Identifier: BSD-2-Clause
"""The rows of api/functions.tsv as the decode test needs them: a function as its C caller sees it.

The location of an argument (LOCATION) is read only to find which rows are alike: callers pass
arguments by their C type, so that the table's locations are compared with another implementation of
the ABI, libffi's.
"""
import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parents[3] / "api" / "functions.tsv"
COLUMNS = ("layer", "symbol", "family", "operation", "kind", "flags", "roles", "arguments", "note")


@dataclass(frozen=True)
class Argument:
    name: str
    location: str
    type: str


@dataclass(frozen=True)
class Row:
    number: int  # its line in the table: distinct values are made of it
    layer: str
    symbol: str
    family: str
    operation: str  # "-" where nothing watches it
    kind: str
    flags: frozenset
    roles: tuple
    arguments: tuple  # None where they are not recorded
    soname: int  # of that major and before; 0: of all later ones

    def __str__(self):
        return self.symbol + (f"@{self.soname}" if self.soname else "")

    @property
    def base(self):
        """The name without what tells the default stream's meaning."""
        return re.sub(r"_pt[ds][sz]$", "", self.symbol)

    @property
    def per_thread(self):
        """Whether stream 0 is the thread's own: said by the name, not by the table's flags."""
        return self.base != self.symbol

    @property
    def names(self):
        return [argument.name for argument in self.arguments]

    def has(self, *names):
        return any(name in self.names for name in names)

    def type_of(self, name):
        return next(argument.type for argument in self.arguments if argument.name == name)

    @property
    def shape(self):
        """All that the BPF program knows of a row: operation, kind, flags and locations."""
        locations = {argument.name: (argument.location, argument.type)
                  for argument in self.arguments or ()}
        roles = tuple(sorted((role, locations.get(name)) for role, name in self.roles))
        return self.layer, self.operation, self.kind, self.flags, roles


def parse_arguments(text):
    if text == "?":
        return None
    if text == "-":
        return ()
    return tuple(Argument(*part.split(" ", 2)) for part in text.split("; "))


def parse_row(number, line):
    fields = dict(zip(COLUMNS, line.rstrip("\n").split("\t")))
    flags = frozenset() if fields["flags"] == "-" else frozenset(fields["flags"].split())
    soname = next((int(flag[len("soname="):]) for flag in flags if flag.startswith("soname=")), 0)
    roles = () if fields["roles"] == "-" else tuple(tuple(r.split("="))
                                                    for r in fields["roles"].split())
    return Row(number, fields["layer"], fields["symbol"], fields["family"], fields["operation"],
               fields["kind"], flags, roles, parse_arguments(fields["arguments"]), soname)


def rows():
    """All rows, in the table's order."""
    with open(TABLE, encoding="utf-8") as table:
        return [parse_row(number, line) for number, line in enumerate(table, 1)
                if not line.startswith(("#", "layer\t")) and line.strip()]


def in_library(layer, major):
    """By symbol the rows that count in a library of that soname major, by the table's rule."""
    chosen = {}
    for row in rows():
        if row.layer != layer or (row.soname and row.soname < major):
            continue
        other = chosen.get(row.symbol)
        if not other or (row.soname or 1 << 30) < (other.soname or 1 << 30):
            chosen[row.symbol] = row
    return chosen
