// SPDX-License-Identifier: BSD-2-Clause
// Lists of the profile of a run, see profile_lists.h.
#include "collect/profile_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/profile.h"

int profile_lists__take_size(struct reading *reading, struct process *process, const void *key,
			     const void *value)
{
	struct profile_size size = {.key = *(const struct size_key *)key,
				    .record = *(const struct size_record *)value};
	struct profile *profile = process->profile;

	(void)reading;
	if (!profile)
		return ELEMENT_SKIP;
	/* Frees of memory that had no map entry when it was allocated. */
	if ((int64_t)size.record.live < 0)
		size.record.live = 0;
	return ARRAY_APPEND(profile->sizes, profile->size_count, size);
}

int profile_lists__take_copies(struct reading *reading, struct process *process, const void *key,
			       const void *value)
{
	struct profile_copies copies = {.key = *(const struct copy_size_key *)key,
					.record = *(const struct copy_size_record *)value};
	struct profile *profile = process->profile;

	(void)reading;
	if (!profile)
		return ELEMENT_SKIP;
	return ARRAY_APPEND(profile->copies, profile->copy_count, copies);
}

int profile_lists__take_repeat(struct reading *reading, struct process *process, const void *key,
			       const void *value)
{
	struct profile_repeat repeat = {.key = *(const struct repeat_key *)key,
					.record = *(const struct repeat_record *)value};
	struct profile *profile = process->profile;

	(void)reading;
	if (!profile)
		return ELEMENT_SKIP;
	if (!repeat.record.repeats)
		return ELEMENT_KEEP;
	return ARRAY_APPEND(profile->repeats, profile->repeat_count, repeat);
}

int profile_lists__take_ignored(struct reading *reading, struct process *process, const void *key,
				const void *value)
{
	struct profile_ignored ignored = {.key = *(const struct ignored_key *)key,
					  .record = *(const struct ignored_record *)value};
	struct profile *profile = process->profile;

	(void)reading;
	if (!profile)
		return ELEMENT_SKIP;
	return ARRAY_APPEND(profile->ignored, profile->ignored_count, ignored);
}

int profile_lists__take_mapped(struct reading *reading, struct process *process, const void *key,
			       const void *value)
{
	struct profile_mapped mapped = {.key = *(const struct mapped_copy_key *)key,
					.record = *(const struct mapped_copy_record *)value};
	struct profile *profile = process->profile;

	(void)reading;
	if (!profile)
		return ELEMENT_SKIP;
	mapped.record.name[MAPPED_NAME - 1] = '\0';
	return ARRAY_APPEND(profile->mapped, profile->mapped_count, mapped);
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
		.key = {.slot = thread->slot,
			.code = thread->error_code,
			.row = (uint16_t)thread->error_row},
		.record =
			{
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

/* --- sorting --- */

static int more(uint64_t x, uint64_t y)
{
	return x < y ? 1 : (x > y ? -1 : 0);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct profile_size *x = a, *y = b;
	int order = more(x->record.allocation_ns + x->record.free_ns,
			 y->record.allocation_ns + y->record.free_ns);

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

static void sort(void *items, size_t count, size_t size,
		 int (*compare)(const void *a, const void *b))
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
