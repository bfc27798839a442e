// SPDX-License-Identifier: BSD-2-Clause
// Stop signals, and the signals of failed writes, see signals.h.
#include "cli/session/signals.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_ignored(int number)
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

void signals__fill_stop(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	/* A blocked signal is queued even if it is ignored, so signalfd(2) would deliver it. */
	if (!is_ignored(SIGHUP))
		sigaddset(set, SIGHUP);
}

static void do_nothing(int number)
{
	(void)number;
}

void signals__survive_write(int number)
{
	const struct sigaction catch = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
	struct sigaction found;

	if (!sigaction(number, NULL, &found) && found.sa_handler != SIG_IGN)
		sigaction(number, &catch, NULL);
}
