#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: first.sh COMMAND [ARGUMENT...]
# Runs COMMAND before other programs of the machine: for tests that bear no neighbour, whoever else
# is there. Priorities count within a session if the kernel groups tasks by session (autogroup), so
# COMMAND gets one of its own and that group the priority, too. Needs root; without it COMMAND runs
# as others do.
[ -n "${IN_SESSION-}" ] || IN_SESSION=1 exec setsid --wait "$0" "$@"
unset IN_SESSION
{ echo -15 > /proc/self/autogroup; } 2> /dev/null
renice -n -15 -p $$ > /dev/null 2>&1
exec "$@"
