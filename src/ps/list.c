// SPDX-License-Identifier: BSD-2-Clause
// Lists the processes that use CUDA; see list.h.
#include "ps/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "ps/libraries.h"
#include "ps/threads.h"
#include "ps/wheels.h"
#include "target/command_line.h"
#include "target/proc.h"

#define NVML_ROWS 1024 /* for processes that only NVML lists: others cannot crowd them out */
#define MPS_COMM "nvidia-cuda-mps" /* all that the kernel keeps of the daemons' names */
#define GENERATIONS_MAX 16	   /* ancestors that are looked through for one that is listed */

struct run {
	const struct ps_request *request;
	struct ps_programs *programs; /* NULL, as `wheels`: versions stay unknown */
	struct ps_wheels *wheels;
	struct ps *ps;
	size_t limit;		  /* of rows */
	struct pid_list filtered; /* processes that use CUDA and that the filter leaves out */
	pid_t unread_pid;	  /* the first one that may not be read */
};

/* --- one process --- */

static enum ps_role role_of(const struct process *process, const char *command)
{
	if (strcmp(process->comm, MPS_COMM) != 0)
		return PS_PROGRAM;
	return command && strstr(command, MPS_COMM "-server") ? PS_MPS_SERVER : PS_MPS_CONTROL;
}

static char *read_command(const struct run *run, const struct process_info *info)
{
	char text[PS_COMMAND_SIZE];
	int ret = command_line__read(run->request->memory, info, text, sizeof(text));

	if (!ret)
		return strdup(text);
	/* gpuprobe may not read it. The kernel prints it for everyone. */
	return ret == -EPERM || ret == -EACCES || ret == -ENODATA ?
		       command_line__from_proc(info->pid) :
		       NULL;
}

static void learn(const struct run *run, const struct process_info *info, struct process *process)
{
	struct process_record record = {
		.pid = info->pid,
		.state = PROCESS_LIVE,
		.start_ns = info->start_ns,
		.parent = info->parent,
	};
	int depth = proc__depth(info->pid);
	uid_t uid;

	if (proc__user(info->pid, &uid))
		return;
	record.uid = uid;
	if (depth >= 0)
		record.namespace_pid = proc__pid_below(info->pid, (unsigned int)depth);
	attribution__learn(run->request->attribution, process, &record);
}

static void add_details(const struct run *run, const struct process_info *info, struct ps_row *row)
{
	if (!run->programs)
		return;
	row->command = read_command(run, info);
	ps_libraries__look_inside(run->programs, info->pid, &row->libraries);
	ps_wheels__complete(run->wheels, info->pid, &row->libraries);
}

static bool is_wanted(const struct run *run, pid_t pid)
{
	return process_filter__judge_pid(run->request->filter, pid) == FILTER_TAKES;
}

/*
 * Adds a process unless the filter leaves it out; `info` is NULL for one that NVML lists and /proc
 * does not show.
 */
static int add(struct run *run, pid_t pid, const struct process_info *info,
	       const struct ps_libraries *libraries)
{
	struct ps *ps = run->ps;
	struct process process = {.pid = pid};
	struct ps_row row = {.libraries = *libraries};

	if (!is_wanted(run, pid))
		return ARRAY_APPEND(run->filtered.pids, run->filtered.count, pid);
	if (ps->count >= run->limit) {
		ps->left_out++;
		return 0;
	}
	if (info) {
		process.start_ns = info->start_ns;
		memcpy(process.comm, info->comm, sizeof(process.comm) - 1);
		learn(run, info, &process);
		add_details(run, info, &row);
	}
	row.role = role_of(&process, row.command);
	if (ARRAY_APPEND(ps->model.processes, ps->model.process_count, process)) {
		process__clear(&process);
		free(row.command);
		return -ENOMEM;
	}
	if (!ARRAY_APPEND(ps->rows, ps->count, row))
		return 0;
	free(row.command);
	return -ENOMEM;
}

/* --- which processes --- */

/* Adds the process if it uses CUDA or was `requested`. Returns 0 or -ENOMEM. */
static int consider(struct run *run, pid_t pid, bool requested)
{
	struct ps_libraries libraries;
	struct process_info info;
	int ret = ps_libraries__read(pid, &libraries);

	if (ret == -ESRCH || ret == -ENOMEM || proc__info(pid, &info) || info.state == 'Z' ||
	    info.state == 'X')
		return ret == -ENOMEM ? ret : 0;
	if (ret && is_wanted(run, pid) && !run->ps->unread++)
		run->unread_pid = pid;
	if (!requested && !libraries.maps_cuda && strcmp(info.comm, MPS_COMM) != 0)
		return 0;
	return add(run, pid, &info, &libraries);
}

/* Whether it is listed, or left out by the filter. */
static bool is_judged(const struct run *run, pid_t pid)
{
	for (size_t i = 0; i < run->ps->model.process_count; i++)
		if (run->ps->model.processes[i].pid == pid)
			return true;
	for (size_t i = 0; i < run->filtered.count; i++)
		if (run->filtered.pids[i] == pid)
			return true;
	return false;
}

static int find_requested(struct run *run)
{
	const struct ps_request *request = run->request;
	struct pid_list list = {0};
	int ret = 0;

	for (size_t i = 0; i < request->pid_count && !ret; i++)
		if (!is_judged(run, request->pids[i]))
			ret = consider(run, request->pids[i], true);
	if (!ret)
		ret = proc__descendants_of(request->pids, request->pid_count, &list);
	for (size_t i = 0; i < list.count && !ret; i++)
		if (!is_judged(run, list.pids[i]))
			ret = consider(run, list.pids[i], false);
	pid_list__clear(&list);
	return ret;
}

static int find_all(struct run *run)
{
	struct pid_list all = {0};
	int ret = proc__list(&all);

	/* If not even gpuprobe itself is listed, there is no usable /proc. */
	if (!ret && !all.count)
		ret = -ENOENT;
	for (size_t i = 0; i < all.count && !ret; i++)
		if (all.pids[i] != getpid())
			ret = consider(run, all.pids[i], false);
	pid_list__clear(&all);
	return ret;
}

/*
 * Adds those that only NVML lists: /proc shows nothing of them, gpuprobe may not read their
 * mappings, or they draw and do not compute.
 */
static int add_listed_by_nvml(struct run *run, const struct gpu_snapshot *snapshot,
			      const struct model *watched)
{
	const struct ps_libraries unknown = {0};
	struct process_info info;
	int ret = 0;

	run->limit += NVML_ROWS;
	for (size_t i = 0; i < snapshot->use_count && !ret; i++) {
		pid_t pid = snapshot->uses[i].pid;

		if (!is_judged(run, pid) && !(watched && model__process_of(watched, pid, 0)))
			ret = add(run, pid, proc__info(pid, &info) ? NULL : &info, &unknown);
	}
	return ret;
}

/* --- GPUs --- */

/* Without any process, attribution__refresh leaves the model without GPUs. */
static int take_machine(struct ps *ps, const struct gpu_snapshot *snapshot)
{
	if (!snapshot)
		return 0;
	memcpy(ps->driver, snapshot->driver, sizeof(ps->driver));
	ps->model.gpus = calloc(snapshot->gpu_count + 1, sizeof(*ps->model.gpus));
	if (!ps->model.gpus)
		return -ENOMEM;
	memcpy(ps->model.gpus, snapshot->gpus, snapshot->gpu_count * sizeof(*ps->model.gpus));
	ps->model.gpu_count = snapshot->gpu_count;
	return 0;
}

static void find_gpus(struct run *run)
{
	struct ps *ps = run->ps;
	const struct gpu_snapshot *snapshot;
	int failure;

	attribution__refresh(run->request->attribution, &ps->model);
	snapshot = attribution__snapshot(run->request->attribution, 0, &failure);
	for (size_t i = 0; i < ps->count && snapshot; i++) {
		struct ps_row *row = &ps->rows[i];

		row->context = snapshot->uses_known ? PS_NO_CONTEXT : PS_CONTEXT_UNKNOWN;
		for (size_t k = 0; k < snapshot->use_count; k++) {
			const struct gpu_use *use = &snapshot->uses[k];

			if (use->pid != row->process->pid)
				continue;
			row->context = PS_HAS_CONTEXT;
			row->on_gpus[use->gpu / 64] |= UINT64_C(1) << use->gpu % 64;
		}
	}
}

/* --- ancestors --- */

static int find_ancestor(const pid_t *sorted, size_t count, pid_t parent)
{
	struct process_info info;

	for (int i = 0; i < GENERATIONS_MAX && parent > 0; i++, parent = info.parent) {
		if (bsearch(&parent, sorted, count, sizeof(*sorted), pid__compare))
			return parent;
		if (proc__info(parent, &info))
			return 0;
	}
	return 0;
}

static int find_ancestors(struct ps *ps)
{
	pid_t *pids = calloc(ps->count + 1, sizeof(*pids));

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < ps->count; i++)
		pids[i] = ps->rows[i].process->pid;
	qsort(pids, ps->count, sizeof(*pids), pid__compare);
	for (size_t i = 0; i < ps->count; i++)
		ps->rows[i].ancestor = find_ancestor(pids, ps->count, ps->rows[i].process->parent);
	free(pids);
	return 0;
}

/* --- what is unknown --- */

static void note_nvml(struct ps *ps, const struct gpu_snapshot *snapshot, int failure)
{
	if (failure == -ENOENT)
		ps__note(ps, "GPUs and their memory are unknown: the loader finds no "
			     "libnvidia-ml.so.1; gpuprobe check says what to install");
	else if (failure == -ENODEV)
		ps__note(ps, "GPUs and their memory are unknown: libnvidia-ml.so.1 finds no "
			     "working driver; see nvidia-smi and dmesg");
	else if (failure)
		ps__note(ps, "GPUs and their memory are unknown: cannot use NVML: %s",
			 strerror(-failure));
	else if (!snapshot)
		ps__note(ps, GPU_TIMED_OUT, GPU_WAIT_MS / 1000);
	else if (snapshot->gpu_count && !snapshot->uses_known)
		ps__note(ps, "memory of processes is unknown: NVML does not report it here; "
			     "gpuprobe check says what helps");
}

static void note_unread(const struct run *run)
{
	char more[32] = "";

	if (run->ps->unread > 1)
		snprintf(more, sizeof(more), " and %zu more", run->ps->unread - 1);
	ps__note(run->ps,
		 "gpuprobe may not look into process %d%s: CUDA may be used there; in a container, "
		 "run gpuprobe as root outside",
		 run->unread_pid, more);
}

static void note_permissions(const struct run *run)
{
	struct ps *ps = run->ps;

	if (run->request->unprivileged && ps->unread)
		ps__note(ps,
			 "without root gpuprobe cannot look at threads, nor into %zu process%s of "
			 "other users, which may use CUDA: run it with sudo",
			 ps->unread, ps->unread == 1 ? "" : "es");
	else if (run->request->unprivileged)
		ps__note(ps, "without root gpuprobe cannot look at threads: run it with sudo");
	else if (ps->unread)
		note_unread(run);
	if (ps->left_out)
		ps__note(ps, "%zu more processes are not listed: there are too many", ps->left_out);
}

/* --- all of it --- */

/* The array of processes has moved if one was added. */
static void point_at_processes(struct ps *ps)
{
	for (size_t i = 0; i < ps->count; i++)
		ps->rows[i].process = &ps->model.processes[i];
}

static int find_processes(struct run *run, struct error *err)
{
	int ret = run->request->pid_count ? find_requested(run) : find_all(run);

	point_at_processes(run->ps);
	return ret ? error__set(err, ret, "cannot list processes: %s", strerror(-ret)) : 0;
}

/* NVML has worked meanwhile. */
static int take_nvml(struct run *run)
{
	int failure, ret;
	const struct gpu_snapshot *snapshot =
		attribution__snapshot(run->request->attribution, GPU_WAIT_MS, &failure);

	note_nvml(run->ps, snapshot, failure);
	if (!snapshot)
		return 0;
	ret = take_machine(run->ps, snapshot);
	if (!ret && !run->request->pid_count)
		ret = add_listed_by_nvml(run, snapshot, NULL);
	point_at_processes(run->ps);
	find_gpus(run);
	return ret;
}

static int fill(struct run *run)
{
	struct dumper *dumper = run->request->dumper;
	struct dump *look = NULL;
	int ret = dumper ? ps_threads__look(dumper, run->ps, &look) : 0;

	if (!ret)
		ret = take_nvml(run);
	if (!ret)
		ret = find_ancestors(run->ps);
	if (!ret && look)
		ret = ps_threads__find_stuck(dumper, run->ps, look);
	dump__free(look);
	ps__sort(run->ps);
	note_permissions(run);
	run->ps->filtered = run->filtered.count;
	return ret;
}

int ps_list__take(const struct ps_request *request, struct ps **out, struct error *err)
{
	struct run run = {.request = request, .limit = PS_ROWS_MAX};
	int failure, ret = -ENOMEM;

	run.programs = ps_programs__new();
	run.wheels = ps_wheels__new();
	run.ps = calloc(1, sizeof(*run.ps));
	if (!run.programs || !run.wheels || !run.ps) {
		error__set(err, ret, "out of memory");
		goto out;
	}
	attribution__snapshot(request->attribution, 0, &failure); /* NVML begins to work */
	run.ps->boot_ns = clock__boot_ns();
	ret = find_processes(&run, err);
	if (ret)
		goto out;
	ret = fill(&run);
	if (ret)
		error__set(err, ret, "out of memory");
out:
	ps_programs__free(run.programs);
	ps_wheels__free(run.wheels);
	pid_list__clear(&run.filtered);
	if (ret)
		ps__free(run.ps);
	else
		*out = run.ps;
	return ret;
}

int ps_list__find(const struct ps_request *request, struct ps **out, struct error *err)
{
	struct run run = {.request = request, .limit = PS_ROWS_MAX};
	int ret;

	run.ps = calloc(1, sizeof(*run.ps));
	if (!run.ps)
		return error__set(err, -ENOMEM, "out of memory");
	ret = find_processes(&run, err);
	pid_list__clear(&run.filtered);
	if (ret)
		ps__free(run.ps);
	else
		*out = run.ps;
	return ret;
}

int ps_list__add_used(const struct ps_request *request, const struct gpu_snapshot *snapshot,
		      const struct model *watched, struct ps *ps)
{
	struct run run = {.request = request, .limit = PS_ROWS_MAX, .ps = ps};
	int ret = add_listed_by_nvml(&run, snapshot, watched);

	pid_list__clear(&run.filtered);
	point_at_processes(ps);
	return ret;
}
