// SPDX-License-Identifier: BSD-2-Clause
// Hangs: ranks that have not come, communicators that do not come up, calls that do not return, and
// all ranks waiting. A rank is not missing if it has no work, is stopped together with all others,
// or is held by a debugger.
#include <utlist.h>

#include "nccl/judge_private.h"

#define EXPLAINED 1000 /* collectives after a mismatch */

/* What it does takes its time, and it will come. */
static bool excused(const struct rank *rank)
{
	enum nccl_activity activity = rank->process->open.activity;

	if (rank->open.state == NCCL_RANK_DEAD)
		return false;
	return activity == NCCL_WRITES_FILE || activity == NCCL_AWAITS_REQUESTS ||
	       activity == NCCL_TRACED;
}

static bool alive(const struct rank *rank)
{
	return rank->open.state < NCCL_RANK_DESTROYED;
}

/* It comes no more, or not before somebody continues it: there is no reason for patience. */
static bool gone(const struct rank *rank)
{
	return !alive(rank) || rank->process->open.activity == NCCL_STOPPED;
}

/* A job that is stopped as a whole does not hang. */
static bool all_stopped(const struct comm *comm)
{
	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];

		if (alive(rank) && rank->process->open.activity != NCCL_STOPPED &&
		    rank->process->open.activity != NCCL_TRACED)
			return false;
	}
	return true;
}

static uint64_t since(const struct judgement *judgement, uint64_t ns)
{
	return judgement->now_ns > ns ? judgement->now_ns - ns : 0;
}

/* The ranks before and at a collective. */
struct sides {
	uint64_t sequence;	  /* the first collective that not all have called */
	uint64_t first_ns;	  /* when the first rank came to it */
	const struct rank *first; /* one of those that have come */
	size_t waiting, missing, excused, gone;
	bool one_behind; /* the missing ones lack this one only, and no one has called the next */
	bool proven;	 /* a rank that has come waits for the GPU, or in the call */
};

/* False: all have come to the same collective. */
static bool find_sides(const struct judgement *judgement, const struct comm *comm,
		       struct sides *sides)
{
	uint64_t least = comm->open.sequence;
	const struct round *round;

	*sides = (struct sides){.one_behind = true};
	for (size_t i = 0; i < comm->open.seen; i++)
		if (comm->ranks[i]->open.sequence < least)
			least = comm->ranks[i]->open.sequence;
	if (least == comm->open.sequence)
		return false;
	sides->sequence = least + 1;
	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];

		if (rank->open.sequence > least + 1)
			sides->one_behind = false;
		if (rank->open.sequence > least) {
			sides->waiting += alive(rank);
			sides->first = sides->first ? sides->first : rank;
			sides->proven |= rank->open.in_call_ns ||
					 (rank->process->open.waiting_since_ns &&
					  since(judgement, rank->process->open.waiting_since_ns) >=
						  judgement->patience.hang_ns);
			continue;
		}
		sides->missing++;
		sides->excused += excused(rank);
		sides->gone += gone(rank);
	}
	/* So far behind that the round is forgotten: the oldest one that is known came later. */
	round = nccl_comm__round(comm, sides->sequence);
	if (!round && comm->open.sequence >= comm->capacity)
		round = nccl_comm__round(comm, comm->open.sequence - comm->capacity + 1);
	sides->first_ns = round ? round->first_ns : comm->open.last_ns;
	return true;
}

/* The operation as one of the ranks that have come called it. */
static struct nccl_operation operation_at(const struct comm *comm, uint64_t sequence)
{
	const struct round *round = nccl_comm__round(comm, sequence);

	return round ? round->operation : (struct nccl_operation){0};
}

/* Ranks that have called different things shortly before wait for each other because of that. */
static bool is_explained(const struct comm *comm, uint64_t sequence)
{
	uint64_t mismatch = comm->open.mismatch.sequence;

	return mismatch && sequence >= mismatch && sequence - mismatch < EXPLAINED;
}

void nccl_judge__missing(struct judgement *judgement, const struct comm *comm)
{
	const struct nccl_patience *patience = &judgement->patience;
	struct nccl_finding *finding;
	struct sides sides;
	uint64_t waited;
	bool extra;

	if (!find_sides(judgement, comm, &sides) || !sides.waiting ||
	    sides.excused == sides.missing || all_stopped(comm))
		return;
	if (is_explained(comm, sides.sequence) && !sides.gone)
		return;
	/* Ranks that were counted from different moments differ without a hang. */
	if (!comm->open.aligned && !sides.proven)
		return;
	waited = since(judgement, sides.first_ns);
	if (waited < patience->hang_ns ||
	    (sides.sequence == 1 && !sides.gone && waited < patience->first_ns))
		return;
	extra = !sides.gone && sides.one_behind && sides.waiting * 2 < comm->open.seen;
	finding = nccl_judgement__add(judgement, NCCL_HANG,
				      extra ? NCCL_RANK_EXTRA : NCCL_RANK_MISSING, comm);
	if (!finding)
		return;
	finding->sequence = sides.sequence;
	finding->operation = operation_at(comm, sides.sequence);
	finding->ns = waited;
	finding->waiting = sides.waiting;
	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];
		bool came = rank->open.sequence >= sides.sequence;

		if (came == extra && (came || !excused(rank)))
			nccl_finding__blame(finding, rank);
	}
}

/* Ranks that no process here has. */
static void find_absent(const struct comm *comm, struct nccl_finding *finding)
{
	int32_t next = 0;

	for (size_t i = 0; i <= comm->open.seen; i++) {
		int32_t rank = i < comm->open.seen ? comm->ranks[i]->open.rank : comm->open.size;

		for (; next < rank && finding->absent_count < NCCL_BLAMED; next++)
			finding->absent[finding->absent_count++] = next;
		next = rank + 1;
	}
}

void nccl_judge__creation(struct judgement *judgement, const struct comm *comm)
{
	struct nccl_finding *finding;
	const struct rank *rank;
	uint64_t first_ns = 0;
	size_t waiting = 0, dead = 0;
	bool all_came = comm->open.size && comm->open.seen == (size_t)comm->open.size;

	for (size_t i = 0; i < comm->open.seen; i++) {
		rank = comm->ranks[i];
		dead += !alive(rank);
		/*
		 * Success of a nonblocking one shows only when the program asks. If all have come,
		 * one that does not ask is no hang.
		 */
		if (!rank->open.creating_ns || (rank->open.nonblocking && all_came))
			continue;
		waiting++;
		if (!first_ns || rank->open.creating_ns < first_ns)
			first_ns = rank->open.creating_ns;
	}
	if (!waiting || all_stopped(comm) ||
	    since(judgement, first_ns) <
		    (dead ? judgement->patience.hang_ns : judgement->patience.init_ns))
		return;
	finding = nccl_judgement__add(judgement, NCCL_HANG, NCCL_STUCK_INIT, comm);
	if (!finding)
		return;
	finding->ns = since(judgement, first_ns);
	finding->waiting = waiting;
	find_absent(comm, finding);
	for (size_t i = 0; i < comm->open.seen; i++) {
		rank = comm->ranks[i];
		if (dead ? !alive(rank) : !!rank->open.creating_ns)
			nccl_finding__blame(finding, rank);
	}
}

static const struct rank *find_rank(const struct comm *comm, int32_t number)
{
	for (size_t i = 0; i < comm->open.seen; i++)
		if (comm->ranks[i]->open.rank == number)
			return comm->ranks[i];
	return NULL;
}

void nccl_judge__pairs(struct judgement *judgement, const struct comm *comm)
{
	struct nccl_finding *finding;
	const struct pair *pair, *after;

	HASH_ITER (hh, comm->pairs, pair, after) {
		bool sent = pair->open.sends > pair->open.receives;
		const struct rank *late = find_rank(comm, sent ? pair->open.to : pair->open.from);
		const struct rank *here = find_rank(comm, sent ? pair->open.from : pair->open.to);
		uint64_t number = sent ? pair->open.receives : pair->open.sends;

		if (!pair->open.unmatched_ns || !late || !here || !alive(here) || excused(late) ||
		    !comm->open.aligned || all_stopped(comm) ||
		    since(judgement, pair->open.unmatched_ns) <
			    (number || gone(late) ? judgement->patience.hang_ns :
						    judgement->patience.first_ns))
			continue;
		finding = nccl_judgement__add(judgement, NCCL_HANG, NCCL_PEER_MISSING, comm);
		if (!finding)
			return;
		finding->pair = &pair->open;
		finding->sequence = number + 1;
		finding->operation.function = sent ? NCCL_SEND : NCCL_RECV;
		finding->ns = since(judgement, pair->open.unmatched_ns);
		finding->waiting = 1;
		nccl_finding__blame(finding, late);
	}
}

/* Whether the rank waits in what the finding is about. */
static bool waits_in(const struct nccl_finding *finding, const struct rank *rank)
{
	const struct nccl_pair *pair = finding->pair;

	if (!alive(rank))
		return false;
	if (pair)
		return rank->open.rank ==
		       (finding->operation.function == NCCL_SEND ? pair->from : pair->to);
	return finding->cause == NCCL_STUCK_INIT ? rank->open.creating_ns != 0 :
						   rank->open.sequence >= finding->sequence;
}

static bool is_consequence(const struct nccl_finding *finding)
{
	if (finding->cause != NCCL_RANK_MISSING && finding->cause != NCCL_PEER_MISSING)
		return false;
	for (size_t i = 0; i < finding->rank_count; i++) {
		const struct process *process = (const struct process *)finding->ranks[i]->process;

		if (!process->blocked)
			return false;
	}
	return true;
}

void nccl_judge__drop_consequences(struct nccl_jobs *jobs, struct nccl_findings *findings)
{
	struct process *process, *after;
	size_t causes = 0, kept = 0;

	HASH_ITER (hh, jobs->processes, process, after)
		process->blocked = false;
	for (size_t i = 0; i < findings->count; i++) {
		const struct comm *comm = (const struct comm *)findings->items[i].comm;

		for (size_t j = 0; j < comm->open.seen; j++)
			if (waits_in(&findings->items[i], comm->ranks[j]))
				comm->ranks[j]->process->blocked = true;
	}
	for (size_t i = 0; i < findings->count; i++)
		causes += !is_consequence(&findings->items[i]);
	/* A circle: ranks wait for one another in different communicators. All is reported. */
	if (!causes)
		return;
	for (size_t i = 0; i < findings->count; i++)
		if (!is_consequence(&findings->items[i]))
			findings->items[kept++] = findings->items[i];
	findings->count = kept;
}

/* All ranks here have come to the latest collective. How many are in the call for too long? */
static size_t count_in_call(const struct judgement *judgement, const struct comm *comm,
			    uint64_t patience, uint64_t *first_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < comm->open.seen; i++) {
		uint64_t ns = comm->ranks[i]->open.in_call_ns;

		if (!ns || since(judgement, ns) < patience)
			continue;
		count++;
		if (!*first_ns || ns < *first_ns)
			*first_ns = ns;
	}
	return count;
}

/* How many wait for the GPU, and have waited for nothing that was done since. */
static size_t count_waiting(const struct judgement *judgement, const struct comm *comm,
			    uint64_t *last_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];
		uint64_t ns = rank->process->open.waiting_since_ns;

		if (!ns || rank->open.done == rank->open.sequence || !alive(rank) ||
		    since(judgement, ns) < judgement->patience.hang_ns || ns < rank->open.last_ns)
			continue;
		count++;
		if (ns > *last_ns)
			*last_ns = ns;
	}
	return count;
}

void nccl_judge__stuck(struct judgement *judgement, const struct comm *comm)
{
	bool first = comm->open.sequence <= 1;
	uint64_t patience = first ? judgement->patience.first_ns : judgement->patience.hang_ns;
	struct nccl_finding *finding;
	size_t in_call, waiting;
	struct sides sides;
	uint64_t from_ns = 0;

	if (find_sides(judgement, comm, &sides) || all_stopped(comm))
		return;
	for (size_t i = 0; i < comm->open.seen; i++)
		if (comm->ranks[i]->process->blocked)
			return;
	in_call = count_in_call(judgement, comm, patience, &from_ns);
	waiting = in_call ? 0 : count_waiting(judgement, comm, &from_ns);
	if (!in_call && (waiting < comm->open.seen - comm->open.ended || !waiting ||
			 (first && since(judgement, from_ns) < patience)))
		return;
	finding = nccl_judgement__add(judgement, NCCL_HANG,
				      in_call ? NCCL_STUCK_CALL : NCCL_ALL_HERE, comm);
	if (!finding)
		return;
	finding->sequence = comm->open.sequence;
	finding->operation = operation_at(comm, comm->open.sequence);
	finding->ns = since(judgement, from_ns);
	finding->waiting = in_call ? in_call : waiting;
	for (size_t i = 0; in_call && i < comm->open.seen; i++)
		if (comm->ranks[i]->open.in_call_ns)
			nccl_finding__blame(finding, comm->ranks[i]);
}
