// SPDX-License-Identifier: BSD-2-Clause
// Reads who followed threads have to do with, see partners.h.
#include "host/partners.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "gen/host.skel.h"

/* The maps are as large as the lists: one batch has all. */
static size_t read_map(const struct bpf_map *map, void *keys, void *values, uint32_t room)
{
	uint32_t place = 0, count = room;
	int ret = bpf_map_lookup_batch(bpf_map__fd(map), NULL, &place, keys, values, &count, NULL);

	return ret && ret != -ENOENT ? 0 : count;
}

void partners__read(struct partners *partners, const struct host_bpf *skeleton)
{
	partners->waker_count =
		read_map(skeleton->maps.host_wakers, partners->waker_keys, partners->wakers, HOST_WAKERS);
	partners->rival_count =
		read_map(skeleton->maps.host_rivals, partners->rival_keys, partners->rivals, HOST_RIVALS);
	partners->file_count = read_map(skeleton->maps.host_files, partners->file_keys, partners->files, HOST_FILES);
}

static void empty(const struct bpf_map *map, const struct host_pair_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bpf_map__delete_elem(map, &keys[i], sizeof(keys[i]), 0);
}

void partners__drop(struct partners *partners, const struct host_bpf *skeleton)
{
	partners__read(partners, skeleton);
	empty(skeleton->maps.host_wakers, partners->waker_keys, partners->waker_count);
	empty(skeleton->maps.host_rivals, partners->rival_keys, partners->rival_count);
	empty(skeleton->maps.host_files, partners->file_keys, partners->file_count);
	partners->waker_count = partners->rival_count = partners->file_count = 0;
}
