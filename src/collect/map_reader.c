// SPDX-License-Identifier: BSD-2-Clause
// Reads BPF hash maps in batches, see map_reader.h.
#include "collect/map_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#define FIRST_BATCH 512
#define LARGEST_BATCH (1u << 20)

struct map_reader {
	char *keys, *values;
	size_t key_bytes, value_bytes;
};

struct map_reader *map_reader__new(void)
{
	return calloc(1, sizeof(struct map_reader));
}

void map_reader__free(struct map_reader *reader)
{
	if (!reader)
		return;
	free(reader->keys);
	free(reader->values);
	free(reader);
}

static int grow(char **buffer, size_t *have, size_t want)
{
	char *grown;

	if (*have >= want)
		return 0;
	grown = realloc(*buffer, want);
	if (!grown)
		return -ENOMEM;
	*buffer = grown;
	*have = want;
	return 0;
}

static int visit(const struct map_reader *reader, size_t count, size_t key_size, size_t value_size,
		 map_entry_fn fn, void *arg)
{
	for (size_t i = 0; i < count; i++) {
		int ret = fn(reader->keys + i * key_size, reader->values + i * value_size, arg);

		if (ret)
			return ret;
	}
	return 0;
}

int map_reader__some(struct map_reader *reader, const struct bpf_map *map,
		     struct map_cursor *cursor, map_entry_fn fn, void *arg)
{
	size_t key_size = bpf_map__key_size(map), value_size = bpf_map__value_size(map);
	uint32_t batch = FIRST_BATCH, count;
	uint64_t next = 0;
	int ret, last;

	for (;; batch *= 2) {
		if (grow(&reader->keys, &reader->key_bytes, batch * key_size) ||
		    grow(&reader->values, &reader->value_bytes, batch * value_size))
			return -ENOMEM;
		count = batch;
		ret = bpf_map_lookup_batch(bpf_map__fd(map),
					   cursor->started ? &cursor->bucket : NULL, &next,
					   reader->keys, reader->values, &count, NULL);
		last = ret ? -errno : 0;
		if (last != -ENOSPC || batch >= LARGEST_BATCH)
			break;
		/* A bucket has more entries than the batch. */
	}
	if (last && last != -ENOENT)
		return last == -EINTR ? -EAGAIN : last;
	cursor->bucket = next;
	cursor->started = true;
	cursor->done = last == -ENOENT;
	return visit(reader, count, key_size, value_size, fn, arg);
}

int map_reader__each(struct map_reader *reader, const struct bpf_map *map, map_entry_fn fn,
		     void *arg)
{
	struct map_cursor cursor = {0};
	int ret = 0;

	while (!ret && !cursor.done)
		ret = map_reader__some(reader, map, &cursor, fn, arg);
	return ret;
}
