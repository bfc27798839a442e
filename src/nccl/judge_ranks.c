// SPDX-License-Identifier: BSD-2-Clause
// Ranks that call different things, ranks that come late, uneven loads and errors.
#include <stdlib.h>
#include <utlist.h>

#include "nccl/judge_private.h"

#define LEAST_COMPARED 20   /* collectives, for a judgement about times */
#define LATE_SHARE 0.1	    /* of its collectives */
#define LATE_TIME 0.05	    /* of the time */
#define LATE_FACTOR 3	    /* times the lateness of the middle rank */
#define LATE_PART 0.25	    /* of the lateness of the latest rank */
#define SPREAD_TIME 0.25    /* of the time, for uneven times */
#define UNEVEN_BYTES 1.5    /* times the mean */
#define LEAST_BYTES 1000000 /* received by the rank with the most */

static bool operation_of(const struct rank *rank, uint64_t sequence,
			 struct nccl_operation *operation)
{
	uint64_t ns;

	return nccl_rank__kept(rank, sequence, operation) ||
	       nccl_rank__operation(&rank->open, sequence, operation, &ns);
}

/* Whether a rank differs from what most call. One that is far ahead was equal when it came. */
static bool differs(const struct rank *rank, const struct nccl_finding *finding, bool listed)
{
	struct nccl_operation operation;

	if (rank->open.sequence < finding->sequence)
		return false;
	if (!operation_of(rank, finding->sequence, &operation))
		return !listed;
	return !nccl_operation__equal(&operation, &finding->operation);
}

/* The finding's operation is the one that most ranks have called. */
static void choose_common(const struct comm *comm, struct nccl_finding *finding)
{
	size_t common = 0, other = 0;

	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];
		bool is_other = differs(rank, finding, true);

		other += is_other;
		common += !is_other && rank->open.sequence >= finding->sequence;
	}
	/* Among two ranks, the one is right that calls what the step has had before. */
	if (other > common ||
	    (other == common && comm->open.mismatch.expects &&
	     nccl_operation__equal(&comm->open.mismatch.expected, &finding->other))) {
		struct nccl_operation operation = finding->operation;

		finding->operation = finding->other;
		finding->other = operation;
	}
}

/* Whether two ranks called the same, one of them at another number. Unknown: -1. */
static int equal(const struct rank *one, uint64_t sequence, const struct rank *other,
		 uint64_t its_sequence)
{
	struct nccl_operation mine, theirs;

	if (!operation_of(one, sequence, &mine) || !operation_of(other, its_sequence, &theirs))
		return -1;
	return nccl_operation__equal(&mine, &theirs);
}

/*
 * How the calls of a rank differ from those of the others, by the two that follow. Where two kinds
 * of calls take turns, one more looks like two that are swapped, until the second one is known.
 */
static enum nccl_cause cause_of(const struct rank *rank, const struct rank *usual, uint64_t n)
{
	bool skipped = equal(rank, n, usual, n + 1) > 0,
	     inserted = equal(rank, n + 1, usual, n) > 0;
	int after_swap = equal(rank, n + 2, usual, n + 2),
	    after_insertion = equal(rank, n + 2, usual, n + 1),
	    after_skip = equal(rank, n + 1, usual, n + 2);

	if (skipped && inserted && after_swap &&
	    (after_swap > 0 || (after_insertion <= 0 && after_skip <= 0)))
		return NCCL_SWAPPED;
	if (inserted && after_insertion)
		return NCCL_INSERTED;
	if (skipped && after_skip)
		return NCCL_SKIPPED;
	return NCCL_DIFFERENT;
}

static void judge_operands(struct judgement *judgement, const struct comm *comm)
{
	const struct nccl_mismatch *mismatch = &comm->open.mismatch;
	const struct rank *usual = NULL, *odd = NULL;
	struct nccl_finding *finding;

	if (!mismatch->sequence)
		return;
	finding = nccl_judgement__add(judgement, NCCL_MISMATCH, NCCL_DIFFERENT, comm);
	if (!finding)
		return;
	finding->sequence = mismatch->sequence;
	finding->operation = mismatch->common;
	finding->other = mismatch->other;
	choose_common(comm, finding);
	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];

		if (differs(rank, finding, true)) {
			odd = odd ? odd : rank;
			nccl_finding__blame(finding, rank);
		} else if (rank->open.sequence >= finding->sequence) {
			/* The one that is furthest has called what follows. */
			if (!usual || rank->open.sequence > usual->open.sequence)
				usual = rank;
		}
	}
	if (odd)
		operation_of(odd, finding->sequence, &finding->other);
	if (odd && usual)
		finding->cause = cause_of(odd, usual, finding->sequence);
}

void nccl_judge__mismatch(struct judgement *judgement, const struct comm *comm)
{
	struct nccl_finding *finding;
	const struct pair *pair, *after;

	judge_operands(judgement, comm);
	HASH_ITER (hh, comm->pairs, pair, after) {
		if (!pair->open.mismatch)
			continue;
		finding = nccl_judgement__add(judgement, NCCL_MISMATCH, NCCL_DIFFERENT_PAIR, comm);
		if (!finding)
			return;
		finding->pair = &pair->open;
		finding->sequence = pair->open.mismatch;
		for (size_t i = 0; i < comm->open.seen; i++)
			if (comm->ranks[i]->open.rank == pair->open.from ||
			    comm->ranks[i]->open.rank == pair->open.to)
				nccl_finding__blame(finding, comm->ranks[i]);
	}
}

static double mean_lateness(const struct rank *rank)
{
	return rank->open.compared ? (double)rank->open.lateness_ns / (double)rank->open.compared :
				     0;
}

static int by_value(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* The lower of the middle ones; below 0 without memory. */
static double median_lateness(const struct comm *comm)
{
	double *values = calloc(comm->open.seen, sizeof(*values)), median;

	if (!values)
		return -1;
	for (size_t i = 0; i < comm->open.seen; i++)
		values[i] = mean_lateness(comm->ranks[i]);
	qsort(values, comm->open.seen, sizeof(*values), by_value);
	median = values[(comm->open.seen - 1) / 2];
	free(values);
	return median;
}

static const struct rank *latest_rank(const struct comm *comm)
{
	const struct rank *latest = comm->ranks[0];

	for (size_t i = 1; i < comm->open.seen; i++)
		if (mean_lateness(comm->ranks[i]) > mean_lateness(latest))
			latest = comm->ranks[i];
	return latest;
}

static bool is_straggler(const struct rank *rank, double span_ns, double least)
{
	const struct nccl_rank *open = &rank->open;

	return open->compared >= LEAST_COMPARED &&
	       (double)open->late >= LATE_SHARE * (double)open->compared &&
	       (double)open->late_ns >= LATE_TIME * span_ns && mean_lateness(rank) >= least;
}

static void add_straggler(struct nccl_finding *finding, const struct rank *rank)
{
	nccl_finding__blame(finding, rank);
	finding->late += rank->open.late;
	finding->compared += rank->open.compared;
	finding->ns += rank->open.late_ns;
}

/* The latest rank comes first. */
static void judge_stragglers(struct judgement *judgement, const struct comm *comm, double span_ns)
{
	const struct rank *latest = latest_rank(comm);
	double median = median_lateness(comm), least = LATE_PART * mean_lateness(latest);
	struct nccl_finding *finding;

	/* With the median in it, no more than half of the ranks can be late. */
	if (least < LATE_FACTOR * median)
		least = LATE_FACTOR * median;
	if (median < 0 || !is_straggler(latest, span_ns, least))
		return;
	finding = nccl_judgement__add(judgement, NCCL_STRAGGLER, NCCL_CAUSE_NONE, comm);
	if (!finding)
		return;
	add_straggler(finding, latest);
	for (size_t i = 0; i < comm->open.seen; i++)
		if (comm->ranks[i] != latest && is_straggler(comm->ranks[i], span_ns, least))
			add_straggler(finding, comm->ranks[i]);
	finding->share = (double)finding->late / (double)finding->compared;
	finding->ns /= finding->late;
}

static void judge_uneven_times(struct judgement *judgement, const struct comm *comm, double span_ns)
{
	struct nccl_finding *finding;

	if ((double)comm->open.spread_ns < SPREAD_TIME * span_ns)
		return;
	finding = nccl_judgement__add(judgement, NCCL_IMBALANCE, NCCL_UNEVEN_TIMES, comm);
	if (!finding)
		return;
	finding->share = (double)comm->open.spread_ns / span_ns;
	finding->ns = comm->open.spread_ns / comm->open.complete;
	finding->compared = comm->open.complete;
}

/* All-to-all by sends and receives, each rank with each other one. */
static bool exchanges_all(const struct comm *comm)
{
	size_t others = comm->open.seen ? comm->open.seen - 1 : 0;
	const struct pair *pair, *after;
	size_t pairs = 0;

	HASH_ITER (hh, comm->pairs, pair, after)
		pairs += pair->open.from != pair->open.to && pair->open.sends >= LEAST_COMPARED;
	return comm->open.seen >= 2 && comm->open.size == (int32_t)comm->open.seen &&
	       pairs == comm->open.seen * others;
}

static void judge_uneven_bytes(struct judgement *judgement, const struct comm *comm)
{
	const struct rank *most;
	struct nccl_finding *finding;
	double sum = 0, mean;

	if (!exchanges_all(comm))
		return;
	most = comm->ranks[0];
	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];

		sum += (double)rank->open.received_bytes;
		if (rank->open.received_bytes > most->open.received_bytes)
			most = rank;
	}
	mean = sum / (double)comm->open.seen;
	if (most->open.received_bytes < LEAST_BYTES ||
	    (double)most->open.received_bytes < UNEVEN_BYTES * mean)
		return;
	finding = nccl_judgement__add(judgement, NCCL_IMBALANCE, NCCL_UNEVEN_BYTES, comm);
	if (!finding)
		return;
	finding->share = (double)most->open.received_bytes / mean;
	nccl_finding__blame(finding, most);
}

void nccl_judge__times(struct judgement *judgement, const struct comm *comm)
{
	double span_ns = (double)(comm->open.compare_to_ns - comm->open.compare_from_ns);
	size_t before = judgement->findings->count;

	judge_uneven_bytes(judgement, comm);
	/* Ranks that called different things are late because of that. */
	if (comm->open.complete < LEAST_COMPARED || span_ns <= 0 || comm->open.mismatch.sequence ||
	    span_ns < (double)judgement->patience.times_ns)
		return;
	judge_stragglers(judgement, comm, span_ns);
	if (judgement->findings->count == before)
		judge_uneven_times(judgement, comm, span_ns);
}

void nccl_judge__errors(struct judgement *judgement, const struct comm *comm)
{
	struct nccl_finding *finding = NULL;

	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];

		if (!rank->open.error)
			continue;
		if (!finding)
			finding = nccl_judgement__add(judgement, NCCL_ERROR, NCCL_CAUSE_NONE, comm);
		if (!finding)
			return;
		if (!finding->error)
			finding->error = rank->open.error;
		nccl_finding__blame(finding, rank);
	}
}
