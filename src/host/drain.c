// SPDX-License-Identifier: BSD-2-Clause
// Moves counts from the BPF map of sites to locations; see drain.h.
#include "host/drain.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "gen/host.skel.h"
#include "stack/stacks.h"

#define BATCH 1024
#define WAITING_MAX 65536 /* sites whose stack has no names yet */
#define PATIENCE 50	  /* attempts to find a stack's names: about 10 s */

struct waiting_key {
	struct host_site_key site;
	uint32_t marks_made; /* of the thread's locations, when it was counted */
	uint32_t pad;
};

struct waiting_site {
	struct waiting_key key;
	struct host_site_record record;
	unsigned int tries;
	UT_hash_handle hh;
};

struct drain {
	struct stacks *stacks;
	struct waiting_site *waiting;
	struct host_site_key keys[BATCH];
	struct host_site_record records[BATCH];
};

struct drain *drain__new(struct stacks *stacks)
{
	struct drain *drain = calloc(1, sizeof(*drain));

	if (drain)
		drain->stacks = stacks;
	return drain;
}

static void forget(struct drain *drain, struct waiting_site *site)
{
	HASH_DEL(drain->waiting, site);
	free(site);
}

void drain__free(struct drain *drain)
{
	if (!drain)
		return;
	TABLE_CLEAR(drain->waiting, free);
	free(drain);
}

/* NULL: the thread's number has another user by now. */
static struct followed_thread *thread_of(struct followed_list *list,
					 const struct host_site_key *key)
{
	struct followed_thread *thread =
		key->thread < HOST_THREADS ? &list->threads[key->thread] : NULL;

	return thread && thread->used && thread->generation == key->generation &&
			       key->kind < HOST_ACTIVITIES && key->class < HOST_CLASSES ?
		       thread :
		       NULL;
}

static void put(struct followed_thread *thread, const struct waiting_key *key,
		const struct stack *stack, const struct host_site_record *record)
{
	const struct location_key location = {
		.activity = (enum host_activity)key->site.kind,
		.class = (enum host_class)key->site.class,
		.call = key->site.kind == ACTIVITY_OTHER ? key->site.call : ~0u,
	};
	const struct location_count count = {
		.amount = key->site.kind == ACTIVITY_CPU ? record->count : record->ns,
		.times = record->count,
		.marks_made = key->marks_made,
	};

	code_locations__add(thread->locations, &location, stack, &count);
}

/* Returns NULL if there is no memory or no room; the site then counts without a stack. */
static struct waiting_site *wait_for(struct drain *drain, const struct waiting_key *key)
{
	struct waiting_site *site = TABLE_FIND(drain->waiting, key, key);

	if (site || HASH_COUNT(drain->waiting) >= WAITING_MAX)
		return site;
	return TABLE_ADD_NEW(drain->waiting, key, key);
}

static void take(struct drain *drain, struct followed_list *list,
		 const struct host_site_key *site_key, const struct host_site_record *record)
{
	struct followed_thread *thread = thread_of(list, site_key);
	struct waiting_key key = {.site = *site_key};
	struct waiting_site *site = NULL;
	const struct stack *stack;

	if (!thread)
		return;
	key.marks_made = code_locations__marks_made(thread->locations);
	stack = drain->stacks ? stacks__find(drain->stacks, site_key->stack) : NULL;
	if (!stack && drain->stacks && site_key->stack)
		site = wait_for(drain, &key);
	if (site) {
		site->record.count += record->count;
		site->record.ns += record->ns;
	} else {
		put(thread, &key, stack, record);
	}
}

static void settle(struct drain *drain, struct followed_list *list, bool final)
{
	struct waiting_site *site, *next;

	HASH_ITER (hh, drain->waiting, site, next) {
		struct followed_thread *thread = thread_of(list, &site->key.site);
		const struct stack *stack = stacks__find(drain->stacks, site->key.site.stack);

		if (thread && !stack && !final && site->tries++ < PATIENCE)
			continue;
		if (thread)
			put(thread, &site->key, stack, &site->record);
		forget(drain, site);
	}
}

/* Takes a batch out of the map. Returns its size; 0 at the end or if the map cannot be read. */
static uint32_t take_batch(struct drain *drain, int fd, uint32_t *cursor, bool begins)
{
	uint32_t count = BATCH;
	int ret = bpf_map_lookup_and_delete_batch(fd, begins ? NULL : cursor, cursor, drain->keys,
						  drain->records, &count, NULL);

	return ret && ret != -ENOENT ? 0 : count;
}

static void read_map(struct drain *drain, struct followed_list *list)
{
	int fd = bpf_map__fd(list->skeleton->maps.host_sites);
	uint32_t cursor = 0, count;

	for (bool begins = true; (count = take_batch(drain, fd, &cursor, begins)); begins = false) {
		for (uint32_t i = 0; i < count; i++)
			take(drain, list, &drain->keys[i], &drain->records[i]);
		if (count < BATCH)
			return;
	}
}

void drain__take(struct drain *drain, struct followed_list *list, bool final)
{
	read_map(drain, list);
	settle(drain, list, final);
}
