// SPDX-License-Identifier: BSD-2-Clause
// Tells which processes cannot be watched, see refusals.h.
#include "cli/refusals.h"

#include <stdbool.h>

static bool is_known(const struct refusals *refusals, pid_t pid)
{
	for (size_t i = 0; i < refusals->count && i < REFUSALS_KNOWN; i++)
		if (refusals->pids[i] == pid)
			return true;
	return false;
}

void refusals__tell(struct refusals *refusals, pid_t pid, const struct hindrance *hindrance, const struct log *log)
{
	if (!*hindrance->text.text || is_known(refusals, pid))
		return;
	if (refusals->count < REFUSALS_KNOWN)
		refusals->pids[refusals->count] = pid;
	if (refusals->count++ < refusals->named)
		log__warn(log, "%s", hindrance->text.text);
	else
		log__info(log, "%s", hindrance->text.text);
}

void refusals__tell_rest(const struct refusals *refusals, const struct log *log)
{
	size_t rest = refusals->count > refusals->named ? refusals->count - refusals->named : 0;

	if (rest)
		log__warn(log, "%zu more process%s could not be watched: --verbose names %s", rest,
			  rest == 1 ? "" : "es", rest == 1 ? "it" : "them");
}
