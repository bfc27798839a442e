# SPDX-License-Identifier: BSD-2-Clause
"""Where the time of a run went: a short summary, and a file with a line for each test."""

SLOWEST = 10


def show(parts, building, testing, path):
    """
    Prints the time of the build, of all tests and of each part, in seconds, how idle the CPUs were
    during each part, and the slowest tests. Writes all tests to `path`.
    """
    print(f"\n{building / 60:.1f} minutes to build, {testing / 60:.1f} minutes for the tests. "
          "Their parts, some of which "
          "ran beside others:")
    for part in parts:
        print(f"{part.seconds:8.1f} s  CPUs {part.idle:4.0%} idle  {part.name}")
    tests = sorted((test for part in parts for test in part.tests), key=lambda test: -test.seconds)
    path.write_text("".join(f"{test.seconds:.2f}\t{test.step}\t{test.name}\t{test.state}\n"
                            for test in tests), encoding="utf-8")
    print(f"the slowest {SLOWEST} ({path} has all):")
    for test in tests[:SLOWEST]:
        print(f"{test.seconds:8.1f} s  {test.step}: {test.name}")
    print(flush=True)
