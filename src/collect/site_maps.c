// SPDX-License-Identifier: BSD-2-Clause
// Stacks and call sites, see site_maps.h.
#include "collect/site_maps.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "gen/gpuprobe.skel.h"
#include "model/object_sites.h"
#include "model/sites.h"
#include "model/steady.h"
#include "stack/stacks.h"

int site_maps__open(struct collector *collector, struct error *err)
{
	struct epoll_event waiting = {.events = EPOLLIN};
	struct stacks_options options = {
		.mode = collector->options.stack_mode,
		.max = collector->options.max_stacks,
		.memory = collector->memory,
	};
	int ret;

	collector->stack_maps = STACK_MAPS(collector->skeleton);
	options.ring_fd = bpf_map__fd(collector->stack_maps.ring);
	options.hooks = stack_maps__hooks(&collector->stack_maps);
	options.hooks.always_code = collector->options.follows_threads;
	ret = stacks__new(&options, collector->log, &collector->stacks, err);
	/* The collector has one descriptor for notices and stacks. */
	if (!ret && epoll_ctl(collector->waiting_fd, EPOLL_CTL_ADD, stacks__fd(collector->stacks),
			      &waiting))
		ret = error__set(err, -errno, "cannot wait for stacks: %s", strerror(errno));
	return ret;
}

/* --- reading --- */

int site_maps__begin(struct reading *reading)
{
	struct model *model = &reading->collector->model;

	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		/*
		 * Ended processes too: stacks may be dropped, and a reading that fails makes no
		 * lists.
		 */
		site_table__forget_stacks(process);
		if (process->slot != NO_PROCESS)
			object_table__begin(process->object_table);
		if (process->site_table && process->slot != NO_PROCESS) {
			site_table__begin(process->site_table, reading__lists(reading, process));
			site_table__begin(process->pinned_table, reading__lists(reading, process));
		}
	}
	return 0;
}

int site_maps__name(struct process *process, const struct kernel_key *key)
{
	struct kernel_texts texts;

	if (!process->site_table || !kernel_table__texts(process->kernel_table, key, &texts))
		return 0;
	return site_table__name(process->site_table, key, &texts);
}

bool site_maps__leaves_out(const struct collector *collector, const struct process *process,
			   const struct allocation_record *record)
{
	const struct live_filter *filter = &collector->options.live_filter;

	if (record->size < filter->min_bytes ||
	    (filter->max_bytes && record->size > filter->max_bytes))
		return true;
	/*
	 * The allocation may be younger than this reading. Memory live at exit gets no older, so
	 * its age does not matter.
	 */
	return !process->ended && record->start_ns + filter->older_ns > collector->model.now_ns;
}

int site_maps__add_live(const struct collector *collector, struct process *process,
			const struct allocation_record *record)
{
	struct site_table *table =
		record->kind == MEMORY_HOST ? process->pinned_table : process->site_table;

	if (!table)
		return 0;
	return site_table__add_live(table, stacks__same(collector->stacks, record->stack), 1,
				    record->size, record->start_ns);
}

int site_maps__add_object(const struct collector *collector, struct process *process,
			  const struct object_key *key, const struct object_record *record)
{
	uint64_t stack = record->stack && collector->stacks ?
				 stacks__same(collector->stacks, record->stack) :
				 0;

	return object_table__add(process->object_table, key->kind, stack, record->start_ns);
}

int site_maps__take_site(struct reading *reading, struct process *process, const void *key_data,
			 const void *value)
{
	const struct call_site_key *key = key_data;
	uint64_t same;

	if (!process->site_table || key->kind >= SITE_KINDS)
		return ELEMENT_SKIP;
	if (site_table__set(process->site_table, key, value))
		return -ENOMEM;
	if (reading__reaps(reading, process))
		return ELEMENT_KEEP;
	/* Such an id gets no new counts, once those in flight have arrived. */
	same = stacks__same(reading->collector->stacks, key->stack);
	if (same == key->stack || !site_table__retire(process->site_table, key))
		return ELEMENT_KEEP;
	if (reading__make_room(reading) || site_table__fold(process->site_table, key, same))
		return -ENOMEM;
	return ELEMENT_DELETE;
}

int site_maps__take_launch_site(struct reading *reading, struct process *process, const void *key,
				const void *value)
{
	const struct launch_site_record *record = value;
	uint64_t reported = record->reported, launches = record->launches;

	if (!process->site_table)
		return ELEMENT_SKIP;
	if (site_table__add_launches(process->site_table, key,
				     stacks__same(reading->collector->stacks, record->stack),
				     launches > reported ? launches - reported : 0))
		return -ENOMEM;
	return ELEMENT_KEEP;
}

static const struct stack *find_stack(void *arg, uint64_t id)
{
	return stacks__find(arg, id);
}

int site_maps__name_stacks(struct reading *reading)
{
	struct collector *collector = reading->collector;
	struct model *model = &collector->model;
	struct stacks_counts counts;

	stacks__catch_up(collector->stacks);
	stacks__count(collector->stacks, &counts);
	model->stacks_kept = counts.kept;
	model->stacks_evicted = counts.evicted;
	model->stacks_unwound = counts.unwound;
	return 0;
}

static int list_process(const struct collector *collector, struct process *process)
{
	return site_table__list(process->site_table, process,
				steady__mark(process, collector->model.now_ns), find_stack,
				collector->stacks);
}

int site_maps__list(struct reading *reading)
{
	struct collector *collector = reading->collector;
	struct model *model = &collector->model;
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (model->processes[i].site_table && !model->processes[i].left_out)
			ret = list_process(collector, &model->processes[i]);
	return ret;
}

int site_maps__list_objects(struct reading *reading)
{
	struct collector *collector = reading->collector;
	struct model *model = &collector->model;
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (!model->processes[i].left_out)
			ret = object_table__list(
				model->processes[i].object_table, &model->processes[i],
				collector->stacks ? find_stack : NULL, collector->stacks);
	return ret;
}
