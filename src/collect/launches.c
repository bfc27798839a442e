// SPDX-License-Identifier: BSD-2-Clause
// Launches and their kernels' names, see launches.h.
#include "collect/launches.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/count_table.h"
#include "collect/thread_counts_reader.h"
#include "collect/shares.h"
#include "collect/site_maps.h"
#include "gen/gpuprobe.skel.h"
#include "symbol/remote_name.h"

#define NAME_TRIES 64 /* kernels without a name that one reading looks up in their process */

/* Looks the name up in the live process, for kernels whose name no record had. */
static int look_up_name(struct reading *reading, const struct process *process,
			const struct kernel_key *key, char buffer[REMOTE_NAME_SIZE])
{
	char *name;
	int ret;

	if (process->ended || reading->name_tries >= NAME_TRIES)
		return -EAGAIN;
	reading->name_tries++;
	if (kernel_names__trusts_handles(reading->collector->names)) {
		ret = remote_name__read(reading->collector->memory, process->pid, key->handle,
					buffer);
		if (!ret)
			return 0;
	}
	ret = host_stub__name(reading->collector->stubs, process->pid, key->handle, &name);
	if (ret)
		return ret;
	strncpy(buffer, name, REMOTE_NAME_SIZE - 1);
	buffer[REMOTE_NAME_SIZE - 1] = '\0';
	free(name);
	return 0;
}

/*
 * Whether the handle still means the same kernel: its process lives and has unloaded nothing since.
 */
static bool is_current(const struct collector *collector, const struct kernel_key *key)
{
	const struct process_record *record = &collector->records[key->slot];

	return __atomic_load_n(&record->generation, __ATOMIC_ACQUIRE) == key->generation &&
	       __atomic_load_n(&record->state, __ATOMIC_ACQUIRE) == PROCESS_LIVE;
}

/*
 * Takes over the launches of a key. Returns 1 if they are complete and no more will come, 0, or a
 * negative errno.
 */
static int take_launches(struct reading *reading, const struct launch_key *key, uint64_t launches,
			 bool living)
{
	const struct kernel_key *kernel = &key->kernel;
	struct collector *collector = reading->collector;
	struct process *process = collector__process_at(collector, kernel->slot);
	uint32_t generation = process ? collector->records[kernel->slot].generation : 0;
	char buffer[REMOTE_NAME_SIZE];
	const char *name = NULL;
	bool over;
	int ret;

	if (!process)
		return 0;
	over = kernel->generation != generation;
	/* Names are costly to read, and nobody sees those of a process that is left out. */
	if (!process->left_out && !kernel_table__is_named(process->kernel_table, key)) {
		name = kernel_names__find(collector->names, kernel);
		/*
		 * If the handle has been reused meanwhile, the name read may be the next kernel's.
		 */
		if (!name && !over && !look_up_name(reading, process, kernel, buffer) &&
		    is_current(collector, kernel))
			name = buffer;
	}
	ret = kernel_table__set(process->kernel_table, key, launches, name);
	if (!ret)
		ret = site_maps__name(process, kernel);
	if (ret)
		return ret;
	if (reading__reaps(reading, process))
		return reading__end(reading, process, key);
	/* A thread that still keeps launches of the key will add them to the map later. */
	if (!over || living)
		return 0;
	/* Keep an old generation for one more reading: counts may still be in flight. */
	if (!kernel_table__retire(process->kernel_table, key))
		return 0;
	if (collector->estimates) {
		kernel_table__leave(process->kernel_table, key);
		return 1;
	}
	ret = kernel_table__fold(process->kernel_table, key);
	return ret ? ret : 1;
}

static int take_sum(const void *key, const struct tally *sum, bool living, void *arg)
{
	struct reading *reading = arg;
	int ret = reading__make_room(reading);

	if (!ret)
		ret = take_launches(reading, key, sum->calls, living);
	if (ret <= 0)
		return ret;
	ret = reading__delete_later(reading, key);
	return ret ? ret : 1;
}

/*
 * Launches without a counter of their own count as one more kernel, so that the process's sum is
 * complete.
 */
static int take_others(struct process *process, const struct process_record *record)
{
	int ret = 0;

	for (unsigned int device = 0; device <= OTHER_DEVICES && !ret; device++) {
		for (unsigned int captured = 0; captured < 2 && !ret; captured++) {
			const struct launch_key key = {
				.kernel = {.handle = KERNEL_OTHER, .slot = process->slot},
				.device =
					device == OTHER_DEVICES ? DEVICE_UNKNOWN : (uint8_t)device,
				.captured = (uint8_t)captured,
			};
			uint64_t launches = __atomic_load_n(
				&record->other_launches[device][captured], __ATOMIC_RELAXED);

			if (launches)
				ret = kernel_table__set(process->kernel_table, &key, launches,
							NULL);
		}
	}
	return ret;
}

int launches__begin(struct reading *reading)
{
	count_table__begin(
		thread_counts_reader__launches(reading->collector->thread_counts_reader));
	return 0;
}

int launches__take(struct reading *reading, struct process *process, const void *key,
		   const void *value)
{
	struct count_table *table =
		thread_counts_reader__launches(reading->collector->thread_counts_reader);
	const uint64_t *launches = value;
	int ret = count_table__add(table, COUNT_MAP, key, &(struct tally){.calls = *launches});

	(void)process;
	return ret ? ret : ELEMENT_SKIP;
}

int launches__add_own(struct reading *reading)
{
	return thread_counts_reader__add_launches(reading->collector->thread_counts_reader);
}

int launches__sum_up(struct reading *reading)
{
	struct collector *collector = reading->collector;
	int ret = count_table__each(thread_counts_reader__launches(collector->thread_counts_reader),
				    take_sum, reading);

	for (size_t i = 0; i < collector->model.process_count && !ret; i++) {
		struct process *process = &collector->model.processes[i];

		if (process->slot != NO_PROCESS)
			ret = take_others(process, &collector->records[process->slot]);
	}
	return ret;
}

int launches__forget_files(struct reading *reading)
{
	host_stubs__forget(reading->collector->stubs, reading->collector->model.now_ns);
	return 0;
}

/* The name goes here, after the walk, because several launch keys may have needed it. */
void launches__delete(struct reading *reading, const void *key_data)
{
	const struct launch_key *key = key_data;
	struct collector *collector = reading->collector;

	if (!bpf_map__delete_elem(collector->skeleton->maps.launches, key, sizeof(*key), 0))
		shares__deleted_kernel(collector, key->kernel.slot);
	kernel_names__drop(collector->names, &key->kernel);
}

/* --- shapes --- */

int launches__take_shape(struct reading *reading, struct process *process, const void *key,
			 const void *value)
{
	const struct kernel_key *kernel = key;
	int ret = kernel_table__set_shape(process->kernel_table, kernel, value);

	if (ret)
		return ret;
	return kernel->generation != reading->collector->records[kernel->slot].generation &&
			       kernel_table__is_over(process->kernel_table, kernel) ?
		       ELEMENT_DELETE :
		       ELEMENT_KEEP;
}
