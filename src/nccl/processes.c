// SPDX-License-Identifier: BSD-2-Clause
// Processes and threads that call NCCL, and the bytes that each process may have here.
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "nccl/private.h"

/* Forgets the oldest ended communicator, of this payer or (NULL) of any. */
static bool forget(struct nccl_jobs *jobs, const struct process *payer)
{
	struct comm *comm;

	for (comm = jobs->over; comm; comm = comm->over_next) {
		if (comm->creating || (payer && comm->payer != payer))
			continue;
		jobs->losses.forgotten++;
		nccl_comm__free(jobs, comm);
		return true;
	}
	return false;
}

bool nccl_budget__take(struct nccl_jobs *jobs, struct process *process, size_t bytes)
{
	bool room = true;

	/* The payer must not go with those that are forgotten. */
	if (process)
		process->references++;
	while (room && process && process->bytes + bytes > jobs->limits.process_bytes)
		room = process->over && forget(jobs, process);
	while (room && jobs->bytes + bytes > jobs->limits.bytes)
		room = forget(jobs, NULL);
	if (process)
		process->references--;
	if (!room) {
		jobs->losses.no_room++;
		return false;
	}
	jobs->bytes += bytes;
	if (process)
		process->bytes += bytes;
	return true;
}

void nccl_budget__give(struct nccl_jobs *jobs, struct process *process, size_t bytes)
{
	jobs->bytes -= bytes;
	if (process)
		process->bytes -= bytes;
}

static struct nccl_process_key plain_key(const struct nccl_process_key *key)
{
	struct nccl_process_key plain;

	/* Tables compare keys by their bytes. */
	memset(&plain, 0, sizeof(plain));
	plain.pid = key->pid;
	plain.uid = key->uid;
	plain.start_ns = key->start_ns;
	return plain;
}

struct process *nccl_process__find(struct nccl_jobs *jobs, const struct nccl_process_key *key)
{
	struct nccl_process_key plain = plain_key(key);

	return TABLE_FIND(jobs->processes, open.key, &plain);
}

struct process *nccl_process__take(struct nccl_jobs *jobs, const struct nccl_process_key *key)
{
	struct nccl_process_key plain = plain_key(key);
	struct process *process = TABLE_FIND(jobs->processes, open.key, &plain);

	if (process)
		return process;
	if (!nccl_budget__take(jobs, NULL, sizeof(*process)))
		return NULL;
	process = TABLE_ADD_NEW(jobs->processes, open.key, &plain);
	if (!process) {
		nccl_budget__give(jobs, NULL, sizeof(*process));
		jobs->losses.no_room++;
		return NULL;
	}
	process->number = ++jobs->processes_ever;
	return process;
}

void nccl_process__free(struct process *process)
{
	free(process->places);
	free(process);
}

void nccl_process__release(struct nccl_jobs *jobs, struct process *process)
{
	if (!process->open.ended || process->references)
		return;
	HASH_DEL(jobs->processes, process);
	nccl_budget__give(jobs, NULL, sizeof(*process));
	nccl_process__free(process);
}

struct thread *nccl_thread__take(struct nccl_jobs *jobs, struct process *process, int32_t tid)
{
	struct thread_key key = {process->number, tid};
	struct thread *thread = TABLE_FIND(jobs->threads, key, &key);

	if (thread)
		return thread;
	if (!nccl_budget__take(jobs, process, sizeof(*thread)))
		return NULL;
	thread = TABLE_ADD_NEW(jobs->threads, key, &key);
	if (!thread) {
		nccl_budget__give(jobs, process, sizeof(*thread));
		jobs->losses.no_room++;
		return NULL;
	}
	thread->process = process;
	process->references++;
	return thread;
}

void nccl_thread__free(struct nccl_jobs *jobs, struct thread *thread)
{
	struct process *process = thread->process;

	HASH_DEL(jobs->threads, thread);
	nccl_budget__give(jobs, process,
			  sizeof(*thread) + thread->grouped_room * sizeof(*thread->grouped));
	process->references--;
	free(thread->grouped);
	free(thread);
}

void nccl_jobs__process_ended(struct nccl_jobs *jobs, const struct nccl_process_key *key)
{
	struct process *process = nccl_process__find(jobs, key);
	struct thread *thread, *after;
	struct rank *rank;

	if (!process || process->open.ended)
		return;
	HASH_ITER (hh, jobs->threads, thread, after)
		if (thread->process == process)
			nccl_thread__free(jobs, thread);
	process->open.ended = true;
	process->open.waiting_since_ns = 0;
	if (process->places)
		nccl_budget__give(jobs, process, sizeof(*process->places));
	free(process->places);
	process->places = NULL;
	DL_FOREACH2(process->ranks, rank, process_next)
	nccl_rank__end(jobs, rank, NCCL_RANK_DEAD);
	nccl_process__release(jobs, process);
}

void nccl_text__copy(char *to, size_t size, const char *text)
{
	size_t length = text ? strnlen(text, size - 1) : 0;

	memcpy(to, text ? text : "", length);
	to[length] = 0;
}

void nccl_jobs__set_activity(struct nccl_jobs *jobs, const struct nccl_process_key *key,
			     enum nccl_activity activity, const char *where)
{
	struct process *process = nccl_process__find(jobs, key);

	if (!process)
		return;
	process->open.activity = activity;
	nccl_text__copy(process->open.where, sizeof(process->open.where), where);
	process->open.waits[0] = 0;
	process->open.looks = process->open.looks_there = 0;
}

static bool may_keep_places(struct nccl_jobs *jobs, struct process *process)
{
	if (process->places)
		return true;
	if (!nccl_budget__take(jobs, process, sizeof(*process->places)))
		return false;
	process->places = calloc(1, sizeof(*process->places));
	if (!process->places)
		nccl_budget__give(jobs, process, sizeof(*process->places));
	return process->places;
}

void nccl_jobs__add_look(struct nccl_jobs *jobs, const struct nccl_process_key *key,
			 enum nccl_activity activity, const char *where, const char *waits)
{
	struct process *process = nccl_process__find(jobs, key);
	const struct nccl_place *place;

	if (!process || !may_keep_places(jobs, process))
		return;
	place = nccl_places__add(process->places, activity, where, waits);
	nccl_jobs__set_activity(jobs, key, place->activity, place->where);
	nccl_jobs__set_wait(jobs, key, place->waits);
	process->open.looks = process->places->looks;
	process->open.looks_there = place->seen;
}

void nccl_jobs__set_wait(struct nccl_jobs *jobs, const struct nccl_process_key *key,
			 const char *waits)
{
	struct process *process = nccl_process__find(jobs, key);

	if (process)
		nccl_text__copy(process->open.waits, sizeof(process->open.waits), waits);
}
