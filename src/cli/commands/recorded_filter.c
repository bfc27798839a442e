// SPDX-License-Identifier: BSD-2-Clause
// Which lines of a recording are shown, see recorded_filter.h.
#include "cli/commands/recorded_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "cli/commands/trace_gpu.h"
#include "trace/gpu_work.h"
#include "trace/selection.h"

#define JUDGED_MAX 65536u /* processes; with more, some are judged again */

/* A process of the recording by its number, as the options judge it. */
struct judged {
	uint32_t number;
	bool taken;
	pid_t pid;
	UT_hash_handle hh;
};

struct recorded_filter {
	const struct trace_options *options;
	uint64_t from_ns, to_ns; /* to_ns is 0: no limit */
	bool has_gpu_work;	 /* the recording may have lines of it */
	unsigned int gpu_kinds;	 /* the wanted ones, see trace_gpu__kinds */
	struct judged *processes;
	pid_t *children; /* pids of -p, and of processes whose parent is one of them */
	size_t child_count;
};

struct recorded_filter *recorded_filter__new(const struct trace_options *options,
					     const struct recording_header *header)
{
	const struct recording_choice *input = &options->input;
	struct recorded_filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->options = options;
	filter->has_gpu_work = header->flags & RECORDING_GPU_WORK;
	filter->gpu_kinds = trace_gpu__kinds(options);
	filter->from_ns = input->from_ns ? header->begin_ns + input->from_ns : 0;
	filter->to_ns = input->to_ns ? header->begin_ns + input->to_ns : 0;
	return filter;
}

void recorded_filter__free(struct recorded_filter *filter)
{
	if (!filter)
		return;
	TABLE_CLEAR(filter->processes, free);
	free(filter->children);
	free(filter);
}

uint64_t recorded_filter__from(const struct recorded_filter *filter)
{
	return filter->from_ns;
}

bool recorded_filter__is_over(const struct recorded_filter *filter, const struct trace_line *line)
{
	/* A loss may have an earlier time than the line before. Work of GPUs comes late. */
	return filter->to_ns && !filter->has_gpu_work && line->kind != LINE_LOST &&
	       line->start_ns > filter->to_ns;
}

/* --- processes --- */

/* Whether a control group, "/a/b", is the one of --cgroup or in it. */
static bool is_in_cgroup(const char *path, const char *wanted)
{
	static const char mount[] = "/sys/fs/cgroup";
	size_t length;

	if (!path)
		return false;
	if (!strncmp(wanted, mount, sizeof(mount) - 1))
		wanted += sizeof(mount) - 1;
	wanted += strspn(wanted, "/");
	path += strspn(path, "/");
	length = strlen(wanted);
	while (length && wanted[length - 1] == '/')
		length--;
	return !strncmp(path, wanted, length) && (!length || path[length] == '/' || !path[length]);
}

static bool is_pid(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

/* Whether it is a process of -p, or a child of one as far as the recording knows them. */
static bool is_descendant(struct recorded_filter *filter, const struct trace_process *process)
{
	const struct targets *targets = &filter->options->targets;
	bool taken = is_pid(targets->pids, targets->pid_count, process->pid) ||
		     is_pid(targets->pids, targets->pid_count, process->parent) ||
		     is_pid(filter->children, filter->child_count, process->parent);

	/* Without memory its own children are left out. */
	if (taken && filter->child_count < JUDGED_MAX &&
	    !is_pid(filter->children, filter->child_count, process->pid) &&
	    ARRAY_APPEND(filter->children, filter->child_count, process->pid))
		return true;
	return taken;
}

static bool judge(struct recorded_filter *filter, const struct trace_process *process)
{
	const struct process_filter *wanted = &filter->options->targets.filter;

	if (filter->options->targets.pid_count && !is_descendant(filter, process))
		return false;
	if (wanted->comm && strncmp(process->comm, wanted->comm, sizeof(process->comm) - 1))
		return false;
	if (wanted->user && process->uid != wanted->uid)
		return false;
	if (wanted->cgroup && !is_in_cgroup(process->cgroup, wanted->cgroup))
		return false;
	return process_filter__takes_path(wanted, process->cgroup);
}

static bool takes_process(struct recorded_filter *filter, const struct trace_process *process)
{
	struct judged *judged;

	if (!filter->options->targets.pid_count &&
	    !process_filter__is_set(&filter->options->targets.filter))
		return true;
	judged = TABLE_FIND(filter->processes, number, &process->number);
	/* Without a number, processes that were not announced are not told apart. */
	if (judged && judged->pid == process->pid)
		return judged->taken;
	if (!judged && HASH_COUNT(filter->processes) < JUDGED_MAX)
		judged = TABLE_ADD_NEW(filter->processes, number, &process->number);
	if (!judged)
		return judge(filter, process);
	judged->pid = process->pid;
	judged->taken = judge(filter, process);
	return judged->taken;
}

/* --- calls --- */

static bool takes_function(const struct trace_options *options,
			   const struct trace_function *function)
{
	const char *symbol = trace_function__symbol(function);
	int row;

	if (!options->chooses_functions)
		return true;
	row = api__find(symbol, API_NEWEST);
	return row >= 0 ? trace_selection__wants(options->selection, &api_functions[row]) :
			  trace_selection__wants_symbol(options->selection, symbol,
							trace_function__layer(function));
}

static bool takes_call(const struct trace_options *options, const struct trace_line *line)
{
	const struct trace_config *config = &options->config;

	if (line->depth && !config->nested)
		return false;
	if (config->failed && !line->failed)
		return false;
	if (config->min_duration_ns && line->kind != LINE_BEFORE &&
	    line->duration_ns < config->min_duration_ns)
		return false;
	return takes_function(options, line->function);
}

bool recorded_filter__takes(struct recorded_filter *filter, const struct trace_line *line)
{
	if (line->start_ns < filter->from_ns)
		return false;
	if (filter->has_gpu_work && filter->to_ns && line->start_ns > filter->to_ns)
		return false;
	if (line->kind == LINE_GPU)
		return filter->gpu_kinds & 1u << line->gpu->kind &&
		       takes_process(filter, line->process);
	if (line->kind == LINE_LOST)
		return true;
	/* NVTX ranges are no calls. */
	return (line->kind == LINE_RANGE || takes_call(filter->options, line)) &&
	       takes_process(filter, line->process);
}
