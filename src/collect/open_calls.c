// SPDX-License-Identifier: BSD-2-Clause
// Calls in progress, see open_calls.h; open_time.c adds the time in them.
#include "collect/open_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/earlier_calls.h"
#include "gen/gpuprobe.skel.h"
#include "gpuprobe/holds.h"
#include "api/api.h"

#define READ_CALLS 512 /* records per read */

struct open_calls {
	struct bpf_link *iterator;
	struct open_time *time;
	struct earlier_calls earlier;
};

int open_calls__new(const struct gpuprobe_bpf *skeleton, struct open_calls **out, struct error *err)
{
	struct open_calls *calls = calloc(1, sizeof(*calls));
	int ret = -ENOMEM;

	if (calls)
		calls->time = open_time__new();
	if (!calls || !calls->time) {
		error__set(err, ret, "out of memory");
		goto fail;
	}
	calls->iterator = bpf_program__attach_iter(skeleton->progs.open_calls, NULL);
	if (!calls->iterator) {
		ret = -errno;
		error__set(err, ret, "cannot attach the list of calls in progress: %s",
			   strerror(errno));
		goto fail;
	}
	*out = calls;
	return 0;
fail:
	open_calls__free(calls);
	return ret;
}

void open_calls__free(struct open_calls *calls)
{
	if (!calls)
		return;
	bpf_link__destroy(calls->iterator);
	open_time__free(calls->time);
	free(calls->earlier.list);
	free(calls);
}

struct earlier_calls *open_calls__earlier(struct open_calls *calls)
{
	return &calls->earlier;
}

/* --- the list of a process --- */

static struct open_call *find(const struct process *process, const struct open_call_record *record)
{
	for (size_t i = 0; i < process->open_listed; i++) {
		struct open_call *call = &process->open[i];

		if (call->tid == record->tid && call->start_ns == record->start_ns &&
		    call->row == record->row)
			return call;
	}
	return NULL;
}

/* NULL without memory, or room. */
static struct open_call *append(struct process *process, const struct open_call_record *record)
{
	struct open_call *call;

	if (process->open_listed == OPEN_CALLS_LISTED)
		return NULL;
	if (!process->open)
		process->open = malloc(OPEN_CALLS_LISTED * sizeof(*process->open));
	if (!process->open)
		return NULL;
	call = &process->open[process->open_listed++];
	*call = (struct open_call){
		.row = record->row,
		.device = record->device,
		.tid = record->tid,
		.thread_start_ns = record->thread_start_ns,
		.start_ns = record->start_ns,
	};
	memcpy(call->comm, record->comm, sizeof(call->comm) - 1);
	return call;
}

/*
 * If the call began during this reading, the calls counted before it are unknown: the next reading
 * sets the base again.
 */
static void count_others(const struct process *process, struct open_call *call, uint64_t now_ns)
{
	uint64_t calls = process__calls(process);

	if (!call->based)
		call->others_before = calls;
	call->based = call->based || call->start_ns < now_ns;
	call->others = calls > call->others_before ? calls - call->others_before : 0;
}

/* NULL without memory, or room. */
static struct open_call *list(struct process *process, const struct open_call_record *record,
			      uint64_t now_ns)
{
	struct open_call *call = find(process, record);

	process->open_count++;
	if (!call)
		call = append(process, record);
	if (!call)
		return NULL;
	call->seen = true;
	count_others(process, call, now_ns);
	return call;
}

/* Every call of the process that was seen came after this one. */
void open_calls__list_earlier(struct process *process, const struct open_call_record *record,
			      const struct stack *stack, uint64_t now_ns)
{
	struct open_call *call = list(process, record, now_ns);

	if (!call)
		return;
	call->earlier = true;
	call->stack = stack;
	call->others_before = 0;
	call->others = process__calls(process);
}

static size_t count_ended(const struct process *process)
{
	size_t count = 0;

	for (size_t i = 0; i < process->open_listed; i++)
		count += process->open[i].ended_ns != 0;
	return count;
}

void open_calls__end(struct process *process, const struct record_unfinished *record)
{
	struct open_call *call;

	if (record->call.row >= api_function_count)
		return;
	call = find(process, &record->call);
	if (!call && count_ended(process) < OPEN_CALLS_ENDED)
		call = append(process, &record->call);
	if (call)
		call->ended_ns = record->ended_ns;
}

static void begin(struct process *process)
{
	process->open_count = 0;
	for (size_t i = 0; i < process->open_listed; i++)
		process->open[i].seen = false;
}

static int by_start(const void *a, const void *b)
{
	const struct open_call *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/*
 * Drops calls that have returned. Of calls that their thread ended in, the first OPEN_CALLS_ENDED
 * stay.
 */
static void finish(struct process *process)
{
	size_t kept = 0, ended = 0;

	for (size_t i = 0; i < process->open_listed; i++) {
		const struct open_call *call = &process->open[i];

		if (call->seen || (call->ended_ns && ended++ < OPEN_CALLS_ENDED))
			process->open[kept++] = *call;
	}
	process->open_listed = kept;
	if (kept)
		qsort(process->open, kept, sizeof(*process->open), by_start);
}

/* --- the reading --- */

/*
 * How long the call has lasted, without the time for which its process was held, as the time of a
 * call that has returned. While the process is held, no time is known: that of the hold is noted
 * at its end.
 */
static uint64_t time_in(const struct collector *collector, const struct process *process,
			const struct open_call_record *record)
{
	const struct gpuprobe_bpf *skeleton = collector->skeleton;
	uint64_t now_ns = collector->model.now_ns, ns = open_time__since(record, now_ns);
	int32_t pid = process->pid;
	struct holds holds;
	uint8_t held;

	if (!skeleton->rodata->config.hold)
		return ns;
	if (!bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.held), &pid, &held))
		return 0;
	if (!bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.holds), &pid, &holds))
		ns = positive_difference(ns, holds__within(&holds, record->start_ns, now_ns));
	return ns;
}

static int take(const struct reading *reading, const struct open_call_record *record)
{
	const struct collector *collector = reading->collector;
	struct process *process = collector__process_at(reading->collector, record->slot);

	if (!process || record->row >= api_function_count)
		return 0;
	if (record->outermost)
		list(process, record, collector->model.now_ns);
	return open_time__add(collector->open_calls->time, process, record, true,
			      time_in(collector, process, record));
}

/* BPF writes whole records one after another, but a read may end inside one. */
static int read_calls(const struct reading *reading, int fd)
{
	struct open_call_record *records = malloc(READ_CALLS * sizeof(*records));
	size_t used = 0, whole;
	ssize_t n = 1;
	int ret = 0;

	if (!records)
		return -ENOMEM;
	while (!ret && n) {
		n = read(fd, (char *)records + used, READ_CALLS * sizeof(*records) - used);
		if (n < 0) {
			ret = errno == EINTR || errno == EAGAIN ? 0 : -errno;
			continue;
		}
		used += (size_t)n;
		whole = used / sizeof(*records);
		for (size_t i = 0; i < whole && !ret; i++)
			ret = take(reading, &records[i]);
		used -= whole * sizeof(*records);
		memmove(records, records + whole, used);
	}
	free(records);
	return ret;
}

static bool has_live_process(const struct collector *collector)
{
	for (size_t i = 0; i < collector->model.process_count; i++)
		if (collector->model.processes[i].slot != NO_PROCESS &&
		    !collector->model.processes[i].ended)
			return true;
	return false;
}

static int iterate(const struct reading *reading)
{
	const struct collector *collector = reading->collector;
	int fd, ret;

	if (!has_live_process(collector))
		return 0;
	fd = bpf_iter_create(bpf_link__fd(collector->open_calls->iterator));
	if (fd < 0)
		return -errno;
	ret = read_calls(reading, fd);
	close(fd);
	return ret;
}

static void each_process(const struct collector *collector, void (*fn)(struct process *process))
{
	for (size_t i = 0; i < collector->model.process_count; i++)
		if (collector->model.processes[i].slot != NO_PROCESS)
			fn(&collector->model.processes[i]);
}

int open_calls__read(struct reading *reading)
{
	const struct collector *collector = reading->collector;
	int ret;

	each_process(collector, begin);
	ret = iterate(reading);
	if (!ret)
		ret = earlier_calls__count(&collector->open_calls->earlier, reading,
					   collector->open_calls->time);
	if (!ret)
		ret = open_time__settle(collector->open_calls->time, reading);
	each_process(collector, finish);
	return ret;
}
