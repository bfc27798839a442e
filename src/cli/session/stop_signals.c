// SPDX-License-Identifier: BSD-2-Clause
// Which signals ask gpuprobe to end, see stop_signals.h.
#include "cli/session/stop_signals.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_ignored(int number)
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

void stop_signals__fill(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	/* What is blocked waits, ignored or not: signalfd(2) would have it. */
	if (!is_ignored(SIGHUP))
		sigaddset(set, SIGHUP);
}
