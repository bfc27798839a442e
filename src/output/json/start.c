// SPDX-License-Identifier: BSD-2-Clause
// The start of a process in JSON, see profile.h.
#include "output/json/profile.h"
#include "output/enum_names.h"

/* enum_names__start_part in the spelling of keys. */
static const char *start_part_key(enum start_part part)
{
	static const char *const keys[START_PARTS] = {
		[START_BEFORE] = "before_cuda_ns", [START_DRIVER] = "driver_ns",
		[START_CONTEXT] = "context_ns",	   [START_MODULES] = "modules_ns",
		[START_GRAPHS] = "graphs_ns",	   [START_MEMORY] = "memory_ns",
		[START_COPIES] = "copies_ns",	   [START_LAUNCHES] = "launches_ns",
		[START_WAITS] = "waits_ns",	   [START_CALLS] = "other_calls_ns",
		[START_HOST] = "outside_ns",	   [START_REST] = "not_told_apart_ns",
	};

	return keys[part];
}

static void write_parts(struct json *j, const char *key, bool known,
			const uint64_t parts[START_PARTS])
{
	json__key(j, key);
	if (!known) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	for (int i = 0; i < START_PARTS; i++)
		json__key_u64(j, start_part_key(i), parts[i]);
	json__object_end(j);
}

static void write_uploads(struct json *j, const struct upload_sums *uploads)
{
	json__key(j, "uploads");
	json__object_begin(j);
	json__key_u64(j, "calls", uploads->calls);
	json__key_u64(j, "bytes", uploads->bytes);
	json__key_u64(j, "ns", uploads->ns);
	json__key_u64(j, "pageable_bytes", uploads->pageable_bytes);
	json__object_end(j);
}

void json_start__write(struct json *j, const struct process *p, uint64_t began_ns)
{
	struct process_start start;

	start__evaluate(p, began_ns, &start);
	json__key(j, "start");
	json__object_begin(j);
	json__key_bool(j, "from_begin", start.from_begin);
	json__key_i64(j, "tid", start.tid);
	json__key_u64(j, "begin_ns", start.begin_ns);
	json__key_u64(j, "called_ns", start.called_ns);
	json__key_u64(j, "launched_ns", start.launched_ns);
	json__key_u64(j, "steady_ns", start.steady_ns);
	json__key_u64(j, "loads", start.loads);
	write_uploads(j, &start.uploads);
	write_parts(j, "to_launch", start.launched_ns, start.to_launch);
	write_parts(j, "to_steady", start.steady_ns, start.to_steady);
	json__object_end(j);
}
