// SPDX-License-Identifier: BSD-2-Clause
// Where the time of threads that submit work went, as JSON: see output/reasons.h.
#include "base/clock.h"
#include "output/json/parts.h"
#include "output/reasons.h"
#include "output/words.h"

/* null where nothing repeats. */
static void key_a_step(struct json *j, const char *key, const struct host_reasons *reasons, double number)
{
	json__key(j, key);
	if (reasons->cost.step_ns)
		json__double(j, number);
	else
		json__null(j);
}

static void write_reason(struct json *j, const struct host_reasons *reasons, const struct host_reason *reason)
{
	json__object_begin(j);
	json__key_string(j, "kind", words__host_kind(reason->kind));
	json__key_string(j, "what", host_reasons__doing(reason->kind));
	json__key_double(j, "seconds", (double)reason->ns / (double)NS_PER_S);
	key_a_step(j, "step_seconds", reasons, step_cost__ns(&reasons->cost, reason->ns) / (double)NS_PER_S);
	json__key_double(j, "share", reasons->ns ? (double)reason->ns / (double)reasons->ns : 0);
	json__key_u64(j, "times", reason->times);
	json__key(j, "calls");
	if (reason->calls)
		json__u64(j, reason->calls);
	else
		json__null(j);
	json_stack__write(j, reason->stack);
	if (reason->holder) {
		json__key(j, "held_by");
		json__object_begin(j);
		json_stack__write(j, reason->holder);
		json__object_end(j);
	}
	json__object_end(j);
}

void reasons_json__write(struct json *j, const struct process *process, uint64_t now_ns)
{
	struct host_reasons reasons;

	if (host_reasons__of(process, now_ns, &reasons))
		return;
	json__key(j, "reasons");
	json__array_begin(j);
	for (size_t i = 0; i < reasons.count; i++)
		write_reason(j, &reasons, &reasons.items[i]);
	json__array_end(j);
	host_reasons__clear(&reasons);
}
