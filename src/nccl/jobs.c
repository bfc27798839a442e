// SPDX-License-Identifier: BSD-2-Clause
// Communicators and their ranks: finding, joining, ending and forgetting them.
#include "nccl/jobs.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/array.h"
#include "nccl/private.h"

#define PROCESS_BYTES (1U << 20)
#define ALL_BYTES (64U << 20)
#define LATE_NS 1000000
#define MOST_INSTANCES 64

/* The array of a communicator's ranks may be twice as long as they are. */
#define RANK_BYTES (sizeof(struct rank) + 2 * sizeof(struct rank *))
#define COMM_BYTES (sizeof(struct comm) + FIRST_ROUNDS * sizeof(struct round))

struct nccl_jobs *nccl_jobs__new(const struct nccl_limits *limits)
{
	struct nccl_jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs)
		return NULL;
	if (limits)
		jobs->limits = *limits;
	if (!jobs->limits.process_bytes)
		jobs->limits.process_bytes = PROCESS_BYTES;
	if (!jobs->limits.bytes)
		jobs->limits.bytes = ALL_BYTES;
	if (!jobs->limits.late_ns)
		jobs->limits.late_ns = LATE_NS;
	return jobs;
}

void nccl_jobs__free(struct nccl_jobs *jobs)
{
	struct thread *thread, *next_thread;
	struct comm *comm, *next_comm;

	if (!jobs)
		return;
	HASH_ITER (hh, jobs->threads, thread, next_thread)
		nccl_thread__free(jobs, thread);
	DL_FOREACH_SAFE (jobs->all, comm, next_comm)
		nccl_comm__free(jobs, comm);
	TABLE_CLEAR(jobs->processes, nccl_process__free);
	free(jobs);
}

struct rank *nccl_rank__find(struct nccl_jobs *jobs, const struct process *process, uint64_t handle)
{
	struct rank_key key = {process->number, handle};

	return TABLE_FIND(jobs->ranks, key, &key);
}

bool nccl_jobs__knows(struct nccl_jobs *jobs, const struct nccl_process_key *key, uint64_t handle)
{
	const struct process *process = nccl_process__find(jobs, key);
	const struct rank *rank = process ? nccl_rank__find(jobs, process, handle) : NULL;

	return rank && rank->comm->open.known && !rank->comm->open.guessed &&
	       rank->comm->open.size && rank->open.rank >= 0;
}

static void drop_handle(struct nccl_jobs *jobs, struct rank *rank)
{
	if (rank->keyed)
		HASH_DEL(jobs->ranks, rank);
	rank->keyed = false;
}

static void free_rank(struct nccl_jobs *jobs, struct rank *rank)
{
	struct process *process = rank->process;

	drop_handle(jobs, rank);
	DL_DELETE2(process->ranks, rank, process_prev, process_next);
	nccl_budget__give(jobs, process, RANK_BYTES);
	process->references--;
	free(rank);
	nccl_process__release(jobs, process);
}

void nccl_comm__free(struct nccl_jobs *jobs, struct comm *comm)
{
	struct process *payer = comm->payer;
	struct split *split, *next_split;
	struct pair *pair, *next_pair;

	DL_FOREACH_SAFE (comm->splits, split, next_split)
		nccl_split__free(jobs, split);
	HASH_ITER (hh, comm->pairs, pair, next_pair) {
		HASH_DEL(comm->pairs, pair);
		nccl_budget__give(jobs, payer, sizeof(*pair));
		free(pair);
	}
	for (size_t i = 0; i < comm->open.seen; i++)
		free_rank(jobs, comm->ranks[i]);
	if (comm->open.known)
		HASH_DEL(jobs->comms, comm);
	DL_DELETE(jobs->all, comm);
	if (comm->over) {
		DL_DELETE2(jobs->over, comm, over_prev, over_next);
		payer->over--;
	}
	nccl_budget__give(jobs, payer, sizeof(*comm) + comm->capacity * sizeof(*comm->rounds));
	payer->references--;
	free(comm->ranks);
	free(comm->rounds);
	free(comm);
	nccl_process__release(jobs, payer);
}

/* A new communicator without ranks; `payer` has paid for it. NULL without memory. */
static struct comm *make_comm(struct nccl_jobs *jobs, struct process *payer, bool known,
			      const struct comm_key *key, int32_t size)
{
	struct comm *comm = calloc(1, sizeof(*comm));
	struct round *rounds = calloc(FIRST_ROUNDS, sizeof(*rounds));

	if (!comm || !rounds)
		goto failed;
	comm->key = *key;
	if (known && TABLE_ADD(jobs->comms, key, comm))
		goto failed;
	comm->open.hash = key->hash;
	comm->open.known = known;
	comm->open.aligned = known;
	comm->open.size = size;
	comm->open.number = ++jobs->comms_ever;
	comm->payer = payer;
	comm->rounds = rounds;
	comm->capacity = FIRST_ROUNDS;
	payer->references++;
	DL_APPEND(jobs->all, comm);
	return comm;
failed:
	free(comm);
	free(rounds);
	return NULL;
}

/* The place of a rank among the sorted ones: the first that is not below it. */
static size_t place_of(const struct comm *comm, int32_t rank)
{
	size_t low = 0, high = comm->open.seen;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (comm->ranks[middle]->open.rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_rank(const struct comm *comm, int32_t rank)
{
	size_t place = place_of(comm, rank);

	return rank >= 0 && place < comm->open.seen && comm->ranks[place]->open.rank == rank;
}

/* The communicator of this hash that lacks the rank. NULL: there is none yet; `key` is its key. */
static struct comm *find_comm(const struct nccl_jobs *jobs, struct comm_key *key, int32_t rank,
			      int32_t size)
{
	struct comm *comm;

	for (key->instance = 0; key->instance < MOST_INSTANCES; key->instance++) {
		comm = TABLE_FIND(jobs->comms, key, key);
		if (!comm)
			return NULL;
		if (comm->open.size && size && comm->open.size != size)
			continue;
		if (!has_rank(comm, rank) && (!comm->open.size || rank < comm->open.size))
			return comm;
	}
	return NULL;
}

/* Adds a rank, which has its number, to a communicator. 0 or -ENOMEM. */
static int insert(struct comm *comm, struct rank *rank)
{
	size_t place = place_of(comm, rank->open.rank), count = comm->open.seen;

	if (ARRAY_APPEND(comm->ranks, count, rank))
		return -ENOMEM;
	memmove(comm->ranks + place + 1, comm->ranks + place,
		(comm->open.seen - place) * sizeof(struct rank *));
	comm->ranks[place] = rank;
	comm->open.seen = count;
	return 0;
}

/* The communicator that a rank joins. `process` has paid for a new one. NULL: no room. */
static struct comm *take_comm(struct nccl_jobs *jobs, struct process *process, bool known,
			      struct comm_key *key, int32_t rank, int32_t size)
{
	struct comm *comm = known ? find_comm(jobs, key, rank, size) : NULL;

	if (!comm && key->instance < MOST_INSTANCES) {
		comm = make_comm(jobs, process, known, key, size);
		if (comm)
			return comm;
	}
	nccl_budget__give(jobs, process, COMM_BYTES);
	return comm;
}

/* NULL without memory. */
static struct rank *new_rank(struct process *process, struct comm *comm, int32_t number)
{
	struct rank *rank = calloc(1, sizeof(*rank));

	if (!rank)
		return NULL;
	rank->open.rank = number;
	rank->open.device = NCCL_DEVICE_UNKNOWN;
	rank->open.process = &process->open;
	rank->process = process;
	rank->comm = comm;
	if (!insert(comm, rank)) {
		process->references++;
		DL_APPEND2(process->ranks, rank, process_prev, process_next);
		return rank;
	}
	free(rank);
	return NULL;
}

struct rank *nccl_rank__add(struct nccl_jobs *jobs, struct process *process, bool known,
			    uint64_t hash, uint32_t split, int32_t number, int32_t size)
{
	struct comm_key key = {.hash = hash, .uid = process->open.key.uid, .split = split};
	struct rank *rank = NULL;
	struct comm *comm;

	if (size < 0 || number < NCCL_RANK_UNKNOWN || (size && number >= size)) {
		jobs->losses.invalid++;
		return NULL;
	}
	/* First the room, because that may forget the communicator which has the hash. */
	if (!nccl_budget__take(jobs, process, RANK_BYTES + COMM_BYTES))
		return NULL;
	comm = take_comm(jobs, process, known, &key, number, size);
	if (comm)
		rank = new_rank(process, comm, number);
	if (!rank) {
		jobs->losses.no_room++;
		nccl_budget__give(jobs, process, RANK_BYTES);
		if (comm && !comm->open.seen)
			nccl_comm__free(jobs, comm);
		return NULL;
	}
	if (!comm->open.size)
		comm->open.size = size;
	if (comm->over) {
		DL_DELETE2(jobs->over, comm, over_prev, over_next);
		comm->payer->over--;
		comm->over = false;
	}
	return rank;
}

void nccl_rank__set_handle(struct nccl_jobs *jobs, struct rank *rank, uint64_t handle)
{
	struct rank_key key = {rank->process->number, handle};
	struct rank *earlier = TABLE_FIND(jobs->ranks, key, &key);

	if (earlier == rank)
		return;
	if (earlier) {
		drop_handle(jobs, earlier);
		nccl_rank__end(jobs, earlier, NCCL_RANK_DESTROYED);
	}
	drop_handle(jobs, rank);
	rank->open.handle = handle;
	rank->key = key;
	rank->keyed = !TABLE_ADD(jobs->ranks, key, rank);
}

void nccl_rank__set_number(struct rank *rank, int32_t number)
{
	struct comm *comm = rank->comm;
	size_t place = 0;

	if (rank->open.rank >= 0 || number < 0 || has_rank(comm, number) ||
	    (comm->open.size && number >= comm->open.size))
		return;
	while (comm->ranks[place] != rank)
		place++;
	comm->open.seen--;
	memmove(comm->ranks + place, comm->ranks + place + 1,
		(comm->open.seen - place) * sizeof(struct rank *));
	rank->open.rank = number;
	place = place_of(comm, number);
	memmove(comm->ranks + place + 1, comm->ranks + place,
		(comm->open.seen - place) * sizeof(struct rank *));
	comm->ranks[place] = rank;
	comm->open.seen++;
}

/* A communicator whose ranks have all ended may be forgotten. */
static void note_end(struct nccl_jobs *jobs, struct comm *comm)
{
	if (comm->open.ended < comm->open.seen || comm->over)
		return;
	comm->over = true;
	comm->payer->over++;
	DL_APPEND2(jobs->over, comm, over_prev, over_next);
}

void nccl_rank__end(struct nccl_jobs *jobs, struct rank *rank, enum nccl_rank_state state)
{
	struct comm *comm = rank->comm;

	rank->open.in_call_ns = 0;
	if (rank->open.state >= NCCL_RANK_DESTROYED)
		return;
	rank->open.state = state;
	rank->open.creating_ns = 0;
	drop_handle(jobs, rank);
	comm->open.ended++;
	note_end(jobs, comm);
}

void nccl_rank__remove(struct nccl_jobs *jobs, struct rank *rank)
{
	struct comm *comm = rank->comm;
	size_t place = 0;

	if (comm->open.seen == 1) {
		nccl_comm__free(jobs, comm);
		return;
	}
	while (comm->ranks[place] != rank)
		place++;
	comm->open.seen--;
	memmove(comm->ranks + place, comm->ranks + place + 1,
		(comm->open.seen - place) * sizeof(struct rank *));
	free_rank(jobs, rank);
	note_end(jobs, comm);
}

void nccl_jobs__begin_period(struct nccl_jobs *jobs, uint64_t ns)
{
	struct comm *comm;

	jobs->period_ns = ns;
	DL_FOREACH (jobs->all, comm) {
		comm->open.period_collectives = 0;
		comm->open.period_bytes = 0;
	}
}

uint64_t nccl_jobs__period_start(const struct nccl_jobs *jobs)
{
	return jobs->period_ns;
}

const struct nccl_comm *nccl_jobs__next(const struct nccl_jobs *jobs, const struct nccl_comm *comm)
{
	const struct comm *next = comm ? ((const struct comm *)comm)->next : jobs->all;

	return next ? &next->open : NULL;
}

const struct nccl_rank *nccl_comm__rank(const struct nccl_comm *comm, size_t i)
{
	return i < comm->seen ? &((const struct comm *)comm)->ranks[i]->open : NULL;
}

struct nccl_losses nccl_jobs__losses(const struct nccl_jobs *jobs)
{
	return jobs->losses;
}

size_t nccl_jobs__bytes(const struct nccl_jobs *jobs)
{
	return jobs->bytes;
}
