// SPDX-License-Identifier: BSD-2-Clause
// Signals of writes that fail, see write_signals.h.
#include "cli/files/write_signals.h"

#include <signal.h>

static void do_nothing(int number)
{
	(void)number;
}

void write_signals__survive(int number)
{
	const struct sigaction catch = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
	struct sigaction found;

	if (!sigaction(number, NULL, &found) && found.sa_handler != SIG_IGN)
		sigaction(number, &catch, NULL);
}
