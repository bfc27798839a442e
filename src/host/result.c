// SPDX-License-Identifier: BSD-2-Clause
// Converts followed threads to the model's form; see result.h.
#include "host/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/text_file.h"

struct making {
	const struct result_source *source;
	struct host_process *process;
	size_t number_of[HOST_THREADS]; /* index of a thread in the process -> its number */
};

/* --- partners --- */

static bool is_of(const struct host_pair_key *key, const struct followed_list *list, size_t number)
{
	return key->thread == number && key->generation == list->threads[number].generation;
}

/* The index of the thread among the process's, by its tid in gpuprobe's pid namespace. */
static size_t find_thread(const struct making *making, int32_t tid)
{
	for (size_t i = 0; i < making->process->thread_count; i++)
		if (making->source->list->threads[making->number_of[i]].who.tid == tid && tid)
			return i;
	return HOST_NO_THREAD;
}

/* Inserts a partner into the list of those with the most time. */
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
		struct host_partner one = {.tid = waker->tid,
					   .pid = waker->pid,
					   .ns = waker->ns,
					   .count = waker->count};

		if (!is_of(key, making->source->list, number) || key->kind >= HOST_ACTIVITIES ||
		    !waker->count)
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
		struct host_partner one = {.pid = rival->pid,
					   .ns = rival->ns,
					   .count = rival->count,
					   .thread = HOST_NO_THREAD};

		if (!is_of(&partners->rival_keys[i], making->source->list, number))
			continue;
		memcpy(one.comm, rival->comm, sizeof(one.comm) - 1);
		rank_partner(thread->rivals, &one);
	}
}

/* The kernel gave a regular file's name while it was read; other names are looked up now. */
static void name_file(struct host_file_wait *wait, const struct host_file *file, int32_t pid,
		      int32_t fd)
{
	char path[64];
	ssize_t length;

	if (*file->name) {
		snprintf(wait->name, sizeof(wait->name), ".../%.*s/%.*s", HOST_NAME_SIZE - 1,
			 file->folder, HOST_NAME_SIZE - 1, file->name);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	length = readlink(path, wait->name, sizeof(wait->name) - 1);
	wait->name[length > 0 ? length : 0] = '\0';
}

/* Returns its rank among those with the most time; HOST_PARTNERS if it has none. */
static size_t rank_of(const struct host_file_wait *list, uint64_t ns)
{
	size_t at = HOST_PARTNERS;

	while (at && (!list[at - 1].count || list[at - 1].ns < ns))
		at--;
	return at;
}

static void take_files(const struct making *making, struct host_thread *thread, size_t number)
{
	const struct partners *partners = making->source->partners;

	for (size_t i = 0; i < partners->file_count; i++) {
		const struct host_pair_key *key = &partners->file_keys[i];
		const struct host_file *file = &partners->files[i];
		struct host_file_wait one = {.ns = file->ns, .count = file->count};
		size_t at = rank_of(thread->files, file->ns);

		if (!is_of(key, making->source->list, number) || key->kind != ACTIVITY_DISK ||
		    at == HOST_PARTNERS)
			continue;
		name_file(&one, file, thread->pid, (int32_t)key->other);
		memmove(&thread->files[at + 1], &thread->files[at],
			(HOST_PARTNERS - 1 - at) * sizeof(one));
		thread->files[at] = one;
	}
}

/* --- threads --- */

/* Reads the name again: the thread may have been renamed since it was found. */
static void read_comm(struct host_thread *thread, const struct host_submitter *who)
{
	char path[64], text[HOST_COMM_SIZE + 1];

	memcpy(thread->comm, who->comm, sizeof(thread->comm) - 1);
	snprintf(path, sizeof(path), "/proc/%d/comm", who->tid);
	if (!thread->ended && who->tid && !text_file__read("", path, text, sizeof(text)))
		snprintf(thread->comm, sizeof(thread->comm), "%.*s", HOST_COMM_SIZE - 1, text);
}

static void make_thread(const struct making *making, size_t index)
{
	const struct followed_list *list = making->source->list;
	size_t number = making->number_of[index];
	const struct followed_thread *from = &list->threads[number];
	struct host_thread *thread = &making->process->threads[index];
	int mark = from->steady.mark;
	uint64_t since_ns = mark < 0 ? from->began_ns : from->marks[mark].at_ns;
	struct host_counts counts;
	long count;

	followed_thread__count(from, &counts);
	thread->tid = from->who.tid;
	thread->pid = from->who.pid;
	thread->submits = from->submits;
	thread->ended = counts.ended;
	thread->serves = from->socket.role == SOCKET_SERVES;
	thread->asks = from->socket.role == SOCKET_ASKS;
	if (counts.at_ns > since_ns)
		thread->watched_ns = counts.at_ns - since_ns;
	read_comm(thread, &from->who);
	take_wakers(making, thread, number);
	take_rivals(making, thread, number);
	take_files(making, thread, number);
	count = code_locations__rank(from->locations, mark,
				     (const uint64_t(*)[HOST_CLASSES])counts.ns,
				     &thread->locations);
	thread->location_count = count > 0 ? (size_t)count : 0;
}

/* --- processes --- */

static bool is_for(const struct followed_thread *thread, const struct host_process *process)
{
	return thread->used && thread->marked && thread->for_pid == process->pid &&
	       thread->for_start_ns == process->start_ns;
}

/* Threads that submit come first. */
static void choose_threads(struct making *making)
{
	const struct followed_list *list = making->source->list;
	struct host_process *process = making->process;

	for (int submits = 1; submits >= 0; submits--)
		for (size_t i = 0; i < HOST_THREADS; i++)
			if (is_for(&list->threads[i], process) &&
			    list->threads[i].submits == (bool)submits)
				making->number_of[process->thread_count++] = i;
}

static uint64_t limited_before(const struct limited_process *limited)
{
	int mark = limited->steady.mark;

	return mark >= 0 && limited->marks[mark] > limited->before_ns ? limited->marks[mark] :
									limited->before_ns;
}

static void take_limit(const struct result_source *source, struct host_process *process)
{
	for (size_t i = 0; i < source->limited_count; i++) {
		const struct limited_process *limited = &source->limited[i];

		if (limited->pid != process->pid || limited->start_ns != process->start_ns)
			continue;
		process->serves = limited->serves;
		if (!limited->known)
			continue;
		process->limit_known = true;
		process->limited_ns = limited->now_ns - limited_before(limited);
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
	take_limit(source, process);
	return 0;
}

/* Lists each process because of which a thread is followed, once. */
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
			side->processes[side->process_count++] = (struct host_process){
				.pid = thread->for_pid, .start_ns = thread->for_start_ns};
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
		free(process->threads[i].locations);
	free(process->threads);
}

void host_result__clear(struct host_side *side)
{
	for (size_t i = 0; i < side->process_count; i++)
		clear_process(&side->processes[i]);
	free(side->processes);
	side->processes = NULL;
	side->process_count = 0;
}
