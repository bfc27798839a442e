// SPDX-License-Identifier: BSD-2-Clause
// Who waits for whom, as JSON: see output/verdict.h.
#include "finding/verdict.h"
#include "output/verdict.h"

/* null where it is not known. */
static void key_share(struct json *j, const char *key, double share)
{
	json__key(j, key);
	if (share == SHARE_UNKNOWN)
		json__null(j);
	else
		json__double(j, share);
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
	key_share(j, "held_by_gpu", verdict->held);
	key_share(j, "busy_nvml", verdict->busy);
	json__object_end(j);
}

void verdict_json__write(struct json *j, const struct stat_report *report, const struct process *process)
{
	struct verdict verdict;

	if (!process->account)
		return;
	verdict__judge(process, report->model->now_ns, &verdict);
	verdict_json__write_one(j, &verdict);
}
