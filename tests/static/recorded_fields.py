#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints `FILE: struct NAME: MEMBER ...` for each member of a recorded structure without a row in
its table, and for each row without a member.

usage: recorded_fields.py FILE...

FILEs are the tables, src/record/*_fields.c: for each `#define T struct NAME` a list of rows. What
the structures have is asked of clang, by the type information that it writes for BPF.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = re.compile(r"^#define T struct (\w+)$(.*?)^#undef T$", re.M | re.S)
LIST = re.compile(r"_fields\[\] = \{(.*?)^\};", re.S | re.M)
ROW = re.compile(r"\b[A-Z]+(?:_[A-Z]+)?\(\s*(\w+)")
INCLUDE = re.compile(r'^#include "[^"]+"$', re.M)
BPFTOOL = "/usr/sbin/bpftool" if Path("/usr/sbin/bpftool").exists() else "bpftool"
MACHINE = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True, check=True)


def members_of(names, includes):
    """The members' names of each structure, from the type information of a file that uses them."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "uses.c")
        uses = "".join(f"struct {name} use_{name};\n" for name in names)
        source.write_text("\n".join(includes) + "\n" + uses, encoding="utf-8")
        subprocess.run(["clang", "-g", "-target", "bpf", "-D__x86_64__", "-D_GNU_SOURCE",
                        f"-I{ROOT}/src", f"-I{ROOT}/include",
                        f"-I/usr/include/{MACHINE.stdout.strip()}", "-c", source, "-o",
                        f"{folder}/uses.o"], check=True)
        dump = subprocess.run([BPFTOOL, "btf", "dump", "-j", "file", f"{folder}/uses.o"],
                              capture_output=True, check=True)
    return {entry["name"]: [member["name"] for member in entry["members"]]
            for entry in json.loads(dump.stdout)["types"]
            if entry["kind"] == "STRUCT" and entry["name"] in names}


def main():
    rows, files, includes = {}, {}, []
    for path in sys.argv[1:]:
        text = Path(path).read_text(encoding="utf-8")
        includes += [line for line in INCLUDE.findall(text) if line not in includes]
        for name, body in TABLE.findall(text):
            rows[name] = ROW.findall(LIST.search(body).group(1))
            files[name] = path
    members = members_of(rows, includes)
    for name, found in rows.items():
        for member in members[name]:
            if found.count(member) != 1:
                print(f"{files[name]}: struct {name}: {member} has {found.count(member)} rows")
        for row in set(found) - set(members[name]):
            print(f"{files[name]}: struct {name}: {row} is no member")


if __name__ == "__main__":
    main()
