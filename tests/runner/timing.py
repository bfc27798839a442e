# SPDX-License-Identifier: BSD-2-Clause
"""Where the time of a run went."""

SLOWEST = 10


def show(parts, seconds):
    """Prints the time of each part, the slowest tests, and that of the whole."""
    print(f"\n{seconds / 60:.1f} minutes for the tests. The parts, some of which ran beside others:")
    for part in parts:
        print(f"{part.seconds:8.1f} s  {part.name}")
    tests = sorted((test for part in parts for test in part.tests), key=lambda test: -test.seconds)
    print(f"the slowest {SLOWEST}:")
    for test in tests[:SLOWEST]:
        print(f"{test.seconds:8.1f} s  {test.step}: {test.name}")
    print(flush=True)
