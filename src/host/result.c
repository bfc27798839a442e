// SPDX-License-Identifier: BSD-2-Clause
// From followed threads to the model, see result.h.
#include "host/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/throttle.h"
#include "target/text_file.h"

struct making {
	const struct result_source *source;
	struct host_process *process;
	size_t number_of[HOST_THREADS]; /* thread of the process -> its number in the list */
};

/* --- partners --- */

static bool is_of(const struct host_pair_key *key, const struct followed_list *list, size_t number)
{
	return key->thread == number && key->generation == list->threads[number].generation;
}

/* The thread's place among the process's, by its number in gpuprobe's namespace. */
static size_t find_thread(const struct making *making, int32_t tid)
{
	for (size_t i = 0; i < making->process->thread_count; i++)
		if (making->source->list->threads[making->number_of[i]].who.tid == tid && tid)
			return i;
	return HOST_NO_THREAD;
}

/* Puts one in its place among those with the most time. */
static void rank_partner(struct host_partner *list, const struct host_partner *one)
{
	size_t at = HOST_PARTNERS;

	while (at && (!list[at - 1].count || list[at - 1].ns < one->ns))
		at--;
	if (at == HOST_PARTNERS)
		return;
	memmove(&list[at + 1], &list[at], (HOST_PARTNERS - 1 - at) * sizeof(*list));
	list[at] = *one;
}

static void take_wakers(const struct making *making, struct host_thread *thread, size_t number)
{
	const struct partners *partners = making->source->partners;

	for (size_t i = 0; i < partners->waker_count; i++) {
		const struct host_pair_key *key = &partners->waker_keys[i];
		const struct host_waker *waker = &partners->wakers[i];
		struct host_partner one = {.tid = waker->tid, .pid = waker->pid, .ns = waker->ns, .count = waker->count};

		if (!is_of(key, making->source->list, number) || key->kind >= HOST_KINDS || !waker->count)
			continue;
		memcpy(one.comm, waker->comm, sizeof(one.comm) - 1);
		one.thread = find_thread(making, waker->tid);
		rank_partner(thread->wakers[key->kind], &one);
	}
}

static void take_rivals(const struct making *making, struct host_thread *thread, size_t number)
{
	const struct partners *partners = making->source->partners;

	for (size_t i = 0; i < partners->rival_count; i++) {
		const struct host_rival *rival = &partners->rivals[i];
		struct host_partner one = {.pid = rival->pid, .ns = rival->ns, .count = rival->count, .thread = HOST_NO_THREAD};

		if (!is_of(&partners->rival_keys[i], making->source->list, number))
			continue;
		memcpy(one.comm, rival->comm, sizeof(one.comm) - 1);
		rank_partner(thread->rivals, &one);
	}
}

/* The kernel has told a file's while it was read; of others the name is asked for now. */
static void name_file(struct host_read *read, const struct host_file *file, int32_t pid)
{
	char path[64];
	ssize_t length;

	if (*file->name) {
		snprintf(read->name, sizeof(read->name), ".../%.*s/%.*s", HOST_NAME_SIZE - 1, file->folder,
			 HOST_NAME_SIZE - 1, file->name);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, read->fd);
	length = readlink(path, read->name, sizeof(read->name) - 1);
	read->name[length > 0 ? length : 0] = '\0';
}

static void rank_read(struct host_read *list, const struct host_read *one)
{
	size_t at = HOST_PARTNERS;

	while (at && (!list[at - 1].count || list[at - 1].ns < one->ns))
		at--;
	if (at == HOST_PARTNERS)
		return;
	memmove(&list[at + 1], &list[at], (HOST_PARTNERS - 1 - at) * sizeof(*list));
	list[at] = *one;
}

static bool is_worth(const struct host_read *list, const struct host_read *one)
{
	return !list[HOST_PARTNERS - 1].count || list[HOST_PARTNERS - 1].ns < one->ns;
}

static void take_reads(const struct making *making, struct host_thread *thread, size_t number)
{
	const struct partners *partners = making->source->partners;

	for (size_t i = 0; i < partners->file_count; i++) {
		const struct host_file *file = &partners->files[i];
		struct host_read one = {
			.fd = (int32_t)partners->file_keys[i].other, .ns = file->ns, .count = file->count};

		if (!is_of(&partners->file_keys[i], making->source->list, number) || !is_worth(thread->reads, &one))
			continue;
		name_file(&one, file, thread->pid);
		rank_read(thread->reads, &one);
	}
}

/* --- threads --- */

static uint64_t sum_of(const uint64_t ns[HOST_KINDS][HOST_CLASSES])
{
	uint64_t sum = 0;

	for (int kind = 0; kind < HOST_KINDS; kind++)
		for (int class = 0; class < HOST_CLASSES; class ++)
			sum += ns[kind][class];
	return sum;
}

static bool has_line(const struct host_reason *reason)
{
	return reason->line.function || reason->line.object;
}

/* All but what is on a CPU, in no call, where nobody knows. */
static uint64_t known_of(const struct host_thread *thread)
{
	uint64_t known = sum_of(thread->ns);

	for (size_t i = 0; i < thread->reason_count; i++) {
		const struct host_reason *reason = &thread->reasons[i];

		if (reason->kind == HOST_CPU && reason->class == HOST_OUTSIDE && !has_line(reason))
			known -= reason->ns < known ? reason->ns : known;
	}
	return known;
}

/* Renamed since it was found, maybe. */
static void read_comm(struct host_thread *thread, const struct host_submitter *who)
{
	char path[64], text[HOST_COMM_SIZE + 1];

	memcpy(thread->comm, who->comm, sizeof(thread->comm) - 1);
	snprintf(path, sizeof(path), "/proc/%d/comm", who->tid);
	if (!thread->ended && who->tid && !text_file__read("", path, text, sizeof(text)))
		snprintf(thread->comm, sizeof(thread->comm), "%.*s", HOST_COMM_SIZE - 1, text);
}

/* A reason's waker is the thread's most frequent one of the kind. */
static void take_reasons(struct host_thread *thread, const struct places *places, size_t index)
{
	long count = places__rank(places, thread->ns, &thread->reasons);

	thread->reason_count = count > 0 ? (size_t)count : 0;
	for (size_t i = 0; i < thread->reason_count; i++) {
		thread->reasons[i].thread = index;
		thread->reasons[i].waker = thread->wakers[thread->reasons[i].kind][0];
	}
}

static void make_thread(const struct making *making, size_t index)
{
	const struct followed_list *list = making->source->list;
	size_t number = making->number_of[index];
	const struct followed_thread *from = &list->threads[number];
	struct host_thread *thread = &making->process->threads[index];
	struct host_counts counts;

	followed_thread__count(list, number, making->source->now_ns, &counts);
	thread->tid = from->who.tid;
	thread->pid = from->who.pid;
	thread->start_ns = from->who.start_ns;
	thread->submits = from->submits;
	thread->ended = counts.ended;
	memcpy(thread->ns, counts.ns, sizeof(thread->ns));
	memcpy(thread->times, counts.times, sizeof(thread->times));
	for (int class = 0; class < HOST_CLASSES; class ++)
		thread->samples += counts.samples[class];
	if (from->marked && counts.at_ns > from->base_ns)
		thread->watched_ns = counts.at_ns - from->base_ns;
	read_comm(thread, &from->who);
	take_wakers(making, thread, number);
	take_rivals(making, thread, number);
	take_reads(making, thread, number);
	take_reasons(thread, from->places, index);
	thread->known_ns = known_of(thread);
}

/* --- processes --- */

static bool is_for(const struct followed_thread *thread, const struct host_process *process)
{
	return thread->used && thread->marked && thread->for_pid == process->pid && thread->for_start_ns == process->start_ns;
}

/* Those that submit come first. */
static void choose_threads(struct making *making)
{
	const struct followed_list *list = making->source->list;
	struct host_process *process = making->process;

	for (int submits = 1; submits >= 0; submits--)
		for (size_t i = 0; i < HOST_THREADS; i++)
			if (is_for(&list->threads[i], process) && list->threads[i].submits == (bool)submits)
				making->number_of[process->thread_count++] = i;
}

static struct host_reason *find_reason(struct host_process *process, const struct host_reason *reason)
{
	for (size_t i = 0; i < process->reason_count; i++)
		if (places__is_same(&process->reasons[i], reason))
			return &process->reasons[i];
	return NULL;
}

/* What is in ->thread is of the one with the most of it; `most` has how much that is. */
static void merge_reason(struct host_process *process, const struct host_reason *reason, uint64_t *most)
{
	struct host_reason *own = find_reason(process, reason);
	size_t at;

	if (!own) {
		most[process->reason_count] = reason->ns;
		process->reasons[process->reason_count++] = *reason;
		return;
	}
	at = (size_t)(own - process->reasons);
	own->ns += reason->ns;
	if (reason->ns <= most[at])
		return;
	most[at] = reason->ns;
	own->thread = reason->thread;
	own->waker = reason->waker;
	own->stack = reason->stack;
	own->frame = reason->frame;
	own->line = reason->line;
}

static int merge_reasons(struct host_process *process)
{
	size_t room = 0;
	uint64_t *most;

	for (size_t i = 0; i < process->thread_count; i++)
		room += process->threads[i].submits ? process->threads[i].reason_count : 0;
	most = calloc(room + 1, sizeof(*most));
	process->reasons = calloc(room + 1, sizeof(*process->reasons));
	if (!most || !process->reasons) {
		free(most);
		return -ENOMEM;
	}
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct host_thread *thread = &process->threads[i];

		for (size_t n = 0; thread->submits && n < thread->reason_count; n++)
			if (thread->reasons[n].class != HOST_WAITS)
				merge_reason(process, &thread->reasons[n], most);
	}
	free(most);
	places__sort(process->reasons, process->reason_count);
	return 0;
}

static void sum_threads(struct host_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct host_thread *thread = &process->threads[i];

		process->watched_ns += thread->submits ? thread->watched_ns : 0;
		process->known_ns += thread->submits ? thread->known_ns : 0;
	}
}

static void take_throttle(const struct result_source *source, struct host_process *process)
{
	for (size_t i = 0; i < source->throttle_count; i++) {
		const struct throttle_base *base = &source->throttles[i];

		if (base->pid != process->pid || base->start_ns != process->start_ns)
			continue;
		process->throttle = base->now;
		throttle__since(&process->throttle, &base->at);
	}
}

static int make_process(const struct result_source *source, struct host_process *process)
{
	struct making making = {.source = source, .process = process};

	choose_threads(&making);
	process->threads = calloc(process->thread_count + 1, sizeof(*process->threads));
	if (!process->threads) {
		process->thread_count = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < process->thread_count; i++)
		make_thread(&making, i);
	sum_threads(process);
	take_throttle(source, process);
	return merge_reasons(process);
}

/* Each for whose sake some thread is followed, once. */
static int list_processes(const struct followed_list *list, struct host_side *side)
{
	side->processes = calloc(HOST_THREADS, sizeof(*side->processes));
	if (!side->processes)
		return -ENOMEM;
	for (size_t i = 0; i < HOST_THREADS; i++) {
		const struct followed_thread *thread = &list->threads[i];
		size_t n = 0;

		if (!thread->used || !thread->marked)
			continue;
		while (n < side->process_count && !is_for(thread, &side->processes[n]))
			n++;
		if (n == side->process_count)
			side->processes[side->process_count++] =
				(struct host_process){.pid = thread->for_pid, .start_ns = thread->for_start_ns};
	}
	return 0;
}

int host_result__make(const struct result_source *source, struct host_side *side)
{
	int ret = list_processes(source->list, side);

	for (size_t i = 0; !ret && i < side->process_count; i++)
		ret = make_process(source, &side->processes[i]);
	side->unfollowed = source->list->refused;
	return ret;
}

static void clear_process(struct host_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		free(process->threads[i].reasons);
	free(process->threads);
	free(process->reasons);
}

void host_result__clear(struct host_side *side)
{
	for (size_t i = 0; i < side->process_count; i++)
		clear_process(&side->processes[i]);
	free(side->processes);
	side->processes = NULL;
	side->process_count = 0;
}
