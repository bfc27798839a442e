// SPDX-License-Identifier: BSD-2-Clause
// Reads the partners of followed threads; see partners.h.
#include "host/partners.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "gen/host.skel.h"

/* The lists have room for the whole map, so one batch is enough. */
static size_t read_map(const struct bpf_map *map, void *keys, void *values, uint32_t room)
{
	uint32_t cursor = 0, count = room;
	int ret = bpf_map_lookup_batch(bpf_map__fd(map), NULL, &cursor, keys, values, &count, NULL);

	return ret && ret != -ENOENT ? 0 : count;
}

void partners__read(struct partners *partners, const struct host_bpf *skeleton)
{
	partners->waker_count = read_map(skeleton->maps.host_wakers, partners->waker_keys,
					 partners->wakers, HOST_WAKERS);
	partners->rival_count = read_map(skeleton->maps.host_rivals, partners->rival_keys,
					 partners->rivals, HOST_RIVALS);
	partners->file_count = read_map(skeleton->maps.host_files, partners->file_keys,
					partners->files, HOST_FILES);
}
