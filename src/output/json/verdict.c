// SPDX-License-Identifier: BSD-2-Clause
// The verdict on a process as JSON, see output/finding/verdict.h.
#include "finding/verdict.h"
#include "output/finding/verdict.h"

/* null if unknown. */
static void key_share(struct json *j, const char *key, double share)
{
	json__key_known_double(j, key, share, share != SHARE_UNKNOWN);
}

/* null if there is none. */
static void key_other(struct json *j, const char *key, const struct verdict_other *other)
{
	json__key(j, key);
	if (!other->pid) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_i64(j, "pid", other->pid);
	json__key_string(j, "comm", *other->comm ? other->comm : NULL);
	json__object_end(j);
}

void verdict_json__write_one(struct json *j, const struct verdict *verdict)
{
	json__key(j, "verdict");
	json__object_begin(j);
	json__key_string(j, "kind", verdict__word(verdict->kind));
	json__key_u64(j, "from_ns", verdict->from_ns);
	json__key_u64(j, "window_ns", verdict->window_ns);
	json__key_u64(j, "launches", verdict->launches);
	key_share(j, "idle_proved", verdict->idle);
	key_share(j, "unfed_proved", verdict->unfed);
	key_share(j, "held_by_gpu", verdict->held);
	key_share(j, "busy_nvml", verdict->busy);
	if (verdict->exact_ns) {
		json__key_double(j, "busy_exact", verdict->exact);
		json__key_u64(j, "busy_exact_ns", verdict->exact_ns);
		json__key_u64(j, "busy_exact_device", verdict->exact_device);
	}
	key_share(j, "stopped", verdict->stopped);
	key_other(j, "beside", &verdict->beside);
	key_other(j, "waits_for", &verdict->awaited);
	if (verdict->kind == VERDICT_OTHERS)
		json__key_bool(j, "in_collectives", verdict->collectives);
	if (verdict->kind == VERDICT_NO_WORK)
		json__key_bool(j, "for_requests", verdict->requests);
	json__object_end(j);
}

void verdict_json__write(struct json *j, const struct stat_report *report,
			 const struct process *process)
{
	struct verdict verdict;

	if (!process->profile)
		return;
	verdict__judge(report->model, process, &verdict);
	verdict_json__write_one(j, &verdict);
}
