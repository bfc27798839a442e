// SPDX-License-Identifier: BSD-2-Clause
// The profile of a run: threads, totals and histograms of durations, see profile_maps.h.
#include "collect/profile_maps.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/saturate.h"
#include "collect/profile_lists.h"
#include "collect/ended_keys.h"
#include "collect/thread_counts_reader.h"
#include "gen/gpuprobe.skel.h"
#include "gpuprobe/thread_counts.h"
#include "model/profile.h"
#include "model/devices.h"
#include "model/steady.h"
#include "stack/stacks.h"

/* A BPF map, mapped into memory. */
struct shared_array {
	void *memory;
	size_t bytes;
};

struct profile_maps {
	struct shared_array threads;   /* struct thread_profile by number */
	struct shared_array processes; /* struct process_profile by slot */
	struct shared_array durations; /* struct duration_record by number */
	const struct gpuprobe_bpf *skeleton;
};

/* --- the shared maps --- */

static int map_array(const struct bpf_map *map, struct shared_array *array, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return error__set(err, -errno, "cannot map %s: %s", bpf_map__name(map),
				  strerror(errno));
	*array = (struct shared_array){.memory = memory, .bytes = bytes};
	return 0;
}

static void unmap_array(struct shared_array *array)
{
	if (array->memory)
		munmap(array->memory, array->bytes);
}

static struct thread_profile *thread_at(const struct profile_maps *maps, uint32_t number)
{
	return (struct thread_profile *)maps->threads.memory + number;
}

static struct process_profile *process_at(const struct profile_maps *maps, uint32_t slot)
{
	return (struct process_profile *)maps->processes.memory + slot;
}

static struct duration_record *duration_at(const struct profile_maps *maps, uint32_t number)
{
	return (struct duration_record *)maps->durations.memory + number;
}

int profile_maps__new(const struct gpuprobe_bpf *skeleton, struct profile_maps **out,
		      struct error *err)
{
	struct profile_maps *maps = calloc(1, sizeof(*maps));
	int ret;

	if (!maps)
		return error__set(err, -ENOMEM, "out of memory");
	maps->skeleton = skeleton;
	ret = map_array(skeleton->maps.thread_accounts, &maps->threads, err);
	if (!ret)
		ret = map_array(skeleton->maps.process_accounts, &maps->processes, err);
	if (!ret)
		ret = map_array(skeleton->maps.durations, &maps->durations, err);
	if (ret)
		goto fail;
	*out = maps;
	return 0;
fail:
	profile_maps__free(maps);
	return ret;
}

void profile_maps__free(struct profile_maps *maps)
{
	if (!maps)
		return;
	unmap_array(&maps->threads);
	unmap_array(&maps->processes);
	unmap_array(&maps->durations);
	free(maps);
}

/* --- threads --- */

static void sum_up(struct profile *profile, const struct thread_profile *thread, uint64_t began_ns)
{
	profile->unlisted_threads++;
	profile->unlisted_wall_ns += profile__wall_ns(thread, began_ns, thread->ended_ns);
	for (int i = 0; i < TIME_CLASSES; i++) {
		profile->unlisted_time[i].calls += thread->time[i].calls;
		profile->unlisted_time[i].ns += thread->time[i].ns;
	}
}

/*
 * Ended threads come first in the list and stay in it: moves the last one to them. If they are too
 * many, adds it to the sums instead.
 */
static void keep_ended(struct profile *profile, uint64_t began_ns)
{
	struct thread_profile thread = profile->threads[profile->thread_count - 1];

	if (profile->ended_count >= PROFILE_ENDED_KEPT) {
		profile->thread_count--;
		sum_up(profile, &thread, began_ns);
		return;
	}
	profile->threads[profile->thread_count - 1] = profile->threads[profile->ended_count];
	profile->threads[profile->ended_count++] = thread;
}

/*
 * `counted`: the thread reported its own end, so it is one of the `ended_accounts` that wait to be
 * read.
 */
static void give_back(const struct collector *collector, uint32_t number, bool counted)
{
	const struct profile_maps *maps = collector->profile_maps;

	memset(thread_at(maps, number), 0, sizeof(struct thread_profile));
	if (counted)
		__atomic_fetch_sub(&maps->skeleton->bss->ended_accounts, 1, __ATOMIC_RELEASE);
	thread_counts_reader__give_back(collector->thread_counts_reader, number);
}

static int read_thread(const struct reading *reading, uint32_t number)
{
	const struct profile_maps *maps = reading->collector->profile_maps;
	const struct thread_profile *shared = thread_at(maps, number);
	uint64_t ended_ns = __atomic_load_n(&shared->ended_ns, __ATOMIC_ACQUIRE);
	struct process *process;
	struct thread_profile thread;
	bool counted = ended_ns;
	int ret;

	if (!shared->first_ns)
		return 0;
	process = collector__process_at(reading->collector, shared->slot);
	if (!process || !process->profile)
		return 0;
	thread = *shared;
	if (reading__reaps(reading, process) && !ended_ns)
		ended_ns = process->ended_ns;
	thread.ended_ns = ended_ns;
	ret = profile_lists__add_pending(process->profile, &thread);
	if (ret)
		return ret;
	ret = ARRAY_APPEND(process->profile->threads, process->profile->thread_count, thread);
	if (ret || !ended_ns)
		return ret;
	ret = thread_counts_reader__keep(reading->collector->thread_counts_reader, number);
	if (ret)
		return ret;
	/*
	 * From here on, each reading adds the kept counts: nothing may fail until the counter slot
	 * is given back.
	 */
	keep_ended(process->profile, reading->collector->attached_ns);
	give_back(reading->collector, number, counted);
	return 0;
}

/* --- the rest --- */

int profile_maps__take_duration(struct reading *reading, struct process *process, const void *key,
				const void *value)
{
	const uint32_t *number = value;
	struct profile *profile = process->profile;
	struct profile_function *function;
	uint64_t calls = 0;

	if (!profile || *number >= PROFILE_DURATIONS)
		return ELEMENT_SKIP;
	if (ARRAY_RESERVE(profile->functions, profile->function_count, 1))
		return -ENOMEM;
	function = &profile->functions[profile->function_count++];
	function->row = ((const struct duration_key *)key)->row;
	/* A histogram is large: a compound literal would copy it twice. */
	function->time = *duration_at(reading->collector->profile_maps, *number);
	function->missed = function->missed_ns = function->open = function->open_ns = 0;
	for (uint32_t i = 0; i < TIME_BUCKETS; i++)
		calls += function->time.buckets[i];
	function->time.calls += calls;
	return 0;
}

static void release_duration(const void *key, void *arg)
{
	const struct profile_maps *maps = arg;
	const struct gpuprobe_bpf *skeleton = maps->skeleton;
	uint32_t number;

	if (bpf_map__lookup_elem(skeleton->maps.duration_numbers, key, sizeof(struct duration_key),
				 &number, sizeof(number), 0) ||
	    number >= PROFILE_DURATIONS)
		return;
	memset(duration_at(maps, number), 0, sizeof(struct duration_record));
	bpf_map__update_elem(skeleton->maps.free_durations, NULL, 0, &number, sizeof(number), 0);
}

static int by_time(const void *a, const void *b)
{
	const struct profile_function *x = a, *y = b;

	uint64_t x_ns = profile_function__ns(x), y_ns = profile_function__ns(y);

	return x_ns < y_ns ? 1 : (x_ns > y_ns ? -1 : (int)x->row - (int)y->row);
}

/* Adds the threads that BPF has summed up to those that userspace has. */
static void take_totals(struct profile *profile, const struct process_profile *shared)
{
	struct process_profile totals = *shared;

	profile->unlisted_threads += totals.unlisted_threads - profile->totals.unlisted_threads;
	profile->unlisted_wall_ns += totals.unlisted_wall_ns - profile->totals.unlisted_wall_ns;
	for (int i = 0; i < TIME_CLASSES; i++) {
		profile->unlisted_time[i].calls +=
			totals.unlisted_time[i].calls - profile->totals.unlisted_time[i].calls;
		profile->unlisted_time[i].ns +=
			totals.unlisted_time[i].ns - profile->totals.unlisted_time[i].ns;
	}
	profile->totals = totals;
}

/*
 * Whether the process uses one device, by NVML or because it has no other. Contexts from before it
 * was watched belong to that device then.
 */
static bool uses_one_device(const struct process *process)
{
	size_t used = 0;

	for (size_t i = 0; i < process->gpu_count; i++)
		used += process->gpus[i].used_bytes != GPU_UNKNOWN_BYTES &&
			process->gpus[i].used_bytes;
	return used == 1 || (!used && process->gpu_count == 1);
}

static int begin_process(struct reading *reading, struct process *process)
{
	struct process_profile *shared =
		process_at(reading->collector->profile_maps, process->slot);
	struct profile *profile = process->profile;

	if (!profile)
		profile = process->profile = profile__new();
	if (!profile)
		return -ENOMEM;
	profile->thread_count = profile->ended_count;
	profile->missed_count = 0;
	profile->function_count = 0;
	if (!shared->one_device && uses_one_device(process))
		shared->one_device = 1;
	take_totals(profile, shared);
	profile_lists__clear(profile);
	return 0;
}

/*
 * The highest peak of a single size: a lower bound of the peak between readings, in which much may
 * come and go. 0 once a context has ended, because counters by size still include the memory that
 * ended with it.
 */
static uint64_t most_of_one_size(const struct process *process)
{
	const struct profile *profile = process->profile;
	uint64_t most = 0;

	for (size_t i = 0; i < profile->size_count && !process->deaths_seen; i++) {
		uint64_t bytes = saturate__product(profile->sizes[i].key.size,
						   profile->sizes[i].record.peak);

		if (memory_kind__is_device(profile->sizes[i].key.kind) && bytes > most)
			most = bytes;
	}
	return most;
}

static void finish(struct process *process)
{
	struct profile *profile = process->profile;
	uint64_t bytes = 0, most = most_of_one_size(process);

	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if (memory_kind__is_device(kind))
			saturate__add(&bytes, process->memory[kind].live_bytes);
	bytes = bytes > most ? bytes : most;
	if (bytes > profile->peak_bytes)
		profile->peak_bytes = bytes;
	if (profile->function_count)
		qsort(profile->functions, profile->function_count, sizeof(*profile->functions),
		      by_time);
	if (process->ended) {
		profile->inflight_at_exit[0] = profile->totals.exit_copies;
		profile->inflight_at_exit[1] = profile->totals.exit_bytes;
	}
	profile_lists__sort(profile);
}

static int each_process(struct reading *reading,
			int (*fn)(struct reading *reading, struct process *process))
{
	struct model *model = &reading->collector->model;
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (model->processes[i].slot != NO_PROCESS)
			ret = fn(reading, &model->processes[i]);
	return ret;
}

/* For threads whose end was not seen. BPF has added the errors of the others. */
static int add_pending(struct reading *reading, struct process *process)
{
	struct profile *profile = process->profile;
	int ret = 0;

	(void)reading;
	for (size_t i = 0; i < profile->ended_count && !ret; i++)
		ret = profile_lists__add_pending(profile, &profile->threads[i]);
	return ret;
}

static int finish_process(struct reading *reading, struct process *process)
{
	struct collector *collector = reading->collector;
	const struct profile_span span = {
		.began_ns = collector->attached_ns,
		.now_ns = process->ended ? process->ended_ns : collector->model.now_ns,
		.over = process->ended || collector->model.final,
	};
	int ret;

	finish(process);
	start__follow(process, span.now_ns);
	ret = collector->estimates ?
		      estimates__apply_profile(collector->estimates, process, &span) :
		      0;
	return ret ? ret : steady__follow(&collector->model, process);
}

/* --- stacks --- */

/* Adds the stack of an id, unless it is unknown or already listed. */
static int add_stack(const struct collector *collector, struct profile *profile, uint64_t id)
{
	struct profile_stack entry = {.id = id};

	if (!id || profile__stack(profile, id))
		return 0;
	entry.stack = stacks__find(collector->stacks, id);
	if (!entry.stack)
		return 0;
	return ARRAY_APPEND(profile->stacks, profile->stack_count, entry);
}

static int find_stacks(const struct collector *collector, struct profile *profile)
{
	int ret = add_stack(collector, profile, profile->totals.missing_stack);

	for (size_t i = 0; i < MISSING_SITES && !ret; i++)
		ret = add_stack(collector, profile, profile->totals.missing_sites[i].stack);
	for (size_t i = 0; i < CONTENTIONS && !ret; i++) {
		ret = add_stack(collector, profile, profile->totals.contentions[i].stack);
		if (!ret)
			ret = add_stack(collector, profile,
					profile->totals.contentions[i].holder_stack);
	}
	for (size_t i = 0; i < profile->thread_count && !ret; i++)
		ret = add_stack(collector, profile, profile->threads[i].idle_stack);
	for (size_t i = 0; i < profile->ignored_count && !ret; i++)
		ret = add_stack(collector, profile, profile->ignored[i].record.stack);
	for (size_t i = 0; i < profile->mapped_count && !ret; i++)
		ret = add_stack(collector, profile, profile->mapped[i].record.stack);
	return ret;
}

int profile_maps__list_stacks(struct reading *reading)
{
	const struct collector *collector = reading->collector;
	int ret = 0;

	for (size_t i = 0; i < collector->model.process_count && !ret; i++)
		if (collector->model.processes[i].profile)
			ret = find_stacks(collector, collector->model.processes[i].profile);
	return ret;
}

int profile_maps__begin(struct reading *reading)
{
	return each_process(reading, begin_process);
}

int profile_maps__add_pending(struct reading *reading)
{
	return each_process(reading, add_pending);
}

static int note_time(struct reading *reading, struct process *process)
{
	(void)reading;
	process->profile->counted_ns = clock__boot_ns();
	return 0;
}

int profile_maps__read_threads(struct reading *reading)
{
	int ret = 0;

	for (uint32_t number = 0; number < THREAD_COUNTER_SLOTS && !ret; number++)
		ret = read_thread(reading, number);
	return ret ? ret : each_process(reading, note_time);
}

int profile_maps__finish(struct reading *reading)
{
	return each_process(reading, finish_process);
}

static int release_process(struct reading *reading, struct process *process)
{
	if (reading__reaps(reading, process))
		memset(process_at(reading->collector->profile_maps, process->slot), 0,
		       sizeof(struct process_profile));
	return 0;
}

void profile_maps__release(struct reading *reading)
{
	struct collector *collector = reading->collector;

	if (!collector->profile_maps)
		return;
	each_process(reading, release_process);
	ended_keys__each(collector->ended, collector->skeleton->maps.duration_numbers,
			 release_duration, collector->profile_maps);
}
