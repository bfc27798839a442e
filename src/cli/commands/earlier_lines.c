// SPDX-License-Identifier: BSD-2-Clause
// Lines of calls that began before the tracer attached, see earlier_lines.h.
#include "cli/commands/earlier_lines.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/session/background_look.h"
#include "target/cgroup.h"
#include "target/proc.h"
#include "trace/before.h"
#include "trace/latest_calls.h"
#include "trace/threads.h"

struct earlier_lines {
	struct earlier_lines_scene scene;
	struct background_look *look;
	struct event *due, *ended; /* due: NULL without a minimum duration */
	uint64_t began_ns;
	uint64_t count; /* number of lines */
	void (*enough)(void *arg);
	void *arg;
};

/* --- the lines --- */

/* Applies the same filters as the BPF programs. */
static bool is_chosen(const struct earlier_lines *lines, const struct trace_process *process)
{
	return process_filter__judge_pid(lines->scene.filter, process->pid) == FILTER_TAKES;
}

/* Returns false if the process has ended or its pid was reused. The caller frees its cgroup. */
static bool describe(const struct earlier_lines *lines, const struct process *dumped,
		     struct trace_process *process)
{
	struct process_info info;
	uid_t uid;

	if (proc__info(dumped->pid, &info) || proc__user(dumped->pid, &uid))
		return false;
	*process = (struct trace_process){
		.pid = dumped->pid,
		.parent = info.parent,
		.uid = uid,
		.start_ns = dumped->start_ns,
		.image = info.image,
	};
	if (!traced_process__began(process, info.start_ns))
		return false;
	snprintf(process->comm, sizeof(process->comm), "%.*s", COMM_SIZE - 1, info.comm);
	if (trace_options__shows(lines->scene.options, COLUMN_CGROUP))
		process->cgroup = cgroup__path(dumped->pid);
	return true;
}

static void write_line(struct earlier_lines *lines, const struct dump_thread *thread,
		       const struct trace_process *process)
{
	const struct earlier_lines_scene *scene = &lines->scene;
	struct trace_line line;
	struct stack stack;

	/* Serials of the tracer's own stacks count up from 0, so these count down. */
	if (!trace_before__line(thread, scene->options->selection, scene->functions,
				UINT64_MAX - lines->count, &stack, &line))
		return;
	line.process = process;
	line.start_ns = trace_stream__time(scene->stream);
	lines->count++;
	if (trace_sink__line(scene->sink, &line))
		lines->enough(lines->arg);
}

/* Writes lines of the process's threads that have begun no call since attach. */
static void write_process(struct earlier_lines *lines, const struct dump_process *dumped,
			  const struct latest_calls *latest, uint32_t number)
{
	struct trace_process process;

	if (!dumped->in_cuda || !describe(lines, dumped->process, &process))
		return;
	process.number = number;
	if (is_chosen(lines, &process))
		for (size_t i = 0; i < dumped->thread_count; i++)
			if (dumped->threads[i].call &&
			    latest_calls__of(latest, dumped->threads[i].tid) < lines->began_ns)
				write_line(lines, &dumped->threads[i], &process);
	free((char *)process.cgroup);
}

/*
 * The latest calls are read after the look: a thread that has begun none by then was in the same
 * call all the time.
 */
static void write_lines(struct earlier_lines *lines)
{
	struct dump *dump = background_look__take(lines->look);
	struct latest_calls latest = {0};

	/*
	 * The tracer numbers processes up from 0, so these count down; the highest number stands
	 * for an unknown process.
	 */
	if (dump && !latest_calls__read(&latest, lines->scene.skeleton))
		for (size_t i = 0; i < dump->count; i++)
			write_process(lines, &dump->processes[i], &latest,
				      UINT32_MAX - 1 - (uint32_t)i);
	latest_calls__clear(&latest);
	dump__free(dump);
}

/* --- the look --- */

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	write_lines(arg);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	struct earlier_lines *lines = arg;

	(void)fd;
	(void)what;
	background_look__start(lines->look);
}

static int start(struct earlier_lines *lines, struct event_base *loop)
{
	uint64_t wait_us = (lines->scene.options->config.min_duration_ns + 999) / 1000;
	const struct timeval wait = {.tv_sec = (time_t)(wait_us / 1000000),
				     .tv_usec = (suseconds_t)(wait_us % 1000000)};

	lines->ended = event_new(loop, background_look__fd(lines->look), EV_READ, on_ended, lines);
	if (!lines->ended || event_add(lines->ended, NULL))
		return -1;
	if (!wait_us)
		return background_look__start(lines->look);
	lines->due = evtimer_new(loop, on_due, lines);
	return lines->due ? evtimer_add(lines->due, &wait) : -1;
}

struct earlier_lines *earlier_lines__begin(const struct earlier_lines_scene *scene,
					   struct event_base *loop, void (*enough)(void *arg),
					   void *arg)
{
	const struct trace_options *options = scene->options;
	struct earlier_lines *lines;

	if (!options->targets.pid_count || options->config.failed)
		return NULL;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return NULL;
	lines->scene = *scene;
	lines->began_ns = trace_stream__time(scene->stream);
	lines->enough = enough;
	lines->arg = arg;
	lines->look =
		background_look__new(options->targets.pids, options->targets.pid_count, scene->log);
	if (lines->look && !start(lines, loop))
		return lines;
	earlier_lines__free(lines);
	return NULL;
}

void earlier_lines__finish(struct earlier_lines *lines)
{
	if (lines)
		write_lines(lines);
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void earlier_lines__free(struct earlier_lines *lines)
{
	if (!lines)
		return;
	free_event(lines->due);
	free_event(lines->ended);
	background_look__free(lines->look);
	free(lines);
}
