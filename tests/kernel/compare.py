#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what the guest has kept with the truth, number by number, as the integration tests do.

usage: compare.py DIRECTORY

DIRECTORY has a folder for each test: `reports`, a JSON report a line, and the truth files in
`truth`. Prints `ok exact NAME` or `not ok exact NAME` with the differences, closes with `N passed,
N failed` and exits with 1 if any failed.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))

from lib import profile, exact, mixtruth  # noqa: E402
from lib.probe import Result  # noqa: E402

SHOWN = 40
# Threads may find a stream's record in use by another one: then its copies in flight are unknown,
# and nothing else.
BEARABLE = {"inflight_busy"}
# When the whole machine is watched, a program whose mappings were not read before its end is
# marked, though its numbers are right.
MAY_BE_MARKED = {"process_whole_machine"}


def shown_of(result, truth):
    """The process as it was last shown. Programs of one pid are ordered by names of truth
    files and by ends."""
    programs = {p["ended_ns"]: p for report in result.reports for p in report["processes"]
                if p["pid"] == truth.pid and p["ended"]}
    truths = [t for t in result.truths if t.pid == truth.pid and not t.idle]
    if len(programs) != len(truths):
        return None
    return programs[sorted(programs)[truths.index(truth)]]


def differences(test):
    """Lines that tell what differs, and whose processes' numbers were compared."""
    result = Result(0, (test / "reports").read_text(), "", test / "truth")
    final = result.final
    is_account = str(final["schema"]).startswith("gpuprobe.stat/")
    checked = final.get("launch_sample") == 1
    wrong = [f"lost: {reason}: {count}" for reason, count in exact.lost(final).items()
             if reason not in BEARABLE]
    families = set()
    for truth in result.truths:
        name = f"{truth.comm} {truth.pid}"
        if truth.idle:
            continue
        process = shown_of(result, truth)
        if not process:
            wrong.append(f"{name}: not shown, or not ended")
            continue
        if process["since_attach"] and test.name not in MAY_BE_MARKED:
            wrong.append(f"{name}: since attach")
        if is_account:
            true, seen = profile.true_functions(truth), profile.seen_functions(process)
            wrong += [f"{name}: {function}: {seen.get(function)} instead of {counts}"
                      for function, counts in true.items() if seen.get(function) != counts]
            families.add("functions")
            continue
        wrong += [f"{name}: {line}"
                  for line in mixtruth.differences(process, truth, "auto", checked)]
        families |= {family for family, numbers in mixtruth.true(truth, "auto", checked).items()
                     if numbers}
    if not families:
        wrong.append("nothing to compare")
    if test.name.startswith("mix"):
        missing = mixtruth.true(result.truths[0]).keys() - families
        wrong += [f"the workload did nothing of {family}" for family in sorted(missing)]
    return wrong, families


def main(directory):
    passed = failed = 0
    for test in sorted(Path(directory).iterdir()):
        wrong, families = differences(test)
        if wrong:
            failed += 1
            print(f"not ok exact {test.name}: {len(wrong)} differences\n# certain: wrong counts")
            print("".join(f"# {line}\n" for line in wrong[:SHOWN]), end="")
        else:
            passed += 1
            print(f"ok exact {test.name} ({', '.join(sorted(families))})")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
