// SPDX-License-Identifier: BSD-2-Clause
// Threads by their numbers, and their processes; see threads.h.
#include "trace/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/cgroup.h"
#include "target/proc.h"
#include "target/text_file.h"

/* /proc gives a start in clock ticks. */
#define START_PRECISION_NS 20000000

struct trace_threads {
	struct trace_thread_options options;
	struct traced_process *processes;
	struct trace_thread *at[TRACE_THREADS]; /* NULL: not announced */
	struct trace_thread unknown;
	struct traced_process unknown_process;
};

static void forget_devices(struct trace_thread *thread)
{
	thread->pushed = 0;
	for (size_t i = 0; i <= CONTEXTS_PUSHED; i++)
		thread->current[i] = (struct context_device){.device = -1};
}

struct trace_threads *trace_threads__new(const struct trace_thread_options *options)
{
	struct trace_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	threads->options = *options;
	threads->unknown_process.shown.number = PROCESS_NOT_TOLD;
	threads->unknown_process.references = 1;
	threads->unknown.process = &threads->unknown_process;
	threads->unknown.references = 1;
	forget_devices(&threads->unknown);
	return threads;
}

void trace_threads__free(struct trace_threads *threads)
{
	if (!threads)
		return;
	for (size_t i = 0; i < TRACE_THREADS; i++) {
		if (threads->at[i])
			trace_threads__put(threads, threads->at[i]);
	}
	free(threads);
}

bool traced_process__began(const struct trace_process *process, uint64_t start_ns)
{
	return start_ns + START_PRECISION_NS > process->start_ns &&
	       start_ns < process->start_ns + START_PRECISION_NS;
}

bool traced_process__is_there(const struct trace_process *process)
{
	struct process_info info;

	return process->pid > 0 && !proc__info(process->pid, &info) &&
	       traced_process__began(process, info.start_ns) &&
	       (!process->image || process->image == info.image);
}

bool traced_process__is_another(const struct trace_process *process)
{
	struct process_info info;

	return process->image && !proc__info(process->pid, &info) && info.state != 'Z' &&
	       info.state != 'X' && info.image != process->image;
}

static void free_process(struct traced_process *process)
{
	free((char *)process->shown.cgroup);
	free(process);
}

static struct traced_process *add_process(struct trace_threads *threads,
					  const struct trace_thread_record *record)
{
	struct traced_process *process = calloc(1, sizeof(*process));
	struct trace_process *shown;

	if (!process)
		return NULL;
	shown = &process->shown;
	shown->number = record->process;
	shown->pid = record->pid;
	shown->parent = record->parent;
	shown->uid = record->uid;
	shown->start_ns = record->start_ns;
	memcpy(shown->comm, record->comm, sizeof(shown->comm) - 1);
	/* Left out if the process has ended already. */
	if (threads->options.cgroups && traced_process__is_there(shown))
		shown->cgroup = cgroup__path(record->pid);
	shown->image = record->image;
	if (!TABLE_ADD(threads->processes, shown.number, process))
		return process;
	free_process(process);
	return NULL;
}

static void put_process(struct trace_threads *threads, struct traced_process *process)
{
	if (--process->references)
		return;
	HASH_DEL(threads->processes, process);
	free_process(process);
}

static bool is_same(const struct trace_thread *thread, const struct trace_thread_record *record)
{
	return thread && thread->tid == record->tid &&
	       thread->process->shown.number == record->process;
}

/*
 * Threads of the process have names of their own, often by their purpose. It stays unknown if the
 * thread has ended already.
 */
static void read_name(struct trace_thread *thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", thread->process->shown.pid,
		 thread->tid);
	if (text_file__read("", path, thread->comm, sizeof(thread->comm)))
		thread->comm[0] = '\0';
}

int trace_threads__announce(struct trace_threads *threads, const struct trace_thread_record *record)
{
	struct traced_process *process;
	struct trace_thread *thread;

	if (record->thread >= TRACE_THREADS || record->process == PROCESS_NOT_TOLD)
		return -EINVAL;
	if (is_same(threads->at[record->thread], record))
		return 0;
	thread = calloc(1, sizeof(*thread));
	process = TABLE_FIND(threads->processes, shown.number, &record->process);
	if (thread && !process)
		process = add_process(threads, record);
	if (!thread || !process) {
		free(thread);
		return -ENOMEM;
	}
	process->references++;
	thread->process = process;
	thread->tid = record->tid;
	thread->namespace_tid = record->namespace_tid;
	thread->references = 1;
	forget_devices(thread);
	if (threads->options.names && record->tid != record->pid)
		read_name(thread);
	if (threads->at[record->thread])
		trace_threads__put(threads, threads->at[record->thread]);
	threads->at[record->thread] = thread;
	return 0;
}

struct trace_thread *trace_threads__take(struct trace_threads *threads, uint32_t number)
{
	struct trace_thread *thread = threads->at[number];

	if (!thread)
		thread = &threads->unknown;
	thread->references++;
	return thread;
}

void trace_threads__put(struct trace_threads *threads, struct trace_thread *thread)
{
	if (--thread->references)
		return;
	put_process(threads, thread->process);
	free(thread);
}
