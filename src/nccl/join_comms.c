// SPDX-License-Identifier: BSD-2-Clause
// Communicators that span nodes: their ranks, which of them are behind, and which node comes last.
#include <stdlib.h>

#include "base/array.h"
#include "nccl/join.h"

/* A communicator on the nodes that have it. */
struct member {
	size_t node;
	const struct nccl_node_comm *comm;
};

struct join {
	const struct nccl_node *nodes;
	size_t count;
	const struct nccl_offset *offsets;
	uint64_t patience_ns;
	size_t *cursors; /* the first communicator of each node that is not joined yet */
	struct member *members;
	size_t member_count;
};

/* Takes the least communicator that is left on all nodes that have it. False: none is left. */
static bool take_members(struct join *join)
{
	const struct nccl_node_comm *least = NULL, *comm;

	join->member_count = 0;
	for (size_t i = 0; i < join->count; i++) {
		if (join->cursors[i] == join->nodes[i].comm_count)
			continue;
		comm = &join->nodes[i].comms[join->cursors[i]];
		if (!least || nccl_node_comm__order(comm, least) < 0)
			least = comm;
	}
	for (size_t i = 0; i < join->count && least; i++) {
		if (join->cursors[i] == join->nodes[i].comm_count)
			continue;
		comm = &join->nodes[i].comms[join->cursors[i]];
		if (nccl_node_comm__order(comm, least))
			continue;
		join->members[join->member_count++] = (struct member){i, comm};
		join->cursors[i]++;
	}
	return join->member_count > 0;
}

/* --- ranks --- */

static int compare_rank(const void *key, const void *item)
{
	int32_t rank = *(const int32_t *)key, other = ((const struct nccl_node_rank *)item)->rank;

	return (rank > other) - (rank < other);
}

/* Whether a node before this one claims the rank, too. */
static bool is_claimed(const struct join *join, size_t member, int32_t rank)
{
	for (size_t i = 0; i < member; i++) {
		const struct nccl_node_comm *comm = join->members[i].comm;

		if (comm->rank_count && bsearch(&rank, comm->ranks, comm->rank_count,
						sizeof(*comm->ranks), compare_rank))
			return true;
	}
	return false;
}

static void add_ranks(const struct join *join, struct nccl_joined *joined)
{
	for (size_t i = 0; i < join->member_count; i++) {
		const struct nccl_node_comm *comm = join->members[i].comm;

		for (size_t j = 0; j < comm->rank_count; j++) {
			if (is_claimed(join, i, comm->ranks[j].rank)) {
				joined->duplicates++;
				continue;
			}
			joined->seen++;
			if (comm->ranks[j].sequence > joined->sequence)
				joined->sequence = comm->ranks[j].sequence;
		}
	}
}

/* A time of a node by the clock of the first one. False: unknown, or no sound time. */
static bool common_time(const struct join *join, size_t node, uint64_t ns, int64_t *common)
{
	return join->offsets[node].known && ns && ns < INT64_MAX / 4 &&
	       !__builtin_add_overflow((int64_t)ns, join->offsets[node].ns, common);
}

/* The first collective behind this one that a node still knows; NULL: none. */
static const struct nccl_arrival *next_arrival(const struct nccl_node_comm *comm, uint64_t sequence)
{
	size_t low = 0, high = comm->arrival_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (comm->arrivals[middle].sequence <= sequence)
			low = middle + 1;
		else
			high = middle;
	}
	return low < comm->arrival_count ? &comm->arrivals[low] : NULL;
}

/* When the first rank of any node came to a collective behind this one; INT64_MAX: unknown. */
static int64_t first_after(const struct join *join, uint64_t sequence)
{
	int64_t first_ns = INT64_MAX, ns;

	for (size_t i = 0; i < join->member_count; i++) {
		const struct nccl_arrival *next = next_arrival(join->members[i].comm, sequence);

		if (next && common_time(join, join->members[i].node, next->first_ns, &ns) &&
		    ns < first_ns)
			first_ns = ns;
	}
	return first_ns;
}

/* How long another rank had waited for this one when its node was seen. */
static uint64_t waited_for(const struct join *join, size_t node, uint64_t sequence)
{
	int64_t first_ns = first_after(join, sequence), end_ns;

	if (!common_time(join, node, join->nodes[node].end_ns, &end_ns) || end_ns <= first_ns)
		return 0;
	return (uint64_t)end_ns - (uint64_t)first_ns;
}

/* Nodes were seen at different times: a lower number alone does not say that a rank is behind. */
static void add_behind(const struct join *join, struct nccl_joined *joined)
{
	for (size_t i = 0; i < join->member_count && joined->aligned; i++) {
		const struct member *member = &join->members[i];
		uint64_t asked = UINT64_MAX, waited = 0;

		for (size_t j = 0; j < member->comm->rank_count; j++) {
			const struct nccl_node_rank *rank = &member->comm->ranks[j];

			if (rank->sequence >= joined->sequence || is_claimed(join, i, rank->rank))
				continue;
			if (rank->sequence != asked)
				waited = waited_for(join, member->node, rank->sequence);
			asked = rank->sequence;
			if (waited <= join->patience_ns)
				continue;
			joined->behind_total++;
			if (joined->behind_count < NCCL_JOIN_BEHIND)
				joined->behind[joined->behind_count++] =
					(struct nccl_behind){member->node, *rank, waited};
		}
	}
}

/* --- lateness --- */

/* How often a node comes last, and by how much. */
struct lateness {
	size_t late;
	uint64_t ns;
};

static int compare_arrival(const void *key, const void *item)
{
	uint64_t sequence = *(const uint64_t *)key;
	uint64_t other = ((const struct nccl_arrival *)item)->sequence;

	return (sequence > other) - (sequence < other);
}

/* When the last rank of a node came to a collective, if all of them did. */
static bool last_of(const struct join *join, const struct member *member, uint64_t sequence,
		    int64_t *ns)
{
	const struct nccl_node_comm *comm = member->comm;
	const struct nccl_arrival *arrival = NULL;

	if (comm->arrival_count)
		arrival = bsearch(&sequence, comm->arrivals, comm->arrival_count, sizeof(*arrival),
				  compare_arrival);
	return arrival && arrival->ranks == comm->rank_count &&
	       common_time(join, member->node, arrival->last_ns, ns);
}

/* Counts a collective for the member that came last. False: not all have come to it. */
static bool compare_members(const struct join *join, uint64_t sequence, struct lateness *lateness)
{
	int64_t last_ns = INT64_MIN, before_ns = INT64_MIN, ns;
	size_t last = 0;

	for (size_t i = 0; i < join->member_count; i++) {
		if (!last_of(join, &join->members[i], sequence, &ns))
			return false;
		if (ns > last_ns) {
			before_ns = last_ns;
			last_ns = ns;
			last = i;
		} else if (ns > before_ns) {
			before_ns = ns;
		}
	}
	lateness[last].late++;
	lateness[last].ns += (uint64_t)last_ns - (uint64_t)before_ns;
	return true;
}

/* The error of a difference between two nodes' times is at most the sum of these. */
static uint64_t clock_error(const struct join *join)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < join->member_count; i++)
		if (__builtin_add_overflow(sum, join->offsets[join->members[i].node].error_ns,
					   &sum))
			return UINT64_MAX;
	return sum;
}

static void choose_latest(const struct join *join, const struct lateness *lateness, size_t compared,
			  struct nccl_joined *joined)
{
	size_t latest = 0;
	uint64_t mean;

	for (size_t i = 1; i < join->member_count; i++)
		if (lateness[i].late > lateness[latest].late)
			latest = i;
	mean = lateness[latest].late ? lateness[latest].ns / lateness[latest].late : 0;
	if (mean <= clock_error(join))
		return;
	joined->compared = compared;
	joined->late_node = join->members[latest].node;
	joined->late = lateness[latest].late;
	joined->late_ns = mean;
}

static int add_lateness(const struct join *join, struct nccl_joined *joined)
{
	const struct nccl_node_comm *first = join->members[0].comm;
	struct lateness *lateness;
	size_t compared = 0;

	if (join->member_count < 2 || !joined->aligned)
		return 0;
	lateness = calloc(join->member_count, sizeof(*lateness));
	if (!lateness)
		return -ENOMEM;
	for (size_t i = 0; i < first->arrival_count; i++)
		compared += compare_members(join, first->arrivals[i].sequence, lateness);
	if (compared)
		choose_latest(join, lateness, compared, joined);
	free(lateness);
	return 0;
}

/* --- all --- */

static struct nccl_joined first_facts(const struct join *join)
{
	const struct nccl_node_comm *comm = join->members[0].comm;
	struct nccl_joined joined = {
		.hash = comm->hash,
		.size = comm->size,
		.aligned = true,
		.nodes = join->member_count,
	};

	for (size_t i = 0; i < join->member_count; i++) {
		joined.aligned &= join->members[i].comm->aligned;
		if (!joined.name)
			joined.name = join->members[i].comm->name;
	}
	return joined;
}

static int by_size(const void *one, const void *other)
{
	const struct nccl_joined *a = one, *b = other;

	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence > b->sequence ? -1 : 1;
	return (a->hash > b->hash) - (a->hash < b->hash);
}

static int join_all(struct join *join, struct nccl_joined **joined, size_t *joined_count)
{
	while (take_members(join)) {
		struct nccl_joined one = first_facts(join);

		add_ranks(join, &one);
		add_behind(join, &one);
		if (add_lateness(join, &one) || ARRAY_APPEND(*joined, *joined_count, one))
			return -ENOMEM;
	}
	if (*joined_count)
		qsort(*joined, *joined_count, sizeof(**joined), by_size);
	return 0;
}

int nccl_join__comms(const struct nccl_node *nodes, size_t count, const struct nccl_offset *offsets,
		     uint64_t patience_ns, struct nccl_joined **joined, size_t *joined_count)
{
	struct join join = {
		.nodes = nodes,
		.count = count,
		.offsets = offsets,
		.patience_ns = patience_ns,
		.cursors = calloc(count + 1, sizeof(*join.cursors)),
		.members = calloc(count + 1, sizeof(*join.members)),
	};
	int ret = -ENOMEM;

	*joined = NULL;
	*joined_count = 0;
	if (join.cursors && join.members)
		ret = join_all(&join, joined, joined_count);
	free(join.cursors);
	free(join.members);
	if (!ret)
		return 0;
	free(*joined);
	*joined = NULL;
	*joined_count = 0;
	return ret;
}
