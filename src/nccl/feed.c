// SPDX-License-Identifier: BSD-2-Clause
// Takes events: which call of a thread an end belongs to, which calls NCCL makes itself, and
// groups, whose work begins at the outermost ncclGroupEnd.
#include <stdlib.h>
#include <utlist.h>

#include "base/array.h"
#include "nccl/private.h"

/* The rank behind an address; one of unknown number if none is known. NULL: no room, or ended. */
static struct rank *take_rank(struct nccl_jobs *jobs, struct process *process, uint64_t handle)
{
	struct rank *rank = nccl_rank__find(jobs, process, handle);

	if (rank)
		return rank;
	rank = nccl_rank__add(jobs, process, false, 0, 0, NCCL_RANK_UNKNOWN, 0);
	if (!rank)
		return NULL;
	rank->open.state = NCCL_RANK_LIVE;
	nccl_rank__set_handle(jobs, rank, handle);
	return rank;
}

static void created(struct rank *rank)
{
	if (rank->open.state == NCCL_RANK_CREATING)
		rank->open.state = NCCL_RANK_LIVE;
	rank->open.creating_ns = 0;
}

static void submit(struct nccl_jobs *jobs, struct rank *rank, struct grouped *call, uint64_t ns)
{
	/* Work for a communicator says that its creation has succeeded. */
	created(rank);
	rank->open.in_call_ns = ns;
	if (nccl_function__is_collective(call->operation.function))
		call->sequence = nccl_rank__arrive(jobs, rank, &call->operation, call->queue, ns);
	else
		nccl_rank__point_to_point(jobs, rank, &call->operation, ns);
}

static void keep_for_group(struct nccl_jobs *jobs, struct thread *thread,
			   const struct grouped *call)
{
	size_t room = thread->grouped_room ? thread->grouped_room * 2 : 16;
	struct grouped *grown;

	if (thread->grouped_count == thread->grouped_room) {
		if (room > MOST_GROUPED ||
		    !nccl_budget__take(jobs, thread->process,
				       (room - thread->grouped_room) * sizeof(*grown))) {
			jobs->losses.no_room++;
			return;
		}
		grown = reallocarray(thread->grouped, room, sizeof(*grown));
		if (!grown) {
			nccl_budget__give(jobs, thread->process,
					  (room - thread->grouped_room) * sizeof(*grown));
			jobs->losses.no_room++;
			return;
		}
		thread->grouped = grown;
		thread->grouped_room = room;
	}
	thread->grouped[thread->grouped_count++] = *call;
}

static void begin_work(struct nccl_jobs *jobs, struct thread *thread,
		       const struct nccl_event *event)
{
	struct rank *rank = take_rank(jobs, thread->process, event->comm);
	struct grouped call = {
		.handle = event->comm,
		.operation = event->operation,
		.queue = event->queue,
	};

	if (!rank)
		return;
	call.operation.function = event->function;
	if (event->captured) {
		rank->open.captured++;
	} else if (thread->group) {
		keep_for_group(jobs, thread, &call);
	} else {
		submit(jobs, rank, &call, event->ns);
		thread->sequence = call.sequence;
	}
}

static void failed(struct rank *rank, uint64_t sequence, int32_t result)
{
	rank->open.failed++;
	rank->open.error = result;
	if (sequence)
		nccl_rank__withdraw(rank, sequence);
}

static bool is_error(int32_t result)
{
	return result && result != NCCL_IN_PROGRESS;
}

static void end_work(struct nccl_jobs *jobs, struct thread *thread, const struct nccl_event *event)
{
	struct rank *rank = nccl_rank__find(jobs, thread->process, thread->handle);

	if (!rank)
		return;
	rank->open.in_call_ns = 0;
	if (!is_error(event->result))
		return;
	failed(rank, thread->sequence, event->result);
	/* In a group, the call that failed is the latest one. */
	if (thread->group && thread->grouped_count &&
	    thread->grouped[thread->grouped_count - 1].handle == thread->handle)
		thread->grouped_count--;
}

/* The outermost end of a group launches its work. */
static void begin_group_end(struct nccl_jobs *jobs, struct thread *thread,
			    const struct nccl_event *event)
{
	struct rank *rank;

	if (thread->group > 1)
		return;
	for (size_t i = 0; i < thread->grouped_count; i++) {
		rank = nccl_rank__find(jobs, thread->process, thread->grouped[i].handle);
		if (rank)
			submit(jobs, rank, &thread->grouped[i], event->ns);
	}
}

/*
 * Ranks that this thread makes in a group have come to the end of their creation. Nonblocking ones
 * go on: only ncclCommGetAsyncError says when they are done.
 */
static void end_creations(struct thread *thread, int32_t result)
{
	struct rank *rank;

	DL_FOREACH2(thread->process->ranks, rank, process_next)
	{
		if (rank->open.state != NCCL_RANK_CREATING || !rank->open.handle ||
		    rank->open.nonblocking || rank->creator != thread->key.tid)
			continue;
		if (!result)
			created(rank);
		else if (is_error(result))
			rank->open.error = result;
	}
}

static void end_group(struct nccl_jobs *jobs, struct thread *thread, const struct nccl_event *event)
{
	struct rank *rank;

	if (thread->group)
		thread->group--;
	if (thread->group)
		return;
	for (size_t i = thread->grouped_count; i-- > 0;) {
		rank = nccl_rank__find(jobs, thread->process, thread->grouped[i].handle);
		if (!rank)
			continue;
		rank->open.in_call_ns = 0;
		if (is_error(event->result))
			failed(rank, thread->grouped[i].sequence, event->result);
	}
	thread->grouped_count = 0;
	end_creations(thread, event->result);
}

static void set_name(struct comm *comm, const char *name)
{
	size_t length = name ? strnlen(name, NCCL_NAME_SIZE - 1) : 0;

	if (!length || comm->open.name[0])
		return;
	memcpy(comm->open.name, name, length);
}

static struct rank *init_rank(struct nccl_jobs *jobs, struct process *process,
			      const struct nccl_event *event)
{
	struct rank *rank =
		nccl_rank__add(jobs, process, true, event->hash, 0, event->rank, event->size);

	if (!rank)
		return NULL;
	rank->open.device = event->device;
	rank->comm->magic = event->magic;
	return rank;
}

static void begin_creation(struct nccl_jobs *jobs, struct thread *thread,
			   const struct nccl_event *event)
{
	struct rank *parent, *rank = NULL;

	if (event->function == NCCL_INIT_RANK) {
		rank = init_rank(jobs, thread->process, event);
	} else if (event->function == NCCL_GROW && !event->comm) {
		rank = nccl_split__join(jobs, thread->process, event);
	} else {
		parent = take_rank(jobs, thread->process, event->comm);
		if (parent)
			rank = nccl_split__begin(jobs, parent, event);
	}
	if (!rank)
		return;
	rank->creator = thread->key.tid;
	set_name(rank->comm, event->name);
	rank->open.nonblocking = event->nonblocking;
	rank->open.creating_ns = event->ns;
	rank->made_at = event->made_at;
	thread->creating = rank;
}

static void end_creation(struct nccl_jobs *jobs, struct thread *thread,
			 const struct nccl_event *event)
{
	struct rank *rank = thread->creating;

	thread->creating = NULL;
	if (!rank)
		return;
	if (is_error(event->result)) {
		failed(rank, 0, event->result);
		nccl_rank__end(jobs, rank, NCCL_RANK_ABORTED);
		return;
	}
	if (event->made)
		nccl_rank__set_handle(jobs, rank, event->made);
	if (event->result == NCCL_IN_PROGRESS || thread->group)
		return;
	created(rank);
}

/* Number, size and device of a rank whose communicator's hash is unknown. */
static void found_members(struct nccl_jobs *jobs, struct process *process,
			  const struct nccl_event *event)
{
	struct rank *rank = take_rank(jobs, process, event->made);

	if (!rank)
		return;
	if (!rank->comm->open.size && event->size > event->rank)
		rank->comm->open.size = event->size;
	nccl_rank__set_number(rank, event->rank);
	if (rank->open.device == NCCL_DEVICE_UNKNOWN)
		rank->open.device = event->device;
}

/* A communicator from before, or one of ncclCommInitAll, or more about one that is known. */
static void found(struct nccl_jobs *jobs, struct process *process, const struct nccl_event *event)
{
	struct rank *rank = nccl_rank__find(jobs, process, event->made);

	if (!event->hash) {
		found_members(jobs, process, event);
		return;
	}
	if (rank && rank->comm->open.known && rank->comm->open.hash == event->hash) {
		if (!rank->comm->open.size && event->size > event->rank)
			rank->comm->open.size = event->size;
		nccl_rank__set_number(rank, event->rank);
		return;
	}
	/* The pointer alone was known, or a hash that we had to make up. */
	if (rank && (rank->comm->creating ||
		     (rank->comm->open.known && !rank->comm->open.guessed && rank->open.sequence)))
		return;
	if (rank)
		nccl_rank__remove(jobs, rank);
	rank = nccl_rank__add(jobs, process, true, event->hash, 0, event->rank, event->size);
	if (!rank)
		return;
	rank->open.state = NCCL_RANK_LIVE;
	rank->open.device = event->device;
	set_name(rank->comm, event->name);
	nccl_rank__set_handle(jobs, rank, event->made);
	if (event->sequence == NCCL_SEQUENCE_UNKNOWN) {
		rank->comm->open.aligned = false;
		return;
	}
	rank->open.sequence = event->sequence;
	rank->open.done = event->sequence;
	if (event->sequence > rank->comm->open.sequence)
		rank->comm->open.sequence = event->sequence;
}

/* NCCL has written the address of a communicator whose creation had returned before. */
static void made(struct nccl_jobs *jobs, struct process *process, const struct nccl_event *event)
{
	struct rank *rank;

	DL_FOREACH2(process->ranks, rank, process_next)
	{
		if (rank->open.handle || !event->made_at || rank->made_at != event->made_at ||
		    rank->open.state >= NCCL_RANK_DESTROYED)
			continue;
		nccl_rank__set_handle(jobs, rank, event->made);
		created(rank);
		return;
	}
}

static void end_comm(struct nccl_jobs *jobs, struct thread *thread, const struct nccl_event *event)
{
	struct rank *rank = nccl_rank__find(jobs, thread->process, thread->handle);

	if (!rank)
		return;
	rank->open.in_call_ns = 0;
	if (is_error(event->result)) {
		failed(rank, 0, event->result);
		return;
	}
	if (event->function == NCCL_FINALIZE)
		rank->open.state = NCCL_RANK_FINALIZED;
	else
		nccl_rank__end(jobs, rank,
			       event->function == NCCL_ABORT ? NCCL_RANK_ABORTED :
							       NCCL_RANK_DESTROYED);
}

static void end_async_error(struct nccl_jobs *jobs, struct thread *thread,
			    const struct nccl_event *event)
{
	struct rank *rank = nccl_rank__find(jobs, thread->process, thread->handle);

	if (!rank || event->result)
		return;
	if (!event->async_error)
		created(rank);
	else if (is_error(event->async_error))
		rank->open.error = event->async_error;
}

static bool is_work(enum nccl_function function)
{
	return nccl_function__is_collective(function) || function == NCCL_SEND ||
	       function == NCCL_RECV;
}

static bool is_creation(enum nccl_function function)
{
	return function == NCCL_INIT_RANK || function == NCCL_SPLIT || function == NCCL_SHRINK ||
	       function == NCCL_GROW;
}

static bool is_end(enum nccl_function function)
{
	return function == NCCL_FINALIZE || function == NCCL_DESTROY || function == NCCL_ABORT;
}

/* The thread's call is over without an end: it was lost, or an exception left it. */
static void abandon(struct nccl_jobs *jobs, struct thread *thread)
{
	struct rank *rank = nccl_rank__find(jobs, thread->process, thread->handle);

	jobs->losses.unended++;
	if (rank)
		rank->open.in_call_ns = 0;
	if (thread->function == NCCL_GROUP_END || thread->function == NCCL_GROUP_SIMULATE_END) {
		struct nccl_event lost = {.function = thread->function};

		end_group(jobs, thread, &lost);
	}
	thread->creating = NULL;
	thread->in_call = false;
	thread->nested = 0;
}

static void begin_call(struct nccl_jobs *jobs, struct thread *thread,
		       const struct nccl_event *event)
{
	enum nccl_function function = event->function;

	if (thread->in_call && nccl_function__nests(thread->function, function)) {
		thread->nested++;
		return;
	}
	if (thread->in_call)
		abandon(jobs, thread);
	thread->in_call = true;
	thread->function = function;
	thread->handle = event->comm;
	thread->sequence = 0;
	if (is_work(function))
		begin_work(jobs, thread, event);
	else if (is_creation(function))
		begin_creation(jobs, thread, event);
	else if (function == NCCL_GROUP_START && thread->group < UINT32_MAX)
		thread->group++;
	else if (function == NCCL_GROUP_END)
		begin_group_end(jobs, thread, event);
	else if (function == NCCL_GROUP_SIMULATE_END && thread->group <= 1)
		thread->grouped_count = 0; /* it launches nothing */
}

static void end_call(struct nccl_jobs *jobs, struct thread *thread, const struct nccl_event *event)
{
	enum nccl_function function = event->function;

	if (thread->in_call && thread->nested && thread->function != function) {
		thread->nested--;
		return;
	}
	if (!thread->in_call || thread->function != function) {
		jobs->losses.stray_ends++;
		return;
	}
	thread->in_call = false;
	thread->nested = 0;
	if (is_work(function))
		end_work(jobs, thread, event);
	else if (is_creation(function))
		end_creation(jobs, thread, event);
	else if (is_end(function))
		end_comm(jobs, thread, event);
	else if (function == NCCL_GET_ASYNC_ERROR)
		end_async_error(jobs, thread, event);
	else if (function == NCCL_GROUP_END || function == NCCL_GROUP_SIMULATE_END)
		end_group(jobs, thread, event);
}

/* A thread waits for the GPU, or does so no longer. */
static void wait_for_gpu(struct thread *thread, const struct nccl_event *event)
{
	struct process *process = thread->process;
	bool begins = event->phase == NCCL_BEGIN;
	struct rank *rank;

	if (thread->waits == begins)
		return;
	thread->waits = begins;
	process->waiting += begins ? 1 : (size_t)-1;
	if (!process->waiting)
		process->open.waiting_since_ns = 0;
	else if (begins && process->waiting == 1)
		process->open.waiting_since_ns = event->ns;
	/* If threads wait at once, only what the first one waits for is surely done. */
	DL_FOREACH2(process->ranks, rank, process_next)
	{
		if (!begins && event->partial)
			continue;
		if (!begins)
			nccl_rank__waited(rank, event->ns);
		else if (process->waiting == 1)
			rank->wait_sequence = rank->open.sequence;
	}
}

/* Calls that say nothing about a process without a communicator. */
static bool needs_process(enum nccl_function function)
{
	return function == NCCL_WAIT || function == NCCL_OTHER || function == NCCL_MADE ||
	       function == NCCL_GET_ASYNC_ERROR || is_end(function);
}

void nccl_jobs__feed(struct nccl_jobs *jobs, const struct nccl_event *event)
{
	struct process *process;
	struct thread *thread;

	if ((unsigned int)event->function >= NCCL_FUNCTIONS) {
		jobs->losses.invalid++;
		return;
	}
	process = needs_process(event->function) ? nccl_process__find(jobs, &event->process) :
						   nccl_process__take(jobs, &event->process);
	/* A process that has ended: what comes now came late. */
	if (!process || process->open.ended)
		return;
	if (event->function == NCCL_FOUND) {
		found(jobs, process, event);
		return;
	}
	if (event->function == NCCL_MADE) {
		made(jobs, process, event);
		return;
	}
	thread = nccl_thread__take(jobs, process, event->tid);
	if (!thread)
		return;
	if (event->function == NCCL_WAIT)
		wait_for_gpu(thread, event);
	else if (event->phase == NCCL_BEGIN)
		begin_call(jobs, thread, event);
	else
		end_call(jobs, thread, event);
}
