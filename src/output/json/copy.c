// SPDX-License-Identifier: BSD-2-Clause
// Copies and sets in the JSON report, see parts.h.
#include "output/json/parts.h"

#include "output/enum_names.h"

static void write_part(struct json *j, const char *key, uint64_t calls, uint64_t bytes)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_u64(j, "calls", calls);
	json__key_u64(j, "bytes", bytes);
	json__object_end(j);
}

static void write_covered(struct json *j, const struct covered_totals *covered)
{
	json__key(j, "covered");
	json__object_begin(j);
	json__key_u64(j, "calls", covered->calls);
	json__key_u64(j, "bytes", covered->bytes);
	json__key_u64(j, "ns", covered->ns);
	if (covered->ns)
		json__key_double(j, "at_least_bytes_per_second",
				 (double)covered->bytes / ((double)covered->ns / 1e9));
	json__object_end(j);
}

static void write_copy(struct json *j, int kind, bool async, const struct process *p)
{
	const struct copy_totals *c = &p->copies[kind][async];
	const struct copy_inflight *inflight = &p->inflight[kind];

	if (!c->calls && !c->captured_calls && !c->unfollowed_calls && !(async && inflight->calls))
		return;
	json__object_begin(j);
	json__key_string(j, "kind", enum_names__copy_kind(kind));
	json__key_string(j, "mode", async ? "async" : "sync");
	json__key_u64(j, "calls", c->calls);
	json__key_u64(j, "bytes", c->bytes);
	json__key_u64(j, "ns", c->ns);
	json_sampling__key_estimated(j, p, RATE_COPY);
	if (!async && c->ns)
		json__key_double(j, "bytes_per_second", (double)c->bytes / ((double)c->ns / 1e9));
	write_part(j, "pinned", c->pinned_calls, c->pinned_bytes);
	write_part(j, "pageable", c->pageable_calls, c->pageable_bytes);
	write_part(j, "captured", c->captured_calls, c->captured_bytes);
	if (c->unfollowed_calls)
		write_part(j, "unfollowed", c->unfollowed_calls, c->unfollowed_bytes);
	if (async) {
		write_covered(j, &p->covered[kind]);
		json__key(j, "in_flight");
		json__object_begin(j);
		json__key_u64(j, "calls", inflight->calls);
		json__key_u64(j, "bytes", inflight->bytes);
		json__key_u64(j, "oldest_ns", inflight->oldest_ns);
		json__object_end(j);
	}
	json__object_end(j);
}

void json_copy__write(struct json *j, const struct process *p)
{
	int kind;

	json__key(j, "copies");
	json__array_begin(j);
	for (kind = 0; kind < COPY_KINDS; kind++) {
		write_copy(j, kind, false, p);
		write_copy(j, kind, true, p);
	}
	json__array_end(j);
}
