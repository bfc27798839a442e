// SPDX-License-Identifier: BSD-2-Clause
// Adds up the counters of a map and of threads, see count_table.h.
#include "collect/count_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

struct entry {
	unsigned char key[sizeof(struct launch_key)];
	struct tally part[COUNT_SOURCES];
	struct tally reported; /* the sum reported last */
	UT_hash_handle hh;
};

struct count_table {
	size_t key_size;
	struct entry *entries; /* a uthash table */
};

struct count_table *count_table__new(size_t key_size)
{
	struct count_table *table = calloc(1, sizeof(*table));

	if (table)
		table->key_size = key_size;
	return table;
}

static void drop(struct count_table *table, struct entry *entry)
{
	HASH_DEL(table->entries, entry);
	free(entry);
}

void count_table__free(struct count_table *table)
{
	struct entry *entry, *next;

	if (!table)
		return;
	HASH_ITER (hh, table->entries, entry, next)
		drop(table, entry);
	free(table);
}

void count_table__begin(struct count_table *table)
{
	for (struct entry *entry = table->entries; entry; entry = entry->hh.next) {
		entry->part[COUNT_MAP] = (struct tally){0};
		entry->part[COUNT_LIVING] = (struct tally){0};
	}
}

void count_table__drop(struct count_table *table, bool (*is_done)(const void *key, void *arg),
		       void *arg)
{
	struct entry *entry, *next;

	HASH_ITER (hh, table->entries, entry, next)
		if (is_done(entry->key, arg))
			drop(table, entry);
}

static struct entry *entry_of(struct count_table *table, const void *key)
{
	struct entry *entry;

	HASH_FIND(hh, table->entries, key, table->key_size, entry);
	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	memcpy(entry->key, key, table->key_size);
	HASH_ADD(hh, table->entries, key, table->key_size, entry);
	if (entry->hh.tbl)
		return entry;
	free(entry);
	return NULL;
}

static void add(struct tally *sum, const struct tally *tally)
{
	sum->calls += tally->calls;
	sum->failures += tally->failures;
	sum->bytes += tally->bytes;
	sum->carries += tally->carries + (sum->bytes < tally->bytes);
	sum->ns += tally->ns;
	sum->other_ns += tally->other_ns;
}

/*
 * Reported counts never decrease: a reading may get less if a thread moved a part to the map
 * meanwhile.
 */
static void keep_most(struct tally *reported, const struct tally *sum)
{
	if (sum->calls > reported->calls)
		reported->calls = sum->calls;
	if (sum->failures > reported->failures)
		reported->failures = sum->failures;
	if (sum->carries > reported->carries ||
	    (sum->carries == reported->carries && sum->bytes > reported->bytes)) {
		reported->carries = sum->carries;
		reported->bytes = sum->bytes;
	}
	if (sum->ns > reported->ns)
		reported->ns = sum->ns;
	if (sum->other_ns > reported->other_ns)
		reported->other_ns = sum->other_ns;
}

int count_table__add(struct count_table *table, enum count_from from, const void *key,
		     const struct tally *tally)
{
	struct entry *entry = entry_of(table, key);

	if (!entry)
		return -ENOMEM;
	if (from != COUNT_ROOM)
		add(&entry->part[from], tally);
	return 0;
}

int count_table__each(struct count_table *table,
		      int (*fn)(const void *key, const struct tally *sum, bool living, void *arg),
		      void *arg)
{
	struct entry *entry, *next;
	int ret;

	HASH_ITER (hh, table->entries, entry, next) {
		struct tally sum = {0};

		for (int from = 0; from < COUNT_SOURCES; from++)
			add(&sum, &entry->part[from]);
		keep_most(&entry->reported, &sum);
		ret = fn(entry->key, &entry->reported, entry->part[COUNT_LIVING].calls, arg);
		if (ret < 0)
			return ret;
		if (ret)
			drop(table, entry);
	}
	return 0;
}
