// SPDX-License-Identifier: BSD-2-Clause
// Pieces that the parts of the JSON report share, see parts.h.
#include "output/json/parts.h"

#include "output/enum_names.h"

void json_parts__key_bytes(struct json *j, const char *key, uint64_t bytes)
{
	json__key_known_u64(j, key, bytes, bytes != GPU_UNKNOWN_BYTES);
}

void json_parts__key_device(struct json *j, uint8_t device)
{
	json__key_known_u64(j, "device", device, device != DEVICE_UNKNOWN);
}

void json_parts__key_time(struct json *j, const struct timespec *wall)
{
	char seconds[32], text[64];
	struct tm tm;

	json__key(j, "time");
	if (!gmtime_r(&wall->tv_sec, &tm) ||
	    !strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm)) {
		json__null(j);
		return;
	}
	snprintf(text, sizeof(text), "%s.%06ldZ", seconds, wall->tv_nsec / 1000);
	json__string(j, text);
}

static void key_stacks(struct json *j, const struct model *model)
{
	json__key(j, "stacks");
	json__object_begin(j);
	json__key_u64(j, "kept", model->stacks_kept);
	json__key_u64(j, "evicted", model->stacks_evicted);
	json__key_u64(j, "unwound", model->stacks_unwound);
	json__object_end(j);
}

void json_parts__key_without_calls(struct json *j, const struct model *model)
{
	const struct target_processes *targets = &model->targets;

	if (!targets->count)
		return;
	json__key(j, "without_calls");
	json__array_begin(j);
	for (size_t i = 0; i < targets->count && silent_targets__count(targets); i++) {
		if (targets->processes[i].called)
			continue;
		json__object_begin(j);
		json__key_i64(j, "pid", targets->processes[i].pid);
		json__key_string(j, "comm", targets->processes[i].comm);
		if (targets->processes[i].doing[0])
			json__key_string(j, "doing", targets->processes[i].doing);
		json__object_end(j);
	}
	json__array_end(j);
}

void json_parts__key_losses(struct json *j, const uint64_t lost[LOSS_COUNT])
{
	json__key(j, "lost");
	json__object_begin(j);
	for (int i = 0; i < LOSS_COUNT; i++)
		json__key_u64(j, enum_names__loss_name(i), lost[i]);
	json__object_end(j);
}

void json_parts__key_lost(struct json *j, const struct model *model)
{
	if (model->stacks)
		key_stacks(j, model);
	json_parts__key_losses(j, model->lost);
}
