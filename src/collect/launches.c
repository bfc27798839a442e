// SPDX-License-Identifier: BSD-2-Clause
// Launches and their kernels' names, see launches.h.
#include "collect/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/count_table.h"
#include "collect/thread_counts_reader.h"
#include "collect/site_maps.h"
#include "gen/gpuprobe.skel.h"
#include "symbol/remote_name.h"

#define NAME_TRIES 64 /* nameless kernels that one reading looks up in their process */

/* Looks for a name in the live process, where no record told one. */
static int look_up_name(struct reading *reading, const struct process *process, const struct kernel_key *key,
			char buffer[REMOTE_NAME_SIZE])
{
	char *name;
	int ret;

	if (process->ended || reading->name_tries >= NAME_TRIES)
		return -EAGAIN;
	reading->name_tries++;
	if (kernel_names__trusts_handles(reading->collector->names)) {
		ret = remote_name__read(reading->collector->memory, process->pid, key->handle, buffer);
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

/* Whether the handle still stands for the same kernel: its process lives and has unloaded nothing since. */
static bool is_current(const struct collector *collector, const struct kernel_key *key)
{
	const struct process_record *record = &collector->records[key->slot];

	return __atomic_load_n(&record->generation, __ATOMIC_ACQUIRE) == key->generation &&
	       __atomic_load_n(&record->state, __ATOMIC_ACQUIRE) == PROCESS_LIVE;
}

/* Takes in the launches of a key. Returns 1 where they are all taken and no more will come, 0, or a negative errno. */
static int take_launches(struct reading *reading, const struct launch_key *key, uint64_t launches, bool living)
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
	if (!kernel_table__is_named(process->kernel_table, key)) {
		name = kernel_names__find(collector->names, kernel);
		/* What was read may be the name of the next kernel behind the handle, if that changed meanwhile. */
		if (!name && !over && !look_up_name(reading, process, kernel, buffer) && is_current(collector, kernel))
			name = buffer;
	}
	ret = kernel_table__set(process->kernel_table, key, launches, name);
	if (!ret)
		ret = site_maps__name(process, kernel);
	if (ret)
		return ret;
	if (reading__dooms(reading, process))
		return reading__end(reading, process, key);
	/* Launches that a thread keeps by itself come back when it gives them away. */
	if (!over || living)
		return 0;
	/* An old generation is left for one more reading, for counts that were under way. */
	if (!kernel_table__retire(process->kernel_table, key))
		return 0;
	if (collector->estimates) {
		kernel_table__leave(process->kernel_table, key);
		return 1;
	}
	ret = kernel_table__fold(process->kernel_table, key);
	return ret ? ret : 1;
}

/* The map is only a part of it: threads keep the rest. */
static int read_shared_launches(const void *key, const void *value, void *arg)
{
	struct reading *reading = arg;
	struct count_table *table = thread_counts_reader__launches(reading->collector->thread_counts_reader);
	const uint64_t *launches = value;

	return count_table__add(table, COUNT_MAP, key, &(struct tally){.calls = *launches});
}

static int take_summed_launches(const void *key, const struct tally *sum, bool living, void *arg)
{
	struct reading *reading = arg;
	int ret = reading__make_room(reading);

	if (!ret)
		ret = take_launches(reading, key, sum->calls, living);
	if (ret <= 0)
		return ret;
	ret = reading__doom(reading, key);
	return ret ? ret : 1;
}

/* What had no counter of its own is one kernel more, so that the process's launches are all there. */
static int take_others(struct process *process, const struct process_record *record)
{
	int ret = 0;

	for (unsigned int device = 0; device <= OTHER_DEVICES && !ret; device++) {
		for (unsigned int captured = 0; captured < 2 && !ret; captured++) {
			const struct launch_key key = {
				.kernel = {.handle = KERNEL_OTHER, .slot = process->slot},
				.device = device == OTHER_DEVICES ? DEVICE_UNKNOWN : (uint8_t)device,
				.captured = (uint8_t)captured,
			};
			uint64_t launches = __atomic_load_n(&record->other_launches[device][captured], __ATOMIC_RELAXED);

			if (launches)
				ret = kernel_table__set(process->kernel_table, &key, launches, NULL);
		}
	}
	return ret;
}

static int take_all_others(struct reading *reading)
{
	struct collector *collector = reading->collector;
	int ret = 0;

	for (size_t i = 0; i < collector->model.process_count && !ret; i++) {
		struct process *process = &collector->model.processes[i];

		if (process->slot != NO_PROCESS)
			ret = take_others(process, &collector->records[process->slot]);
	}
	return ret;
}

int launches__read(struct reading *reading)
{
	const struct thread_counts_reader *own = reading->collector->thread_counts_reader;
	struct count_table *table = thread_counts_reader__launches(own);
	int ret;

	count_table__begin(table);
	ret = reading__map(reading, reading->collector->skeleton->maps.launches, read_shared_launches);
	if (!ret)
		ret = thread_counts_reader__add_launches(own);
	/* The names of those that were first seen while the maps were read have come since. */
	collector__consume(reading->collector);
	if (!ret)
		ret = count_table__each(table, take_summed_launches, reading);
	if (!ret)
		ret = take_all_others(reading);
	host_stubs__forget(reading->collector->stubs, reading->collector->model.now_ns);
	reading__delete_doomed(reading);
	return ret;
}
