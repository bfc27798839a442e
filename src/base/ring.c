// SPDX-License-Identifier: BSD-2-Clause
// Reads a BPF ring buffer; see ring.h.
#include "base/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The reader returns space to the writers in steps of this many bytes: each step costs them a cache
 * line.
 */
#define STEP (64u << 10)

int ring__map(struct ring *ring, int map_fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info);
	void *consumer, *producer;

	*ring = (struct ring){0};
	if (bpf_obj_get_info_by_fd(map_fd, &info, &info_bytes))
		return -errno;
	size = info.max_entries;
	ring->size = size;
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	ring->consumer = consumer;
	producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (producer == MAP_FAILED) {
		int ret = -errno;

		ring__unmap(ring);
		return ret;
	}
	ring->producer = producer;
	ring->data = (const char *)producer + page;
	ring->read = __atomic_load_n(ring->consumer, __ATOMIC_RELAXED);
	return 0;
}

void ring__unmap(struct ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (ring->consumer)
		munmap(ring->consumer, page);
	if (ring->producer)
		munmap((void *)ring->producer, page + 2 * ring->size);
	*ring = (struct ring){0};
}

uint64_t ring__written(const struct ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

static void give_back(struct ring *ring)
{
	__atomic_store_n(ring->consumer, ring->read, __ATOMIC_RELEASE);
}

int ring__read(struct ring *ring, uint64_t end, ring_record_fn fn, void *arg)
{
	uint64_t given_back = ring->read;
	int ret = 0;

	while (!ret && ring->read < end) {
		const char *record = ring->data + (ring->read & (ring->size - 1));
		uint32_t header = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		uint32_t length = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (header & BPF_RINGBUF_BUSY_BIT) {
			ret = RING_BUSY;
			break;
		}
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			ret = fn(record + BPF_RINGBUF_HDR_SZ, length, arg);
		ring->read += (length + BPF_RINGBUF_HDR_SZ + 7) & ~7ull;
		if (ring->read - given_back >= STEP) {
			give_back(ring);
			given_back = ring->read;
		}
	}
	give_back(ring);
	return ret;
}
