// SPDX-License-Identifier: BSD-2-Clause
// Reads threads' own counters in place, see thread_counts_reader.h.
#include "collect/thread_counts_reader.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/count_table.h"
#include "gen/gpuprobe.skel.h"
#include "gpuprobe/thread_counts.h"

#define BYTES (THREAD_COUNTER_SLOTS * sizeof(struct thread_counts))
_Static_assert(BYTES % 4096 == 0, "whole pages");

struct thread_counts_reader {
	struct thread_counts *slots; /* the BPF map, while it is mapped */
	struct count_table *tallies, *launches;
	const struct bpf_map *map, *free;
};

int thread_counts_reader__new(const struct gpuprobe_bpf *skeleton,
			      struct thread_counts_reader **out, struct error *err)
{
	struct thread_counts_reader *counts = calloc(1, sizeof(*counts));
	int ret = -ENOMEM;

	if (counts) {
		counts->tallies = count_table__new(sizeof(struct tally_key));
		counts->launches = count_table__new(sizeof(struct launch_key));
	}
	if (!counts || !counts->tallies || !counts->launches) {
		error__set(err, ret, "out of memory");
		goto fail;
	}
	counts->map = skeleton->maps.thread_counts;
	counts->free = skeleton->maps.free_places;
	*out = counts;
	return 0;
fail:
	thread_counts_reader__free(counts);
	return ret;
}

void thread_counts_reader__free(struct thread_counts_reader *counts)
{
	if (!counts)
		return;
	thread_counts_reader__unmap(counts);
	count_table__free(counts->tallies);
	count_table__free(counts->launches);
	free(counts);
}

/*
 * mmap puts all pages of the array into the page table at once, and they count as gpuprobe's
 * resident memory while they are mapped: 4 MB. A reading passes over them once, so they are mapped
 * only for that time.
 */
int thread_counts_reader__map(struct thread_counts_reader *counts)
{
	void *slots =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(counts->map), 0);

	if (slots == MAP_FAILED)
		return -errno;
	counts->slots = slots;
	return 0;
}

void thread_counts_reader__unmap(struct thread_counts_reader *counts)
{
	if (counts->slots)
		munmap(counts->slots, BYTES);
	counts->slots = NULL;
}

struct count_table *thread_counts_reader__tallies(const struct thread_counts_reader *counts)
{
	return counts->tallies;
}

struct count_table *thread_counts_reader__launches(const struct thread_counts_reader *counts)
{
	return counts->launches;
}

/*
 * Copy a counter that its thread may be changing. Return whether the copy is one used counter and
 * not a mix of two. A thread that reuses a counter for another key clears it first and sets the
 * calls last. So read the key, then the counts, then the key again.
 */
static bool copy_tally(struct thread_tally *copy, const struct thread_tally *shared)
{
	uint64_t key = __atomic_load_n((const uint64_t *)&shared->key, __ATOMIC_ACQUIRE);

	memcpy(&copy->key, &key, sizeof(key));
	copy->calls = __atomic_load_n(&shared->calls, __ATOMIC_ACQUIRE);
	copy->bytes = __atomic_load_n(&shared->bytes, __ATOMIC_ACQUIRE);
	copy->ns = __atomic_load_n(&shared->ns, __ATOMIC_ACQUIRE);
	return copy->calls &&
	       __atomic_load_n((const uint64_t *)&shared->key, __ATOMIC_ACQUIRE) == key;
}

static bool copy_launch(struct thread_launch *copy, const struct thread_launch *shared)
{
	copy->handle = __atomic_load_n(&shared->handle, __ATOMIC_ACQUIRE);
	copy->where = __atomic_load_n(&shared->where, __ATOMIC_ACQUIRE);
	copy->launches = __atomic_load_n(&shared->launches, __ATOMIC_ACQUIRE);
	return copy->launches &&
	       __atomic_load_n(&shared->handle, __ATOMIC_ACQUIRE) == copy->handle &&
	       is_same_site(__atomic_load_n(&shared->where, __ATOMIC_ACQUIRE), copy->where);
}

static int add_tallies(const struct thread_counts_reader *counts, uint32_t number,
		       enum count_from from)
{
	const struct thread_counts *own = &counts->slots[number];
	int ret = 0;

	for (size_t i = 0; i < THREAD_TALLIES && !ret; i++) {
		struct thread_tally mine;
		struct tally tally;

		if (!copy_tally(&mine, &own->tallies[i]))
			continue;
		tally = (struct tally){.calls = mine.calls, .bytes = mine.bytes, .ns = mine.ns};
		ret = count_table__add(counts->tallies, from, &mine.key, &tally);
	}
	return ret;
}

static int add_launches(const struct thread_counts_reader *counts, uint32_t number,
			enum count_from from)
{
	const struct thread_counts *own = &counts->slots[number];
	int ret = 0;

	for (size_t i = 0; i < THREAD_LAUNCHES && !ret; i++) {
		struct thread_launch mine;
		struct launch_key key;

		if (!copy_launch(&mine, &own->launches[i]))
			continue;
		key = launch_key_of(own->slot, mine.handle, mine.where);
		ret = count_table__add(counts->launches, from, &key,
				       &(struct tally){.calls = mine.launches});
	}
	return ret;
}

static bool is_used(const struct thread_counts_reader *counts, uint32_t number)
{
	return __atomic_load_n(&counts->slots[number].used, __ATOMIC_ACQUIRE);
}

static int add_living(const struct thread_counts_reader *counts,
		      int (*add)(const struct thread_counts_reader *counts, uint32_t number,
				 enum count_from from))
{
	int ret = 0;

	for (uint32_t number = 0; number < THREAD_COUNTER_SLOTS && !ret; number++)
		if (is_used(counts, number))
			ret = add(counts, number, COUNT_LIVING);
	return ret;
}

int thread_counts_reader__add_tallies(const struct thread_counts_reader *counts)
{
	return add_living(counts, add_tallies);
}

int thread_counts_reader__add_launches(const struct thread_counts_reader *counts)
{
	return add_living(counts, add_launches);
}

int thread_counts_reader__keep(const struct thread_counts_reader *counts, uint32_t number)
{
	int ret = add_tallies(counts, number, COUNT_ROOM);

	if (!ret)
		ret = add_launches(counts, number, COUNT_ROOM);
	/* From here on nothing can fail. */
	if (!ret)
		ret = add_tallies(counts, number, COUNT_ENDED);
	return ret ? ret : add_launches(counts, number, COUNT_ENDED);
}

void thread_counts_reader__give_back(const struct thread_counts_reader *counts, uint32_t number)
{
	memset(&counts->slots[number], 0, sizeof(counts->slots[number]));
	bpf_map__update_elem(counts->free, NULL, 0, &number, sizeof(number), 0);
}

static bool is_of_ended(const struct reading *reading, uint32_t slot)
{
	const struct process *process = collector__process_at(reading->collector, slot);

	return process && reading__reaps(reading, process);
}

static bool is_ended_tally(const void *key, void *arg)
{
	return is_of_ended(arg, ((const struct tally_key *)key)->slot);
}

static bool is_ended_launch(const void *key, void *arg)
{
	return is_of_ended(arg, ((const struct launch_key *)key)->kernel.slot);
}

void thread_counts_reader__release(struct reading *reading)
{
	const struct thread_counts_reader *counts = reading->collector->thread_counts_reader;

	for (uint32_t number = 0; number < THREAD_COUNTER_SLOTS; number++)
		if (is_used(counts, number) && is_of_ended(reading, counts->slots[number].slot))
			thread_counts_reader__give_back(counts, number);
	count_table__drop(counts->tallies, is_ended_tally, reading);
	count_table__drop(counts->launches, is_ended_launch, reading);
}
