// SPDX-License-Identifier: BSD-2-Clause
// Counters of the map and of threads together, see tally_table.h.
#include "collect/tally_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "collect/tally.h"

struct entry {
	struct tally_key key;
	struct tally now;   /* of the map and of living threads */
	struct tally ended; /* of threads that have ended */
	UT_hash_handle hh;
};

struct tally_table {
	struct entry *entries; /* a uthash table */
};

struct tally_table *tally_table__new(void)
{
	return calloc(1, sizeof(struct tally_table));
}

void tally_table__free(struct tally_table *table)
{
	struct entry *entry, *next;

	if (!table)
		return;
	HASH_ITER(hh, table->entries, entry, next) {
		HASH_DEL(table->entries, entry);
		free(entry);
	}
	free(table);
}

void tally_table__begin(struct tally_table *table)
{
	for (struct entry *entry = table->entries; entry; entry = entry->hh.next)
		entry->now = (struct tally){0};
}

static struct entry *entry_of(struct tally_table *table, const struct tally_key *key)
{
	struct entry *entry;

	HASH_FIND(hh, table->entries, key, sizeof(*key), entry);
	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->key = *key;
	HASH_ADD(hh, table->entries, key, sizeof(entry->key), entry);
	return entry;
}

static void add(struct tally *sum, const struct tally *tally)
{
	sum->calls += tally->calls;
	sum->failures += tally->failures;
	sum->bytes += tally->bytes;
	sum->ns += tally->ns;
}

int tally_table__add(struct tally_table *table, const struct tally_key *key, const struct tally *tally)
{
	struct entry *entry = entry_of(table, key);

	if (!entry)
		return -ENOMEM;
	add(&entry->now, tally);
	return 0;
}

int tally_table__add_thread(struct tally_table *table, const struct thread_tallies *own, bool for_good)
{
	for (size_t i = 0; i < THREAD_TALLIES; i++) {
		const volatile struct thread_tally *shared = &own->tallies[i];
		struct thread_tally before, after;
		struct entry *entry;
		struct tally tally;

		memcpy(&before, (const void *)shared, sizeof(before));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		memcpy(&after, (const void *)shared, sizeof(after));
		/* The place is another counter's by now: the map has what was in it. */
		if (!before.calls || memcmp(&before.key, &after.key, sizeof(before.key)))
			continue;
		tally = (struct tally){.calls = before.calls, .bytes = before.bytes, .ns = before.ns};
		entry = entry_of(table, &before.key);
		if (!entry)
			return -ENOMEM;
		add(for_good ? &entry->ended : &entry->now, &tally);
	}
	return 0;
}

int tally_table__apply(struct tally_table *table, const struct reading *reading)
{
	struct entry *entry, *next;

	HASH_ITER(hh, table->entries, entry, next) {
		struct process *process = collector__process_at(reading->collector, entry->key.slot);
		struct tally sum = entry->now;
		int ret;

		if (!process)
			continue;
		add(&sum, &entry->ended);
		ret = tally__apply(process, &entry->key, &sum);
		if (ret)
			return ret;
		if (!reading__dooms(reading, process))
			continue;
		HASH_DEL(table->entries, entry);
		free(entry);
	}
	return 0;
}
