// SPDX-License-Identifier: BSD-2-Clause
// A run as the comparison sees it, see run.h.
#include "compare/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/counted.h"

#define SCHEMA "gpuprobe.stat/1"

/* --- figures --- */

static bool is_sampled(const struct json_value *process, const char *family)
{
	return family && json_value__member(json_value__member(process, "sampling"), family);
}

/* Steps are found by the launches: while these are sampled, a step may not be a whole one. */
static enum figure_state state_of(const struct figure_kind *kind,
				  const struct compared_process *process)
{
	const struct json_value *json = process->json;
	bool of_step = !strncmp(kind->paths[0], "steps.", strlen("steps."));

	if (is_sampled(json, kind->family) || (of_step && is_sampled(json, "launch")))
		return FIGURE_ESTIMATED;
	if ((kind->scope == SCOPE_ALL || kind->rule == RULE_MEMORY) &&
	    json_value__is_true(json, "since_attach"))
		return FIGURE_PARTIAL;
	if (kind->scope == SCOPE_ALL && !json_value__is_true(json, "ended"))
		return FIGURE_PARTIAL;
	return FIGURE_KNOWN;
}

static void read_figures(struct compared_process *process)
{
	for (size_t i = 0; i < figure_kind_count; i++)
		process->states[i] =
			figure_kind__read(&figure_kinds[i], process->json, &process->figures[i]) ?
				state_of(&figure_kinds[i], process) :
				FIGURE_UNKNOWN;
}

/* --- processes --- */

static bool uses_cuda(const struct json_value *process)
{
	double work = 0;

	figures__sum(process, "launches", &work);
	figures__sum(process, "graph_launches", &work);
	figures__sum(process, "copies.*.calls", &work);
	figures__sum(process, "memory.*.allocations", &work);
	return work > 0;
}

static int read_process(struct compared_process *process, const struct json_value *json)
{
	double pid = 0, start_ns = 0;

	*process = (struct compared_process){.json = json};
	json_value__number(json, "pid", &pid);
	json_value__number(json, "start_ns", &start_ns);
	process->pid = pid > 0 && pid < INT32_MAX ? (int64_t)pid : 0;
	process->start_ns = start_ns > 0 && start_ns < 1e19 ? (uint64_t)start_ns : 0;
	process->comm = json_value__string(json, "comm");
	process->comm = process->comm ? process->comm : "";
	figures__sum(json, "launches", &process->launches);
	figures__sum(json, "graph_launches", &process->launches);
	process->has_steps =
		json_value__number(json, "steps.summed", &process->steps) && process->steps > 0;
	json_value__number(json, "steps.p25_ns", &process->p25_ns);
	json_value__number(json, "steps.p75_ns", &process->p75_ns);
	read_figures(process);
	return counted__read(process);
}

static void clear_process(struct compared_process *process)
{
	for (int scope = 0; scope < SCOPE_PROCESS; scope++) {
		free(process->lists[scope].kernels.items);
		free(process->lists[scope].functions.items);
		free(process->lists[scope].places.items);
	}
	for (size_t i = 0; i < process->text_count; i++)
		free(process->texts[i]);
	free(process->texts);
}

static int by_launches(const void *a, const void *b)
{
	const struct compared_process *x = a, *y = b;

	if (x->launches != y->launches)
		return x->launches > y->launches ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int read_processes(struct compared_run *run, const struct json_value *processes)
{
	const struct json_value *json = processes->first;

	for (; json; json = json->next) {
		int ret;

		if (!uses_cuda(json))
			continue;
		if (run->process_count == RUN_PROCESSES_MAX) {
			run->processes_left++;
			continue;
		}
		if (ARRAY_RESERVE(run->processes, run->process_count, 1))
			return -ENOMEM;
		ret = read_process(&run->processes[run->process_count++], json);
		if (ret)
			return ret;
	}
	if (run->process_count)
		qsort(run->processes, run->process_count, sizeof(*run->processes), by_launches);
	return 0;
}

/* --- the run --- */

static void read_times(struct compared_run *run)
{
	double began_ns, now_ns;

	if (json_value__number(run->json, "began_ns", &began_ns) &&
	    json_value__number(run->json, "boot_ns", &now_ns) && now_ns > began_ns)
		run->seconds = (now_ns - began_ns) / 1e9;
}

int compared_run__read(struct compared_run *run, const struct json_value *json, const char *path,
		       struct error *err)
{
	const char *schema = json_value__string(json, "schema");
	const struct json_value *processes = json_value__member(json, "processes");
	int ret;

	*run = (struct compared_run){.path = path, .json = json};
	if (!schema || strcmp(schema, SCHEMA))
		return error__set(err, -EINVAL,
				  "%s is no report of gpuprobe stat --json (schema %.40s, not %s)",
				  path, schema ? schema : "missing", SCHEMA);
	if (!processes || processes->type != JSON_ARRAY)
		return error__set(err, -EINVAL, "%s has no list of processes", path);
	read_times(run);
	ret = read_processes(run, processes);
	if (ret) {
		compared_run__clear(run);
		return error__set(err, ret, "out of memory");
	}
	return 0;
}

void compared_run__clear(struct compared_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		clear_process(&run->processes[i]);
	free(run->processes);
	run->processes = NULL;
	run->process_count = 0;
}

/* Their loss changes no figure: they are about stacks, threads outside of calls, and tensors. */
static bool is_of_no_count(const char *loss)
{
	static const char *const losses[] = {"stack_",	      "host_",		 "tensor_",
					     "order_map",     "event_map",	 "size_map",
					     "copy_size_map", "ignored_map",	 "mapped_copy_map",
					     "target_map",    "ended_forgotten", "shape_map"};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (!strncmp(loss, losses[i], strlen(losses[i])))
			return true;
	return false;
}

bool compared_run__loss(const struct compared_run *run, char *text, size_t size)
{
	const struct json_value *lost = json_value__member(run->json, "lost");

	for (lost = lost && lost->type == JSON_OBJECT ? lost->first : NULL; lost;
	     lost = lost->next) {
		if (lost->type != JSON_NUMBER || lost->number <= 0 || is_of_no_count(lost->key))
			continue;
		snprintf(text, size, "%.0f lost (%.40s)", lost->number, lost->key);
		return true;
	}
	return false;
}
