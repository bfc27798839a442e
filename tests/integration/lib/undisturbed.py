# SPDX-License-Identifier: BSD-2-Clause
"""Runs programs undisturbed by a busy machine: ahead of everything without real-time priority."""

# If the kernel refuses, it runs normally. Spinning programs run behind mostly sleeping ones, which
# they would otherwise keep from the CPU for 100 ms at a time, the slice of SCHED_RR.
SLEEPS, SPINS = 2, 1


def undisturbed(*command, priority=SLEEPS):
    """The command line that runs `command` that way, as the same process."""
    return ["sh", "-c", f'chrt -r -p {priority} $$ 2>/dev/null; exec "$@"', "sh",
            *map(str, command)]
