// SPDX-License-Identifier: BSD-2-Clause
// Reports of allocations that failed for good as JSON, see oom_text.h.
#include "api/api.h"
#include "output/json/parts.h"
#include "output/oom/oom_text.h"

static void write_one(struct json *j, const struct oom *oom)
{
	json__object_begin(j);
	json__key_i64(j, "pid", oom->pid);
	json__key_i64(j, "tid", oom->tid);
	json__key_string(j, "comm", oom->comm);
	json__key_u64(j, "time_ns", oom->time_ns);
	json__key_u64(j, "bytes", oom->bytes);
	json__key_known_text(j, "function",
			     oom->of_framework ? "" : api_functions[oom->row].symbol);
	json__key_known_text(j, "line", oom->line);
	json__key_known_text(j, "gpu", oom->gpu);
	json_parts__key_bytes(j, "gpu_bytes", oom->total);
	json_parts__key_bytes(j, "gpu_used_bytes", oom->used);
	json_parts__key_bytes(j, "process_bytes", oom->own);
	json__key_u64(j, "tracked_bytes", oom->tracked);
	json__key_u64(j, "others_bytes", oom->others);
	json__key_u64(j, "other_processes", oom->neighbour_count);
	json__key_u64(j, "grown_bytes", oom->increase.bytes);
	json__key_u64(j, "grown_in_ns", oom->increase.span_ns);
	json__key_string(j, "cause", oom__cause_id(oom->cause));
	json__object_end(j);
}

void oom_json__write(struct json *j, const struct model *model)
{
	json__key(j, "oom");
	json__array_begin(j);
	for (size_t i = 0; i < model->oom_count; i++)
		write_one(j, &model->ooms[i]);
	json__array_end(j);
}
