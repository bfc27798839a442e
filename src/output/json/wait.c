// SPDX-License-Identifier: BSD-2-Clause
// Waits and queries in the JSON report, see parts.h.
#include "output/json/parts.h"

#include "output/enum_names.h"

/* `family` is the one whose probes see these waits; RATE_EXACT: they are always attached. */
static void write_wait(struct json *j, const struct process *p, const char *in,
		       const struct wait_totals *waits, enum rate_family family)
{
	if (!waits->calls && !waits->unfollowed && !waits->ns)
		return;
	json__object_begin(j);
	json__key_string(j, "in", in);
	json__key_u64(j, "calls", waits->calls);
	json__key_u64(j, "ns", waits->ns);
	if (waits->open)
		json__key_u64(j, "in_progress", waits->open);
	if (waits->unfollowed)
		json__key_u64(j, "unfollowed", waits->unfollowed);
	json_sampling__key_estimated(j, p, family);
	json__object_end(j);
}

void json_wait__write(struct json *j, const struct process *p)
{
	int scope;

	json__key(j, "waits");
	json__array_begin(j);
	for (scope = 0; scope < WAIT_SCOPES; scope++)
		write_wait(j, p, enum_names__wait_scope(scope), &p->waits[scope], RATE_WAIT);
	write_wait(j, p, "copy", &p->copy_waits, RATE_COPY);
	write_wait(j, p, "free", &p->free_waits, RATE_EXACT);
	json__array_end(j);
	json__key(j, "queries");
	json__array_begin(j);
	for (scope = 0; scope < WAIT_SCOPES; scope++) {
		if (!p->queries[scope].calls)
			continue;
		json__object_begin(j);
		json__key_string(j, "of", enum_names__wait_scope(scope));
		json__key_u64(j, "calls", p->queries[scope].calls);
		json__key_u64(j, "not_ready", p->queries[scope].not_ready);
		json_sampling__key_estimated(j, p, RATE_WAIT);
		json__object_end(j);
	}
	json__array_end(j);
}
