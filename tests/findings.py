#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs a program for each finding, and its repaired twin, and prints the table of what `gpuprobe
diagnose` says.

usage: sudo tests/findings.py [ID...]

Exits with 1 if anything is not as it should be, and says what below the table.
"""
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "integration"))

from lib import faultruns  # noqa: E402
from lib.faults import FAULTS  # noqa: E402


def main():
    if os.geteuid():
        sys.exit("probes need root: sudo tests/findings.py")
    ids = set(sys.argv[1:])
    unknown = ids - {fault.id for fault in FAULTS}
    if unknown:
        sys.exit(f"no such finding: {', '.join(sorted(unknown))}")
    verdicts = faultruns.run_all([fault for fault in FAULTS if not ids or fault.id in ids])
    print(faultruns.table(verdicts))
    bad = [verdict for verdict in verdicts if not verdict.good]
    for verdict in bad:
        print(verdict, file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
