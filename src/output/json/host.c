// SPDX-License-Identifier: BSD-2-Clause
// What threads did with their time in JSON, see parts.h.
#include "model/host.h"
#include "output/json/parts.h"

static void key_share(struct json *j, const char *key, uint64_t part, uint64_t whole)
{
	json__key(j, key);
	if (whole)
		json__double(j, (double)part / (double)whole);
	else
		json__null(j);
}

static void write_partner(struct json *j, const struct host_partner *partner)
{
	json__object_begin(j);
	if (partner->tid)
		json__key_i64(j, "tid", partner->tid);
	json__key_i64(j, "pid", partner->pid);
	json__key_string(j, "comm", partner->comm);
	json__key_u64(j, "ns", partner->ns);
	json__key_u64(j, "times", partner->count);
	json__key_bool(j, "followed", partner->thread != HOST_NO_THREAD);
	json__object_end(j);
}

static void write_partners(struct json *j, const char *key, const struct host_partner *partners)
{
	json__key(j, key);
	json__array_begin(j);
	for (size_t i = 0; i < HOST_PARTNERS && partners[i].count; i++)
		write_partner(j, &partners[i]);
	json__array_end(j);
}

/* By kind, those that ended sleeps. */
static void write_wakers(struct json *j, const struct host_thread *thread)
{
	json__key(j, "wakers");
	json__object_begin(j);
	for (int kind = 0; kind < HOST_KINDS; kind++)
		if (thread->wakers[kind][0].count)
			write_partners(j, host_kind__word((enum host_kind)kind), thread->wakers[kind]);
	json__object_end(j);
}

static void write_reads(struct json *j, const struct host_thread *thread)
{
	json__key(j, "descriptors");
	json__array_begin(j);
	for (size_t i = 0; i < HOST_PARTNERS && thread->reads[i].count; i++) {
		const struct host_read *read = &thread->reads[i];

		json__object_begin(j);
		json__key_i64(j, "fd", read->fd);
		json__key_string(j, "name", *read->name ? read->name : NULL);
		json__key_u64(j, "ns", read->ns);
		json__key_u64(j, "times", read->count);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_times(struct json *j, const struct host_thread *thread)
{
	json__key(j, "kinds");
	json__object_begin(j);
	for (int kind = 0; kind < HOST_KINDS; kind++) {
		if (!host_thread__kind_ns(thread, (enum host_kind)kind))
			continue;
		json__key(j, host_kind__word((enum host_kind)kind));
		json__object_begin(j);
		json__key_u64(j, "times", thread->times[kind]);
		for (int class = 0; class < HOST_CLASSES; class ++)
			if (thread->ns[kind][class])
				json__key_u64(j, host_class__word((enum host_class) class), thread->ns[kind][class]);
		json__object_end(j);
	}
	json__object_end(j);
}

static void write_line(struct json *j, const struct stack_frame *line)
{
	json__key(j, "line");
	if (!line->function && !line->object) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_string(j, "function", line->function);
	if (line->object)
		json__key_string(j, "object", line->object);
	if (line->file)
		json__key_string(j, "file", line->file);
	if (line->line)
		json__key_u64(j, "line", line->line);
	json__object_end(j);
}

static void write_reason(struct json *j, const struct host_reason *reason, uint64_t whole_ns,
			 const struct host_process *process)
{
	json__object_begin(j);
	json__key_string(j, "kind", host_kind__word(reason->kind));
	json__key_string(j, "call_class", host_class__word(reason->class));
	if (reason->call_name)
		json__key_string(j, "system_call", reason->call_name);
	json__key_u64(j, "ns", reason->ns);
	key_share(j, "share", reason->ns, whole_ns);
	write_line(j, &reason->line);
	if (reason->thread < process->thread_count)
		json__key_i64(j, "tid", process->threads[reason->thread].tid);
	if (reason->waker.count) {
		json__key(j, "waker");
		write_partner(j, &reason->waker);
	}
	json_stack__write(j, reason->stack);
	json__object_end(j);
}

static void write_reasons(struct json *j, const struct host_reason *reasons, size_t count, uint64_t whole_ns,
			  const struct host_process *process)
{
	json__key(j, "reasons");
	json__array_begin(j);
	for (size_t i = 0; i < count; i++)
		write_reason(j, &reasons[i], whole_ns, process);
	json__array_end(j);
}

static void write_thread(struct json *j, const struct host_thread *thread, const struct host_process *process)
{
	json__object_begin(j);
	json__key_i64(j, "tid", thread->tid);
	json__key_i64(j, "pid", thread->pid);
	json__key_string(j, "comm", thread->comm);
	json__key_bool(j, "submits", thread->submits);
	json__key_bool(j, "ended", thread->ended);
	json__key_u64(j, "watched_ns", thread->watched_ns);
	key_share(j, "known_share", thread->known_ns, thread->watched_ns);
	json__key_u64(j, "samples", thread->samples);
	write_times(j, thread);
	write_wakers(j, thread);
	write_partners(j, "rivals", thread->rivals);
	write_reads(j, thread);
	write_reasons(j, thread->reasons, thread->reason_count, thread->watched_ns, process);
	json__object_end(j);
}

static void write_throttle(struct json *j, const struct host_throttle *throttle)
{
	json__key(j, "cpu_limit");
	if (!throttle->known) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	json__key_u64(j, "periods", throttle->periods);
	json__key_u64(j, "throttled_periods", throttle->throttled_periods);
	json__key_u64(j, "throttled_ns", throttle->throttled_ns);
	json__object_end(j);
}

void json_host__write(struct json *j, const struct model *model, const struct process *p)
{
	const struct host_process *process = host_side__find(model->host, p->pid, p->start_ns);

	if (!process)
		return;
	json__key(j, "host");
	json__object_begin(j);
	json__key_u64(j, "watched_ns", process->watched_ns);
	key_share(j, "known_share", process->known_ns, process->watched_ns);
	write_reasons(j, process->reasons, process->reason_count, process->watched_ns, process);
	write_throttle(j, &process->throttle);
	json__key(j, "threads");
	json__array_begin(j);
	for (size_t i = 0; i < process->thread_count; i++)
		write_thread(j, &process->threads[i], process);
	json__array_end(j);
	json__object_end(j);
}

void json_host__write_state(struct json *j, const struct model *model)
{
	const struct host_side *side = model->host;

	if (!side || !side->asked)
		return;
	json__key(j, "host");
	json__object_begin(j);
	json__key_bool(j, "follows", !side->lack);
	if (side->lack)
		json__key_string(j, "lack", side->lack);
	else
		json__key_u64(j, "since_ns", side->since_ns);
	json__key_u64(j, "not_followed", side->unfollowed);
	json__object_end(j);
}
