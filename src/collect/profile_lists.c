// SPDX-License-Identifier: BSD-2-Clause
// Lists of the profile of a run, see profile_lists.h.
#include "collect/profile_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/sweep.h"
#include "gen/gpuprobe.skel.h"
#include "model/profile.h"

static struct profile *profile_of(const struct sweep *sweep, uint32_t slot)
{
	struct process *process = collector__process_at(sweep->collector, slot);

	return process ? process->profile : NULL;
}

static int take_size(const struct sweep *sweep, const void *key, const void *value)
{
	struct profile_size size = {.key = *(const struct size_key *)key,
				    .record = *(const struct size_record *)value};
	struct profile *profile = profile_of(sweep, size.key.slot);
	int ret;

	if (!profile)
		return 0;
	/* Frees of what had had no room in the map when it was allocated. */
	if ((int64_t)size.record.live < 0)
		size.record.live = 0;
	ret = ARRAY_APPEND(profile->sizes, profile->size_count, size);
	return ret ? ret : (int)sweep__of_process(sweep, size.key.slot);
}

static int take_copies(const struct sweep *sweep, const void *key, const void *value)
{
	struct profile_copies copies = {.key = *(const struct copy_size_key *)key,
					.record = *(const struct copy_size_record *)value};
	struct profile *profile = profile_of(sweep, copies.key.slot);
	int ret;

	if (!profile)
		return 0;
	ret = ARRAY_APPEND(profile->copies, profile->copy_count, copies);
	return ret ? ret : (int)sweep__of_process(sweep, copies.key.slot);
}

static int take_repeat(const struct sweep *sweep, const void *key, const void *value)
{
	struct profile_repeat repeat = {.key = *(const struct repeat_key *)key,
					.record = *(const struct repeat_record *)value};
	struct profile *profile = profile_of(sweep, repeat.key.slot);
	int ret = 0;

	if (!profile)
		return 0;
	if (repeat.record.repeats)
		ret = ARRAY_APPEND(profile->repeats, profile->repeat_count, repeat);
	return ret ? ret : (int)sweep__of_process(sweep, repeat.key.slot);
}

static int take_ignored(const struct sweep *sweep, const void *key, const void *value)
{
	struct profile_ignored ignored = {.key = *(const struct ignored_key *)key,
					  .record = *(const struct ignored_record *)value};
	struct profile *profile = profile_of(sweep, ignored.key.slot);
	int ret;

	if (!profile)
		return 0;
	ret = ARRAY_APPEND(profile->ignored, profile->ignored_count, ignored);
	return ret ? ret : (int)sweep__of_process(sweep, ignored.key.slot);
}

static int take_mapped(const struct sweep *sweep, const void *key, const void *value)
{
	struct profile_mapped mapped = {.key = *(const struct mapped_copy_key *)key,
					.record = *(const struct mapped_copy_record *)value};
	struct profile *profile = profile_of(sweep, mapped.key.slot);
	int ret;

	if (!profile)
		return 0;
	mapped.record.name[MAPPED_NAME - 1] = '\0';
	ret = ARRAY_APPEND(profile->mapped, profile->mapped_count, mapped);
	return ret ? ret : (int)sweep__of_process(sweep, mapped.key.slot);
}

int profile_lists__read(struct reading *reading)
{
	const struct gpuprobe_bpf *skeleton = reading->collector->skeleton;
	const struct {
		const struct bpf_map *map;
		int (*take)(const struct sweep *sweep, const void *key, const void *value);
	} lists[] = {
		{skeleton->maps.sizes, take_size},
		{skeleton->maps.copy_sizes, take_copies},
		{skeleton->maps.repeats, take_repeat},
		{skeleton->maps.ignored, take_ignored},
		{skeleton->maps.mapped_copies, take_mapped},
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !ret; i++) {
		struct sweep sweep = {
			.collector = reading->collector,
			.map = lists[i].map,
			.reap = reading->reap,
			.take = lists[i].take,
		};

		ret = sweep__run(&sweep);
	}
	return ret;
}

void profile_lists__clear(struct profile *profile)
{
	profile->size_count = 0;
	profile->copy_count = 0;
	profile->repeat_count = 0;
	profile->ignored_count = 0;
	profile->mapped_count = 0;
}

static struct profile_ignored *find_ignored(struct profile *profile, const struct ignored_key *key)
{
	for (size_t i = 0; i < profile->ignored_count; i++)
		if (!memcmp(&profile->ignored[i].key, key, sizeof(*key)))
			return &profile->ignored[i];
	return NULL;
}

int profile_lists__add_pending(struct profile *profile, const struct thread_profile *thread)
{
	struct profile_ignored *known;
	struct profile_ignored fresh = {
		.key = {.slot = thread->slot, .code = thread->error_code, .row = (uint16_t)thread->error_row},
		.record = {
			.calls = 1,
			.launches = thread->error_launches,
			.first_ns = thread->error_ns,
			.stack = thread->error_stack,
		},
	};

	if (!thread->error_code || !thread->error_launches)
		return 0;
	known = find_ignored(profile, &fresh.key);
	if (!known)
		return ARRAY_APPEND(profile->ignored, profile->ignored_count, fresh);
	known->record.calls++;
	known->record.launches += fresh.record.launches;
	known->record.stack = fresh.record.stack;
	if (fresh.record.first_ns < known->record.first_ns)
		known->record.first_ns = fresh.record.first_ns;
	return 0;
}

/* --- their order --- */

static int more(uint64_t x, uint64_t y)
{
	return x < y ? 1 : (x > y ? -1 : 0);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct profile_size *x = a, *y = b;
	int order = more(x->record.allocation_ns + x->record.free_ns, y->record.allocation_ns + y->record.free_ns);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_copies(const void *a, const void *b)
{
	const struct profile_copies *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_repeats(const void *a, const void *b)
{
	const struct profile_repeat *x = a, *y = b;
	int order = more(x->record.repeat_ns, y->record.repeat_ns);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_ignored(const void *a, const void *b)
{
	const struct profile_ignored *x = a, *y = b;
	int order = more(x->record.calls, y->record.calls);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static int compare_mapped(const void *a, const void *b)
{
	const struct profile_mapped *x = a, *y = b;
	int order = more(x->record.bytes, y->record.bytes);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	if (count)
		qsort(items, count, size, compare);
}

void profile_lists__sort(struct profile *profile)
{
	sort(profile->sizes, profile->size_count, sizeof(*profile->sizes), compare_sizes);
	sort(profile->copies, profile->copy_count, sizeof(*profile->copies), compare_copies);
	sort(profile->repeats, profile->repeat_count, sizeof(*profile->repeats), compare_repeats);
	sort(profile->ignored, profile->ignored_count, sizeof(*profile->ignored), compare_ignored);
	sort(profile->mapped, profile->mapped_count, sizeof(*profile->mapped), compare_mapped);
}
