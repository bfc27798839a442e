// SPDX-License-Identifier: BSD-2-Clause
// Followed threads; see followed.h.
#include "host/followed.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gen/host.skel.h"

#define STACK_BYTES_MAX (64u << 20)

static size_t profiles_bytes(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       bytes = HOST_THREADS * sizeof(struct host_profile);

	return (bytes + page - 1) / page * page;
}

int followed_list__init(struct followed_list *list, struct host_bpf *skeleton)
{
	void *profiles = mmap(NULL, profiles_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(skeleton->maps.host_accounts), 0);

	memset(list, 0, sizeof(*list));
	if (profiles == MAP_FAILED)
		return -errno;
	list->profiles = profiles;
	list->skeleton = skeleton;
	list->budget.left = STACK_BYTES_MAX;
	return 0;
}

static void release(struct followed_thread *thread)
{
	code_locations__free(thread->locations);
	thread->locations = NULL;
	thread->used = false;
}

void followed_list__clear(struct followed_list *list)
{
	for (size_t i = 0; i < HOST_THREADS; i++)
		if (list->threads[i].used)
			release(&list->threads[i]);
	if (list->profiles)
		munmap((void *)list->profiles, profiles_bytes());
	list->profiles = NULL;
}

long followed_list__find(const struct followed_list *list, uint32_t kernel_tid, uint64_t start_ns)
{
	for (long i = 0; i < HOST_THREADS; i++) {
		const struct followed_thread *thread = &list->threads[i];

		if (thread->used && thread->who.kernel_tid == kernel_tid &&
		    thread->who.start_ns == start_ns)
			return i;
	}
	return -1;
}

/*
 * Returns a free number, or else that of the thread which ended longest ago. -1 if there is none.
 */
static long find_room(const struct followed_list *list, bool submits)
{
	size_t first = submits ? 0 : SUBMITTERS_MAX, end = submits ? SUBMITTERS_MAX : HOST_THREADS;
	uint64_t oldest_ns = UINT64_MAX;
	long found = -1;

	for (size_t i = first; i < end; i++) {
		uint64_t ended_ns = list->profiles[i].ended_ns;

		if (!list->threads[i].used)
			return (long)i;
		if (ended_ns && ended_ns < oldest_ns) {
			oldest_ns = ended_ns;
			found = (long)i;
		}
	}
	return found;
}

/* Assigns the number's profile to the thread. It counts once the iterator has set .began_ns. */
static void open_profile(struct followed_list *list, size_t number,
			 const struct followed_thread *thread)
{
	const struct host_profile fresh = {
		.generation = thread->generation,
		.process_start_ns = thread->who.process_start_ns,
		.pid = thread->who.pid,
		.kernel_tid = thread->who.kernel_tid,
		.submits = thread->submits,
	};

	/*
	 * Invalidate the number first, so that the previous thread's BPF programs see that they
	 * have lost it.
	 */
	list->profiles[number].generation = 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy((void *)&list->profiles[number], &fresh, sizeof(fresh));
}

bool followed_list__add(struct followed_list *list, const struct host_submitter *who,
			const struct followed_thread *origin)
{
	long number = find_room(list, !origin);
	struct followed_thread *thread;
	struct host_wanted wanted = {.start_ns = who->start_ns};
	struct followed_thread fresh = {
		.used = true,
		.who = *who,
		.submits = !origin,
		.hops = origin ? origin->hops + 1 : 0,
		.for_pid = origin ? origin->for_pid : who->pid,
		.for_start_ns = origin ? origin->for_start_ns : who->process_start_ns,
		.steady.mark = -1,
	};

	if (number < 0) {
		list->refused++;
		return false;
	}
	thread = &list->threads[number];
	fresh.generation = thread->generation + 1;
	fresh.locations = code_locations__new(&list->budget);
	if (!fresh.locations)
		return false;
	if (thread->used)
		release(thread);
	*thread = fresh;
	open_profile(list, (size_t)number, thread);
	wanted.thread = (uint32_t)number;
	wanted.generation = thread->generation;
	return !bpf_map__update_elem(list->skeleton->maps.host_wanted, &who->kernel_tid,
				     sizeof(who->kernel_tid), &wanted, sizeof(wanted), BPF_ANY);
}

void followed_list__promote(struct followed_list *list, size_t number,
			    const struct host_submitter *who)
{
	struct followed_thread *thread = &list->threads[number];

	thread->submits = true;
	thread->hops = 0;
	thread->for_pid = who->pid;
	thread->for_start_ns = who->process_start_ns;
	list->profiles[number].submits = 1;
}

void followed_list__look(struct followed_list *list)
{
	for (size_t i = 0; i < HOST_THREADS; i++) {
		struct followed_thread *thread = &list->threads[i];

		if (!thread->used || thread->marked || !list->profiles[i].began_ns)
			continue;
		thread->marked = true;
		thread->began_ns = list->profiles[i].began_ns;
	}
}

void followed_list__read(struct followed_list *list, uint64_t now_ns)
{
	for (size_t i = 0; i < HOST_THREADS; i++)
		if (list->threads[i].used && list->threads[i].marked)
			host_counts__read(&list->threads[i].counts, &list->profiles[i], now_ns);
}

void followed_thread__mark(struct followed_thread *thread, const struct steady_marks *steady)
{
	for (int mark = 0; mark < SITE_MARKS; mark++) {
		bool none = steady->ns[mark] <= thread->began_ns;

		if (!steady->ns[mark] || steady->ns[mark] == thread->steady.ns[mark])
			continue;
		thread->marks[mark] = thread->counts;
		if (none)
			thread->marks[mark] = (struct host_counts){.at_ns = thread->began_ns};
		code_locations__mark(thread->locations, mark, none);
	}
	thread->steady = *steady;
	/* The thread's mark is later than its process's if gpuprobe lost the CPU in between. */
	if (steady->mark >= 0 &&
	    steady->end_ns < thread->marks[steady->mark].at_ns + STEADY_LEAST_NS)
		thread->steady.mark = -1;
}

void followed_thread__count(const struct followed_thread *thread, struct host_counts *counts)
{
	*counts = thread->counts;
	if (thread->steady.mark >= 0)
		host_counts__since(counts, &thread->marks[thread->steady.mark]);
	host_counts__share_cpu(counts);
}
