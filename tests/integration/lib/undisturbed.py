# SPDX-License-Identifier: BSD-2-Clause
"""Programs that a busy machine does not make others of:
they go before what has no real-time priority."""

# Where the kernel does not let it, it runs as all do. What spins goes behind what mostly sleeps.
SLEEPS, SPINS = 2, 1


def undisturbed(*command, priority=SLEEPS):
    """The command line that runs `command` so, as the same process."""
    return ["sh", "-c", f'chrt -r -p {priority} $$ 2>/dev/null; exec "$@"', "sh",
            *map(str, command)]
