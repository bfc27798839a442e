#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tells which lines of src/ the corpora of the fuzz targets reach, target by target and in all.

usage: tests/fuzz/coverage.py BUILD [TARGET...]

Needs the targets of `make fuzz-coverage`. The corpora are those of tests/fuzz/run.py,
without fuzzing. A table goes to BUILD/fuzz-coverage/report.txt.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_corpus(build, target, profile):
    folders = [build / "fuzz/corpus" / target, build / "fuzz/seeds" / target,
               ROOT / "tests/fuzz/corpus" / target]
    subprocess.run([build / f"fuzz-coverage/fuzz_{target}", "-runs=0", "-max_len=65536",
                    *[folder for folder in folders if folder.is_dir()]],
                   env=dict(os.environ, LLVM_PROFILE_FILE=str(profile)), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, check=True)


def lines_of(program, profile, others=()):
    """(lines reached, lines) of each source file that the program has any reached line of."""
    more = [part for other in others for part in ("-object", other)]
    text = subprocess.run(["llvm-cov", "export", "-summary-only",
                           f"-instr-profile={profile}", program, *more],
                          stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout
    found = {}
    for entry in json.loads(text)["data"][0]["files"]:
        path = os.path.relpath(os.path.join(ROOT, entry["filename"]), ROOT)
        lines = entry["summary"]["lines"]
        if path.startswith("src/") and lines["covered"]:
            found[path] = (lines["covered"], lines["count"])
    return found


def write_table(out, title, files):
    reached, count = (sum(pair[i] for pair in files.values()) for i in (0, 1))
    print(f"{title}: {reached} of {count} lines of {len(files)} files", file=out)
    for path, (covered, lines) in sorted(files.items()):
        print(f"  {covered:5} of {lines:5}  {100 * covered // lines:3} %  {path}", file=out)


def main():
    build = Path(sys.argv[1]).resolve()
    coverage = build / "fuzz-coverage"
    targets = sys.argv[2:] or sorted(path.name[5:-2]
                                     for path in (ROOT / "tests/fuzz").glob("fuzz_*.c"))
    with open(coverage / "report.txt", "w") as out:
        for target in targets:
            raw, profile = coverage / f"{target}.profraw", coverage / f"{target}.profdata"
            run_corpus(build, target, raw)
            subprocess.run(["llvm-profdata", "merge", "-sparse", raw, "-o", profile], check=True)
            write_table(out, target, lines_of(coverage / f"fuzz_{target}", profile))
        profiles = [coverage / f"{target}.profdata" for target in targets]
        subprocess.run(["llvm-profdata", "merge", "-sparse", *profiles, "-o",
                        coverage / "all.profdata"], check=True)
        programs = [coverage / f"fuzz_{target}" for target in targets]
        write_table(out, "all", lines_of(programs[0], coverage / "all.profdata", programs[1:]))
    print((coverage / "report.txt").read_text(), end="")


if __name__ == "__main__":
    main()
