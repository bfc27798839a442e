// SPDX-License-Identifier: BSD-2-Clause
// The collector and its ring, see collector.h; snapshot.c reads the maps, notices.c takes notices.
#include "collect/collector.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/profile_maps.h"
#include "collect/ended_keys.h"
#include "collect/ended_memory.h"
#include "collect/memory.h"
#include "collect/open_calls.h"
#include "collect/thread_counts_reader.h"
#include "collect/private.h"
#include "collect/site_maps.h"
#include "collect/steps.h"
#include "gen/gpuprobe.skel.h"
#include "stack/stacks.h"
#include "target/mounts.h"

#define TURN_NS (50 * NS_PER_MS)
#define MANY_ALLOCATIONS 16384 /* walking over this many takes some milliseconds */

static int map_processes(struct collector *collector, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = collector->options.max_processes * sizeof(struct process_record);
	void *mapping;

	bytes = (bytes + page - 1) / page * page;
	mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(collector->skeleton->maps.processes), 0);
	if (mapping == MAP_FAILED)
		return error__set(err, -errno, "cannot map the table of processes: %s",
				  strerror(errno));
	collector->records = mapping;
	collector->records_bytes = bytes;
	return 0;
}

static int open_ring(struct collector *collector, const struct bpf_map *map)
{
	struct epoll_event waiting = {.events = EPOLLIN};
	int ret = ring__map(&collector->ring, bpf_map__fd(map));

	if (ret)
		return ret;
	collector->waiting_fd = epoll_create1(EPOLL_CLOEXEC);
	if (collector->waiting_fd < 0)
		return -errno;
	return epoll_ctl(collector->waiting_fd, EPOLL_CTL_ADD, bpf_map__fd(map), &waiting) ?
		       -errno :
		       0;
}

static bool has_filter(const struct live_filter *filter)
{
	return filter->older_ns || filter->min_bytes || filter->max_bytes;
}

int collector__new(struct gpuprobe_bpf *skeleton, const struct collector_options *options,
		   const struct collector_hooks *hooks, const struct log *log,
		   struct collector **out, struct error *err)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int ret = -ENOMEM;

	if (!collector)
		return error__set(err, ret, "out of memory");
	collector->skeleton = skeleton;
	collector->options = *options;
	collector->log = log;
	collector->waiting_fd = -1;
	if (hooks)
		collector->hooks = *hooks;
	collector->attached_ns = UINT64_MAX;
	collector->model.sections = options->sections;
	collector->model.launch_sample = options->launch_sample;
	collector->model.no_returns = options->no_returns;
	collector->model.stacks = options->stack_mode != STACK_OFF;
	collector->model.min_wait_ns = skeleton->rodata->config.min_wait_ns;
	collector->model.stack_sample = skeleton->rodata->config.stack_sample;
	collector->model.shape_sample = skeleton->rodata->config.launch_sample;
	collector->names = kernel_names__new();
	collector->reader = map_reader__new();
	collector->stubs = host_stubs__new(16);
	collector->memory = memory_reader__new(log);
	collector->attribution = attribution__new(collector->memory, &options->pod_logs);
	if (collector->attribution && options->watch_gpus)
		attribution__watch_gpus(collector->attribution);
	collector->contexts = contexts__new();
	collector->ended = ended_keys__new();
	collector->ended_memory = ended_memory__new(options->max_processes);
	collector->index_of = malloc(options->max_processes * sizeof(*collector->index_of));
	if (!collector->names || !collector->reader || !collector->stubs || !collector->memory ||
	    !collector->attribution || !collector->contexts || !collector->ended ||
	    !collector->ended_memory || !collector->index_of) {
		error__set(err, ret, "out of memory");
		goto fail;
	}
	/*
	 * Sums by site, and filters by size or age, need a walk over all allocations. Otherwise the
	 * largest ones can be gathered in advance.
	 */
	if (options->top && !options->stack_mode && !has_filter(&options->live_filter))
		collector->largest = largest__new(options->max_processes, options->top);
	memset(collector->index_of, 0xff, options->max_processes * sizeof(*collector->index_of));
	ret = map_processes(collector, err);
	if (ret)
		goto fail;
	ret = open_ring(collector, skeleton->maps.ring);
	if (ret) {
		error__set(err, ret, "cannot open the ring buffer: %s", strerror(-ret));
		goto fail;
	}
	ret = thread_counts_reader__new(skeleton, &collector->thread_counts_reader, err);
	if (ret)
		goto fail;
	ret = open_calls__new(skeleton, &collector->open_calls, err);
	if (ret)
		goto fail;
	if (options->profile) {
		ret = profile_maps__new(skeleton, &collector->profile_maps, err);
		if (ret)
			goto fail;
	}
	if (options->steps) {
		ret = steps__new(skeleton, options->steps_by, &collector->steps, err);
		if (ret)
			goto fail;
	}
	if (options->estimates.missed) {
		ret = -ENOMEM;
		collector->estimates = estimates__new(&options->estimates, options->max_processes);
		if (!collector->estimates) {
			error__set(err, ret, "out of memory");
			goto fail;
		}
	}
	if (options->stack_mode) {
		ret = site_maps__open(collector, err);
		if (ret)
			goto fail;
	}
	*out = collector;
	return 0;
fail:
	collector__free(collector);
	return ret;
}

struct earlier_calls *collector__earlier(struct collector *collector)
{
	return open_calls__earlier(collector->open_calls);
}

void collector__free(struct collector *collector)
{
	if (!collector)
		return;
	ring__unmap(&collector->ring);
	if (collector->waiting_fd >= 0)
		close(collector->waiting_fd);
	if (collector->records)
		munmap(collector->records, collector->records_bytes);
	collector__take_back(collector);
	model__clear(&collector->model);
	kernel_names__free(collector->names);
	map_reader__free(collector->reader);
	host_stubs__free(collector->stubs);
	attribution__free(collector->attribution);
	contexts__free(collector->contexts);
	stacks__free(collector->stacks);
	memory_reader__free(collector->memory);
	thread_counts_reader__free(collector->thread_counts_reader);
	open_calls__free(collector->open_calls);
	profile_maps__free(collector->profile_maps);
	steps__free(collector->steps);
	estimates__free(collector->estimates);
	free(collector->index_of);
	free(collector->late);
	largest__free(collector->largest);
	free(collector->dead.keys);
	ended_keys__free(collector->ended);
	ended_memory__free(collector->ended_memory);
	free(collector);
}

int collector__ring_fd(const struct collector *collector)
{
	return collector->waiting_fd;
}

/* Leaves notices that arrive meanwhile: they may arrive faster than they are read. */
static void take_notices(struct collector *collector)
{
	ring__read(&collector->ring, ring__written(&collector->ring), notices__take, collector);
}

/*
 * Work that reads /proc comes last: the stacks of a program that ends at once must be named first.
 */
static void consume_until(struct collector *collector, uint64_t until_ns)
{
	size_t waiting;

	collector->until_ns = until_ns;
	mounts__keep();
	take_notices(collector);
	/* Take in new notices before the next stack is named, which may take long. */
	for (waiting = collector->stacks ? stacks__waiting(collector->stacks) : 0;
	     waiting && clock__boot_ns() < until_ns && stacks__settle(collector->stacks); waiting--)
		take_notices(collector);
	if (collector->has_fresh)
		collector__see_fresh_processes(collector);
	if (collector->has_steps)
		steps__look(collector);
	mounts__forget();
}

void collector__consume(struct collector *collector)
{
	consume_until(collector, UINT64_MAX);
}

void collector__consume_some(struct collector *collector)
{
	consume_until(collector, clock__boot_ns() + TURN_NS);
}

void collector__see_process(struct collector *collector, pid_t pid)
{
	if (collector->stacks)
		stacks__look_at(collector->stacks, pid, false);
}

struct stacks *collector__stacks(const struct collector *collector)
{
	return collector->stacks;
}

void collector__filter_live(struct collector *collector, const struct live_filter *filter)
{
	collector->options.live_filter = *filter;
}

void collector__rest(struct collector *collector)
{
	host_stubs__forget(collector->stubs, clock__boot_ns());
}

void collector__attached(struct collector *collector)
{
	collector->attached_ns = clock__boot_ns();
	collector->skeleton->bss->attached_ns =
		collector->options.exact_from_start ? 1 : collector->attached_ns;
	if (collector->options.watch_gpus)
		attribution__begin(collector->attribution);
}

struct process *collector__processes(struct collector *collector, size_t *count)
{
	*count = collector__process_count(collector);
	return collector->model.processes;
}

struct model *collector__model(struct collector *collector)
{
	return &collector->model;
}

static bool has_ended_process(const struct collector *collector)
{
	for (size_t i = 0; i < collector__process_count(collector); i++)
		if (collector->model.processes[i].ended &&
		    collector->model.processes[i].slot != NO_PROCESS)
			return true;
	return false;
}

/* The notice may not have fitted into the ring, or the process ended during a reaping. */
static void ask_for_reaping(struct collector *collector)
{
	if (has_ended_process(collector) && collector->hooks.process_ended)
		collector->hooks.process_ended(collector->hooks.arg);
}

int collector__reap(struct collector *collector, bool with_lists)
{
	int ret;

	/* The last reading is of all processes, whatever was gathered. */
	if (with_lists || !ended_memory__is_complete(collector->ended_memory))
		ended_memory__forget(collector->ended_memory);
	collector->reaped = 0;
	ret = collector__read_maps(collector, with_lists, true);
	if (!ret)
		collector__release_slots(collector);
	ended_memory__forget(collector->ended_memory);
	if (ret)
		return ret;
	collector__drop_old_processes(collector);
	ask_for_reaping(collector);
	return 0;
}

double collector__living(const struct collector *collector)
{
	size_t living = 0;

	for (size_t i = 0; i < collector__process_count(collector); i++)
		living += collector->model.processes[i].slot != NO_PROCESS;
	return living ? (double)living / (double)(living + collector->reaped) : 0;
}

int collector__update(struct collector *collector, bool with_lists)
{
	int ret;

	ret = collector__read_maps(collector, with_lists, false);
	collector__drop_old_processes(collector);
	ask_for_reaping(collector);
	return ret;
}

static uint64_t live_count(const struct process *process)
{
	uint64_t count = 0;

	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		count += process->memory[kind].live_count;
	return count;
}

static bool has_many_allocations(const struct collector *collector)
{
	uint64_t live = 0;

	for (size_t i = 0; i < collector__process_count(collector); i++)
		if (collector->model.processes[i].slot != NO_PROCESS)
			live += live_count(&collector->model.processes[i]);
	return live >= MANY_ALLOCATIONS;
}

bool collector__gathers(const struct collector *collector)
{
	return collector->largest && has_many_allocations(collector);
}

/* Wants the memory of all ended processes, if one of them has any by its final counts. */
static bool begin_gathering_ended(struct collector *collector)
{
	bool has_any = false;

	if (!has_many_allocations(collector) || collector__read_maps(collector, false, false))
		return false;
	for (size_t i = 0; i < collector__process_count(collector) && !has_any; i++)
		has_any = collector->model.processes[i].ended &&
			  memory__needs_reaping(&collector->model.processes[i]);
	for (size_t i = 0; i < collector__process_count(collector) && has_any; i++)
		if (collector->model.processes[i].ended)
			ended_memory__want(collector->ended_memory,
					   collector->model.processes[i].slot);
	return has_any;
}

bool collector__gather_ended(struct collector *collector)
{
	if (!ended_memory__is_begun(collector->ended_memory) && !begin_gathering_ended(collector))
		return false;
	/* After a failure the reaping walks over all allocations. */
	return ended_memory__step(collector->ended_memory, collector->reader,
				  collector->skeleton->maps.allocations) > 0;
}

int collector__gather(struct collector *collector)
{
	return largest__step(collector->largest, collector->reader,
			     collector->skeleton->maps.allocations);
}

void collector__expect_reports(struct collector *collector)
{
	collector->reports = true;
}

void collector__paged(struct collector *collector)
{
	struct model *model = &collector->model;

	collector->paged_ns = model->now_ns;
	for (size_t i = 0; i < collector__process_count(collector); i++)
		model->processes[i].paged_end |= model->processes[i].ended;
}

void collector__reported(struct collector *collector)
{
	struct model *model = &collector->model;

	for (size_t i = 0; i < collector__process_count(collector); i++) {
		struct process *process = &model->processes[i];

		if (process->ended)
			process->reported_end = true;
		if (process->slot != NO_PROCESS)
			process->freed_reported = process->freed_seen;
		process->freed_listed = 0;
		process->freed_unlisted = 0;
	}
}
