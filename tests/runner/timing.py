# SPDX-License-Identifier: BSD-2-Clause
"""Where the time of a run went."""

SLOWEST = 10


def show(parts, building, testing):
    """Prints the time of the build, of all tests and of each part, in seconds, and the slowest tests."""
    print(f"\n{building / 60:.1f} minutes to build, {testing / 60:.1f} minutes for the tests. Their parts, some of which "
          "ran beside others:")
    for part in parts:
        print(f"{part.seconds:8.1f} s  {part.name}")
    tests = sorted((test for part in parts for test in part.tests), key=lambda test: -test.seconds)
    print(f"the slowest {SLOWEST}:")
    for test in tests[:SLOWEST]:
        print(f"{test.seconds:8.1f} s  {test.step}: {test.name}")
    print(flush=True)
