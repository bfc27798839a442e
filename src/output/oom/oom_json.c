// SPDX-License-Identifier: BSD-2-Clause
// Reports of allocations that failed for good as JSON, see oom_text.h.
#include "api/api.h"
#include "output/oom/oom_text.h"

/* null: unknown. */
static void write_bytes(struct json *j, const char *key, uint64_t bytes)
{
	json__key(j, key);
	if (bytes == GPU_UNKNOWN_BYTES)
		json__null(j);
	else
		json__u64(j, bytes);
}

static void write_text(struct json *j, const char *key, const char *text)
{
	json__key(j, key);
	if (text[0])
		json__string(j, text);
	else
		json__null(j);
}

static void write_one(struct json *j, const struct oom *oom)
{
	json__object_begin(j);
	json__key_i64(j, "pid", oom->pid);
	json__key_i64(j, "tid", oom->tid);
	json__key_string(j, "comm", oom->comm);
	json__key_u64(j, "time_ns", oom->time_ns);
	json__key_u64(j, "bytes", oom->bytes);
	write_text(j, "function", oom->of_framework ? "" : api_functions[oom->row].symbol);
	write_text(j, "line", oom->line);
	write_text(j, "gpu", oom->gpu);
	write_bytes(j, "gpu_bytes", oom->total);
	write_bytes(j, "gpu_used_bytes", oom->used);
	write_bytes(j, "process_bytes", oom->own);
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
