// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes of the model: which slot each has, whether it is `since attach`, when its slot is
 * freed and when it leaves.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "collect/ended_memory.h"
#include "collect/ended_share.h"
#include "collect/private.h"
#include "collect/shares.h"
#include "gen/gpuprobe.skel.h"
#include "model/object_sites.h"
#include "model/sites.h"
#include "stack/stacks.h"
#include "target/proc.h"
#include "target/task_iterator.h"

#define KEEP_UNREPORTED 1000 /* most ended processes kept that no report has shown yet */

/*
 * Whether the process with these times had the pid at the late entry's time; `ended_ns` is 0 while
 * it lives.
 */
static bool is_of(const struct late_process *late, pid_t pid, uint64_t start_ns, uint64_t ended_ns)
{
	return late->pid == pid && start_ns <= late->time_ns &&
	       (!ended_ns || ended_ns >= late->time_ns);
}

static struct late_process *late_entry(struct collector *collector, pid_t pid)
{
	struct late_process *grown;

	for (size_t i = 0; i < collector->late_count; i++)
		if (collector->late[i].pid == pid)
			return &collector->late[i];
	grown = realloc(collector->late, (collector->late_count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	collector->late = grown;
	return &grown[collector->late_count++];
}

/*
 * Marks the process as `since attach`, for BPF programs too: they draw some conclusions only if
 * every call was seen.
 */
static void mark(struct collector *collector, struct process *process)
{
	process->since_attach = true;
	if (process->slot != NO_PROCESS)
		collector->records[process->slot].late = 1;
}

void collector__mark_late(struct collector *collector, pid_t pid, uint64_t time_ns)
{
	const struct late_process late = {.pid = pid, .time_ns = time_ns};
	struct late_process *entry = late_entry(collector, pid);

	/* The process may have made its first call already, or will make it later. */
	for (size_t i = 0; i < collector__process_count(collector); i++) {
		struct process *process = &collector->model.processes[i];

		if (is_of(&late, process->pid, process->start_ns, process->ended_ns))
			mark(collector, process);
	}
	if (entry)
		*entry = late;
}

static bool was_late(const struct collector *collector, const struct process_record *record)
{
	for (size_t i = 0; i < collector->late_count; i++)
		if (is_of(&collector->late[i], record->pid, record->start_ns, record->ended_ns) ||
		    is_of(&collector->late[i], record->sharer, record->start_ns, record->ended_ns))
			return true;
	return false;
}

void collector__look_at_sharer(struct collector *collector, struct process *process)
{
	const struct process_record *record = &collector->records[process->slot];

	if (!process->since_attach && record->sharer && was_late(collector, record))
		mark(collector, process);
}

bool collector__is_name_due(uint32_t slot, uint32_t turn, size_t processes)
{
	uint32_t turns = (uint32_t)(processes / NAMES_READ) + 1;

	return (slot + turn) % turns == 0;
}

void collector__refresh_name(const struct collector *collector, struct process *process)
{
	struct process_info info;

	if (collector__is_name_due(process->slot, collector->name_turn,
				   collector->model.process_count) &&
	    !proc__info(process->pid, &info))
		memcpy(process->comm, info.comm, sizeof(process->comm) - 1);
}

/* --- the filter --- */

/* Judged once: after exec the process has another slot. */
static void judge(struct collector *collector, struct process *process)
{
	const struct process_filter *filter = collector->options.filter;
	struct cgroup_names names = {0};
	struct filter_facts facts = {
		.pid = process->pid,
		.comm = process->comm,
		.uid = process->uid,
		.names = process->cgroup_known ? &names : NULL,
	};
	enum filter_verdict verdict;

	if (!filter)
		return;
	memcpy(names.container, process->container, sizeof(names.container));
	memcpy(names.pod, process->pod, sizeof(names.pod));
	verdict = process_filter__judge(filter, &facts);
	process->left_out = verdict != FILTER_TAKES;
	collector->filtered.taken += !process->left_out;
	collector->filtered.left_out += process->left_out;
	collector->filtered.unsure += verdict == FILTER_UNSURE;
}

struct attribution *collector__attribution(const struct collector *collector)
{
	return collector->attribution;
}

const struct filtered_processes *collector__filtered(const struct collector *collector)
{
	return &collector->filtered;
}

void collector__take_back(struct collector *collector)
{
	collector->model.process_count += collector->set_aside;
	collector->set_aside = 0;
	collector->is_reading = true;
}

static void swap_processes(struct collector *collector, size_t a, size_t b)
{
	struct process *processes = collector->model.processes;
	const struct process kept = processes[a];

	processes[a] = processes[b];
	processes[b] = kept;
	if (processes[a].slot != NO_PROCESS)
		collector->index_of[processes[a].slot] = (uint32_t)a;
	if (processes[b].slot != NO_PROCESS)
		collector->index_of[processes[b].slot] = (uint32_t)b;
}

/* The order of the processes that stay is kept. */
void collector__set_aside(struct collector *collector)
{
	struct model *model = &collector->model;
	size_t kept = 0;

	collector->is_reading = false;
	if (!collector->options.filter)
		return;
	for (size_t i = 0; i < model->process_count; i++) {
		if (model->processes[i].left_out)
			continue;
		if (kept != i)
			swap_processes(collector, kept, i);
		kept++;
	}
	collector->set_aside = model->process_count - kept;
	model->process_count = kept;
}

/* --- the processes --- */

int collector__add_process(struct collector *collector, uint32_t slot)
{
	const struct process_record *record = &collector->records[slot];
	size_t count = collector__process_count(collector);
	struct model *model = &collector->model;
	struct process *grown, *process;

	grown = realloc(model->processes, (count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	model->processes = grown;
	process = &grown[count];
	memset(process, 0, sizeof(*process));
	process->kernel_table = kernel_table__new();
	process->object_table = object_table__new();
	process->site_table = collector->stacks ? site_table__new() : NULL;
	process->pinned_table = collector->stacks ? site_table__new() : NULL;
	if (!process->kernel_table || !process->object_table ||
	    (collector->stacks && (!process->site_table || !process->pinned_table))) {
		process__clear(process);
		return -ENOMEM;
	}
	kernel_table__share(process->kernel_table, &collector->name_bytes);
	process->serial = ++collector->serials;
	process->slot = slot;
	process->pid = record->pid;
	process->start_ns = record->start_ns;
	memcpy(process->comm, record->comm, sizeof(process->comm) - 1);
	if (!collector->options.exact_from_start &&
	    (record->start_ns < collector->attached_ns || was_late(collector, record)))
		mark(collector, process);
	attribution__learn(collector->attribution, process, record);
	judge(collector, process);
	collector->index_of[slot] = (uint32_t)count;
	/* Behind others that are set aside, it is one of them until the next reading. */
	if (collector->options.filter && !collector->is_reading)
		collector->set_aside++;
	else
		model->process_count++;
	return 0;
}

void collector__adopt(struct collector *collector, pid_t pid)
{
	int ret = task_iterator__run(collector->skeleton->progs.adopt_process, pid);

	if (ret)
		log__debug(collector->log, "process %d has no slot before its first call: %s",
			   (int)pid, strerror(-ret));
}

void collector__see_fresh_processes(struct collector *collector)
{
	collector->has_fresh = false;
	for (uint32_t slot = 0; slot < collector->options.max_processes; slot++) {
		if (collector->records[slot].state == PROCESS_FREE ||
		    collector->index_of[slot] != NO_PROCESS)
			continue;
		collector__add_process(collector, slot);
		if (collector->stacks)
			stacks__announce(collector->stacks, collector->records[slot].pid);
	}
}

struct process *collector__process_at(struct collector *collector, uint32_t slot)
{
	if (slot >= collector->options.max_processes || collector->index_of[slot] == NO_PROCESS)
		return NULL;
	return &collector->model.processes[collector->index_of[slot]];
}

/* An ended process may leave once reports and scrapers have had time to see it. */
static bool may_leave(const struct collector *collector, const struct process *process,
		      size_t ended)
{
	if (!process->ended || process->slot != NO_PROCESS)
		return false;
	if (process->left_out)
		return true;
	/* The process may have ended after the reading began. */
	if (collector->model.now_ns < process->ended_ns + SERIES_ENDED_NS)
		return false;
	return process->reported_end || ended > KEEP_UNREPORTED;
}

/*
 * A page is expected if the last one is no older than the time for which pages show ended
 * processes.
 */
static bool is_paged(const struct collector *collector)
{
	return collector->paged_ns &&
	       collector->model.now_ns < collector->paged_ns + SERIES_ENDED_NS;
}

/*
 * The process leaves to make room. It counts as lost for each reader that has not been shown it:
 * reports and metrics pages are not read by the same people.
 */
static void crowd_out(size_t index, void *arg)
{
	struct collector *collector = arg;
	struct model *model = &collector->model;
	struct process *process = &model->processes[index];

	process->crowded_out = true;
	if (process->left_out)
		return;
	if (collector->reports && !process->reported_end)
		model->lost[LOSS_ENDED_FORGOTTEN]++;
	if (is_paged(collector) && !process->paged_end)
		model->lost[LOSS_ENDED_EARLY]++;
}

void collector__drop_old_processes(struct collector *collector)
{
	struct model *model = &collector->model;
	size_t kept = 0, ended = 0,
	       bytes_max = collector->options.profile ? ENDED_PROFILES_BYTES_MAX : ENDED_BYTES_MAX;

	collector__take_back(collector);
	/* Without memory they stay for now. */
	ended_share__each_beyond(model, bytes_max, crowd_out, collector);

	for (size_t i = 0; i < model->process_count; i++)
		ended += model->processes[i].ended;
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		if (process->crowded_out || may_leave(collector, process, ended)) {
			model->lost[LOSS_ENDED_FORGOTTEN] +=
				!process->crowded_out && !process->left_out && collector->reports &&
				!process->reported_end;
			process__clear(process);
			ended--;
			continue;
		}
		if (process->slot != NO_PROCESS)
			collector->index_of[process->slot] = (uint32_t)kept;
		if (kept != i)
			model->processes[kept] = *process;
		kept++;
	}
	model->process_count = kept;
	collector__set_aside(collector);
}

/*
 * The process's data no longer changes. With a profile or call sites the table stays complete,
 * because sequences of launches and call sites look up kernels until the end is reported.
 */
static void settle(struct process *process)
{
	if (!process->profile && !process->site_table)
		kernel_table__settle(process->kernel_table, process);
	process->kept_bytes = process__bytes(process);
}

bool collector__may_reap(const struct collector *collector, const struct process *process)
{
	return process->ended && (!ended_memory__is_complete(collector->ended_memory) ||
				  ended_memory__has(collector->ended_memory, process->slot));
}

/* The entries of ended processes in the maps have been deleted: frees their slots. */
void collector__release_slots(struct collector *collector)
{
	struct model *model = &collector->model;

	for (size_t i = 0; i < collector__process_count(collector); i++) {
		struct process *process = &model->processes[i];
		uint32_t slot = process->slot;

		if (slot == NO_PROCESS || !collector__may_reap(collector, process))
			continue;
		kernel_names__forget(collector->names, slot);
		if (collector->estimates)
			estimates__forget(collector->estimates, slot);
		if (!process->left_out)
			saturate__add(&model->live_at_exit_bytes, process->live_at_exit_bytes);
		shares__release(collector, slot);
		collector->records[slot].state = PROCESS_FREE;
		collector->index_of[slot] = NO_PROCESS;
		process->slot = NO_PROCESS;
		collector->reaped++;
		settle(process);
		bpf_map__update_elem(collector->skeleton->maps.free_slots, NULL, 0, &slot,
				     sizeof(slot), 0);
	}
}
