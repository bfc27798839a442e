// SPDX-License-Identifier: BSD-2-Clause
// Collectives as they come, rank by rank: sequence numbers, what ranks call differently, and who
// comes late. Point-to-point calls are counted by pair.
#include <stdlib.h>

#include "nccl/private.h"

struct round *nccl_comm__round(const struct comm *comm, uint64_t sequence)
{
	struct round *round = &comm->rounds[sequence & (comm->capacity - 1)];

	return sequence && round->sequence == sequence ? round : NULL;
}

/* The smallest number of a rank that still comes: rounds after it are needed. */
static uint64_t slowest(const struct comm *comm)
{
	uint64_t least = comm->open.sequence;

	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];

		if (rank->open.state < NCCL_RANK_DESTROYED && rank->open.sequence < least)
			least = rank->open.sequence;
	}
	return least;
}

/* Makes room for one more round, if ranks that are behind still need all. */
static void make_room(struct nccl_jobs *jobs, struct comm *comm)
{
	uint64_t capacity = comm->capacity * 2;
	struct round *rounds;

	if (comm->open.sequence < comm->capacity || comm->capacity >= MOST_ROUNDS ||
	    comm->open.sequence - slowest(comm) < comm->capacity)
		return;
	if (!nccl_budget__take(jobs, comm->payer, comm->capacity * sizeof(*rounds)))
		return;
	rounds = calloc(capacity, sizeof(*rounds));
	if (!rounds) {
		nccl_budget__give(jobs, comm->payer, comm->capacity * sizeof(*rounds));
		return;
	}
	for (uint64_t i = 0; i < comm->capacity; i++)
		rounds[comm->rounds[i].sequence & (capacity - 1)] = comm->rounds[i];
	free(comm->rounds);
	comm->rounds = rounds;
	comm->capacity = capacity;
}

/* Keeps a call that is one of the first from the mismatch on. */
static void keep(const struct comm *comm, struct rank *rank, uint64_t sequence,
		 const struct nccl_operation *operation)
{
	uint64_t place = sequence - comm->open.mismatch.sequence;

	if (!comm->open.mismatch.sequence || place >= KEPT)
		return;
	rank->kept[place] = *operation;
	rank->kept_mask |= (uint8_t)(1U << place);
}

/* The same for what all ranks have called by now: soon it will be too long ago. */
static void keep_all(const struct comm *comm)
{
	struct nccl_operation operation;
	uint64_t ns;

	for (size_t i = 0; i < comm->open.seen; i++) {
		struct rank *rank = comm->ranks[i];

		rank->kept_mask = 0;
		for (uint64_t place = 0; place < KEPT; place++) {
			uint64_t sequence = comm->open.mismatch.sequence + place;

			if (nccl_rank__operation(&rank->open, sequence, &operation, &ns))
				keep(comm, rank, sequence, &operation);
		}
	}
}

/* Whether a rank has called the same at two numbers, and at so many before each of them. */
static bool repeats(const struct nccl_rank *rank, uint64_t one, uint64_t other, uint64_t before)
{
	struct nccl_operation mine, theirs;
	uint64_t ns;

	for (uint64_t i = 0; i <= before; i++)
		if (one <= i || other <= i || !nccl_rank__operation(rank, one - i, &mine, &ns) ||
		    !nccl_rank__operation(rank, other - i, &theirs, &ns) ||
		    !nccl_operation__equal(&mine, &theirs))
			return false;
	return true;
}

/* Programs repeat their steps: what has followed such calls before. */
static bool expect(const struct nccl_rank *rank, uint64_t sequence, struct nccl_operation *expected)
{
	uint64_t ns;

	for (uint64_t before = 2; before-- > 0;)
		for (uint64_t back = 2; back < NCCL_RECENT && back < sequence; back++)
			if (repeats(rank, sequence - 1, sequence - back, before))
				return nccl_rank__operation(rank, sequence - back + 1, expected,
							    &ns);
	return false;
}

bool nccl_rank__kept(const struct rank *rank, uint64_t sequence, struct nccl_operation *operation)
{
	uint64_t place = sequence - rank->comm->open.mismatch.sequence;

	if (place >= KEPT || !(rank->kept_mask >> place & 1))
		return false;
	*operation = rank->kept[place];
	return true;
}

static void differ(struct comm *comm, const struct round *round, const struct rank *rank,
		   const struct nccl_operation *operation)
{
	struct nccl_mismatch *mismatch = &comm->open.mismatch;

	comm->open.mismatches++;
	if (mismatch->sequence && mismatch->sequence <= round->sequence)
		return;
	*mismatch = (struct nccl_mismatch){
		.sequence = round->sequence,
		.common = round->operation,
		.other = *operation,
	};
	mismatch->expects = expect(&rank->open, round->sequence, &mismatch->expected);
	keep_all(comm);
}

/* Whether a rank that has come to the collective waits for the GPU now. */
static bool is_awaited(const struct comm *comm, const struct rank *arriving, uint64_t sequence)
{
	for (size_t i = 0; i < comm->open.seen; i++) {
		const struct rank *rank = comm->ranks[i];

		if (rank != arriving && rank->open.sequence >= sequence &&
		    rank->process->open.waiting_since_ns)
			return true;
	}
	return false;
}

/* Counts a new collective of the communicator, once for all its ranks. */
static void count(struct comm *comm, const struct nccl_operation *operation, uint64_t ns)
{
	struct nccl_comm *open = &comm->open;
	uint64_t bytes = nccl_operation__bytes(operation, open->size);

	open->collectives[operation->function]++;
	if (open->collectives[operation->function] > open->collectives[open->frequent])
		open->frequent = operation->function;
	open->period_collectives++;
	if (__builtin_add_overflow(open->bytes, bytes, &open->bytes))
		open->bytes = UINT64_MAX;
	if (__builtin_add_overflow(open->period_bytes, bytes, &open->period_bytes))
		open->period_bytes = UINT64_MAX;
	if (!open->first_ns || ns < open->first_ns)
		open->first_ns = ns;
}

/* The latest collective was none after all. */
static void uncount(struct comm *comm, const struct nccl_operation *operation)
{
	struct nccl_comm *open = &comm->open;
	uint64_t bytes = nccl_operation__bytes(operation, open->size);

	open->collectives[operation->function]--;
	open->bytes -= bytes < open->bytes ? bytes : open->bytes;
	/* The period may have begun since. */
	open->period_collectives -= open->period_collectives > 0;
	open->period_bytes -= bytes < open->period_bytes ? bytes : open->period_bytes;
}

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int bucket = 0;

	while (bucket < NCCL_LATE_BUCKETS - 1 && ns >= (uint64_t)NCCL_LATE_FIRST_NS << bucket)
		bucket++;
	return bucket;
}

/*
 * How late a rank came. Lateness while its GPU still has work costs nothing. A rank that is far
 * ahead was not late.
 */
static uint64_t lateness_of(const struct rank *rank, const struct round *round)
{
	const struct recent *recent = &rank->recent[round->sequence % NCCL_RECENT];

	if (rank->open.sequence - round->sequence >= NCCL_RECENT || recent->busy)
		return 0;
	return recent->ns > round->first_ns ? recent->ns - round->first_ns : 0;
}

static void add_lateness(const struct nccl_jobs *jobs, struct nccl_rank *rank, uint64_t late)
{
	rank->compared++;
	rank->lateness_ns += late;
	rank->lateness[bucket_of(late)]++;
	if (late < jobs->limits.late_ns)
		return;
	rank->late++;
	rank->late_ns += late;
}

/*
 * All ranks have come, in whatever order their events came. The first collective is left out: it
 * connects the ranks, in seconds.
 */
static void complete(const struct nccl_jobs *jobs, struct comm *comm, const struct round *round)
{
	uint64_t greatest = 0, late;

	if (round->sequence == 1 || !comm->open.aligned)
		return;
	for (size_t i = 0; i < comm->open.seen; i++) {
		late = round->awaited || !jobs->limits.proven_late ?
			       lateness_of(comm->ranks[i], round) :
			       0;
		add_lateness(jobs, &comm->ranks[i]->open, late);
		greatest = late > greatest ? late : greatest;
	}
	comm->open.complete++;
	comm->open.spread_ns += greatest;
	if (!comm->open.compare_from_ns)
		comm->open.compare_from_ns = round->first_ns;
	if (round->last_ns > comm->open.compare_to_ns)
		comm->open.compare_to_ns = round->last_ns;
}

uint64_t nccl_rank__arrive(struct nccl_jobs *jobs, struct rank *rank,
			   const struct nccl_operation *called, enum nccl_queue queue, uint64_t ns)
{
	struct nccl_operation operation = nccl_operation__plain(called);
	struct comm *comm = rank->comm;
	uint64_t sequence = ++rank->open.sequence;
	struct round *round;

	rank->recent[sequence % NCCL_RECENT] =
		(struct recent){.operation = operation, .ns = ns, .busy = queue == NCCL_QUEUE_BUSY};
	rank->open.last_ns = ns;
	keep(comm, rank, sequence, &operation);
	if (ns > comm->open.last_ns)
		comm->open.last_ns = ns;
	if (sequence > comm->open.sequence) {
		make_room(jobs, comm);
		comm->open.sequence = sequence;
		count(comm, &operation, ns);
		comm->rounds[sequence & (comm->capacity - 1)] = (struct round){
			.sequence = sequence,
			.operation = operation,
			.first_ns = ns,
			.last_ns = ns,
		};
	}
	round = nccl_comm__round(comm, sequence);
	if (!round) {
		comm->open.unmatched++;
		jobs->losses.unmatched++;
		return sequence;
	}
	if (nccl_operation__equal(&round->operation, &operation))
		round->same++;
	else if (comm->open.aligned)
		differ(comm, round, rank, &operation);
	if (jobs->limits.proven_late && !round->awaited)
		round->awaited = is_awaited(comm, rank, sequence);
	if (round->arrived++) {
		if (ns < round->first_ns)
			round->first_ns = ns;
		if (ns > round->last_ns)
			round->last_ns = ns;
	}
	if (round->arrived > 1 && round->arrived == comm->open.seen)
		complete(jobs, comm, round);
	return sequence;
}

/* If it was this call that differed, the ranks agree after all. */
static void forgive(struct comm *comm, struct rank *rank, uint64_t sequence)
{
	struct nccl_operation operation;

	if (comm->open.mismatch.sequence != sequence ||
	    !nccl_rank__kept(rank, sequence, &operation))
		return;
	rank->kept_mask &= (uint8_t)~1U;
	if (!nccl_operation__equal(&operation, &comm->open.mismatch.other))
		return;
	comm->open.mismatch = (struct nccl_mismatch){0};
	comm->open.mismatches--;
}

void nccl_rank__withdraw(struct rank *rank, uint64_t sequence)
{
	struct comm *comm = rank->comm;
	struct round *round = nccl_comm__round(comm, sequence);

	if (rank->open.sequence != sequence)
		return;
	rank->open.sequence--;
	forgive(comm, rank, sequence);
	if (!round)
		return;
	if (nccl_operation__equal(&round->operation,
				  &rank->recent[sequence % NCCL_RECENT].operation))
		round->same--;
	if (--round->arrived)
		return;
	round->sequence = 0;
	if (comm->open.sequence == sequence) {
		comm->open.sequence--;
		uncount(comm, &round->operation);
	}
}

/* Matches the calls of one side with those of the other. */
static void match(struct nccl_jobs *jobs, struct comm *comm, struct pair *pair, bool sends,
		  uint64_t bytes, uint64_t ns)
{
	struct nccl_pair *open = &pair->open;
	uint64_t number = sends ? ++open->sends : ++open->receives;
	uint64_t others = sends ? open->receives : open->sends;
	size_t place = number % PAIR_RECENT;

	if (number > others) {
		/* Alone as yet. The oldest of these has its time in the ring, if that is enough. */
		pair->bytes[place] = bytes;
		pair->ns[place] = ns;
		if (!open->unmatched_ns)
			open->unmatched_ns = ns;
		return;
	}
	if (others - number >= PAIR_RECENT) {
		comm->open.unmatched++;
		jobs->losses.unmatched++;
	} else if (pair->bytes[place] != bytes && !open->mismatch && comm->open.aligned) {
		open->mismatch = number;
		open->sent_bytes = sends ? bytes : pair->bytes[place];
		open->received_bytes = sends ? pair->bytes[place] : bytes;
	}
	if (number == others)
		open->unmatched_ns = 0;
	else if (others - number <= PAIR_RECENT)
		open->unmatched_ns = pair->ns[(number + 1) % PAIR_RECENT];
}

static struct pair *take_pair(struct nccl_jobs *jobs, struct comm *comm, int32_t from, int32_t to)
{
	struct pair_key key = {from, to};
	struct pair *pair = TABLE_FIND(comm->pairs, key, &key);

	if (pair || !nccl_budget__take(jobs, comm->payer, sizeof(*pair)))
		return pair;
	pair = TABLE_ADD_NEW(comm->pairs, key, &key);
	if (!pair) {
		nccl_budget__give(jobs, comm->payer, sizeof(*pair));
		jobs->losses.no_room++;
		return NULL;
	}
	pair->open.from = from;
	pair->open.to = to;
	return pair;
}

void nccl_rank__point_to_point(struct nccl_jobs *jobs, struct rank *rank,
			       const struct nccl_operation *operation, uint64_t ns)
{
	bool sends = operation->function == NCCL_SEND;
	uint64_t bytes = nccl_operation__bytes(operation, 0);
	uint64_t *sum = sends ? &rank->open.sent_bytes : &rank->open.received_bytes;
	int32_t peer = operation->root, self = rank->open.rank;
	struct pair *pair;

	if (peer < 0 || (rank->comm->open.size && peer >= rank->comm->open.size)) {
		jobs->losses.invalid++;
		return;
	}
	if (sends)
		rank->open.sends++;
	else
		rank->open.receives++;
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = UINT64_MAX;
	if (self < 0)
		return;
	pair = take_pair(jobs, rank->comm, sends ? self : peer, sends ? peer : self);
	if (!pair)
		return;
	if (sends && __builtin_add_overflow(pair->open.bytes, bytes, &pair->open.bytes))
		pair->open.bytes = UINT64_MAX;
	match(jobs, rank->comm, pair, sends, bytes, ns);
}

void nccl_rank__waited(struct rank *rank, uint64_t ns)
{
	uint64_t from = rank->open.done, to = rank->wait_sequence;
	const struct recent *recent = &rank->recent[to % NCCL_RECENT];
	struct comm *comm = rank->comm;

	if (to <= from || to > rank->open.sequence)
		return;
	rank->open.done = to;
	/* A collective takes no longer than from its call to the end of the wait for it. */
	if (to == from + 1 && rank->open.sequence - to < NCCL_RECENT && ns > recent->ns) {
		uint64_t bytes = nccl_operation__bytes(&recent->operation, comm->open.size);
		double rate = (double)bytes * 1e9 / (double)(ns - recent->ns);

		if (bytes != UINT64_MAX && rate > comm->open.at_least)
			comm->open.at_least = rate;
	}
	if (to - from > comm->capacity)
		from = to - comm->capacity;
	for (uint64_t sequence = from + 1; sequence <= to; sequence++) {
		struct round *round = nccl_comm__round(comm, sequence);

		if (round && (!round->done_ns || ns < round->done_ns))
			round->done_ns = ns;
	}
}

bool nccl_rank__operation(const struct nccl_rank *open, uint64_t sequence,
			  struct nccl_operation *operation, uint64_t *ns)
{
	const struct rank *rank = (const struct rank *)open;
	const struct recent *recent = &rank->recent[sequence % NCCL_RECENT];

	if (!sequence || sequence > open->sequence || open->sequence - sequence >= NCCL_RECENT)
		return false;
	*operation = recent->operation;
	*ns = recent->ns;
	return true;
}

bool nccl_comm__arrivals(const struct nccl_comm *open, uint64_t sequence, uint64_t *first_ns,
			 uint64_t *last_ns, uint64_t *done_ns, size_t *arrived)
{
	const struct round *round = nccl_comm__round((const struct comm *)open, sequence);

	if (!round)
		return false;
	*first_ns = round->first_ns;
	*last_ns = round->last_ns;
	*done_ns = round->done_ns;
	*arrived = round->arrived;
	return true;
}
