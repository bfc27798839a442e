// SPDX-License-Identifier: BSD-2-Clause
// Clock offsets between nodes, and communicators that span nodes.
#include "nccl/join.h"

#include <stdlib.h>

#include "base/array.h"

/* The bounds for what to add to the times of node B, and the guess of each collective. */
struct bounds {
	int64_t least, most;
	bool has_least, has_most;
	int64_t *guesses;
	size_t guess_count;
};

static const struct nccl_node_comm *find_comm(const struct nccl_node *node, uint64_t hash,
					      int32_t size)
{
	for (size_t i = 0; i < node->comm_count; i++)
		if (node->comms[i].hash == hash && node->comms[i].size == size)
			return &node->comms[i];
	return NULL;
}

/* Times are below 73 years; others come from a broken file. */
static bool is_sound(const struct nccl_arrival *arrival)
{
	return arrival->first_ns <= arrival->last_ns && arrival->last_ns < INT64_MAX / 4 &&
	       arrival->done_ns < INT64_MAX / 4;
}

/* A collective that both have seen. */
static int compare(struct bounds *bounds, const struct nccl_arrival *a,
		   const struct nccl_arrival *b)
{
	int64_t value;

	if (!is_sound(a) || !is_sound(b))
		return 0;
	/* B's last rank came before A saw it done, and the reverse. */
	if (a->done_ns) {
		value = (int64_t)a->done_ns - (int64_t)b->last_ns;
		if (!bounds->has_most || value < bounds->most)
			bounds->most = value;
		bounds->has_most = true;
	}
	if (b->done_ns) {
		value = (int64_t)a->last_ns - (int64_t)b->done_ns;
		if (!bounds->has_least || value > bounds->least)
			bounds->least = value;
		bounds->has_least = true;
	}
	return ARRAY_APPEND(bounds->guesses, bounds->guess_count,
			    (int64_t)a->last_ns - (int64_t)b->last_ns);
}

static int compare_comm(struct bounds *bounds, const struct nccl_node_comm *a,
			const struct nccl_node_comm *b)
{
	size_t i = 0, j = 0;

	while (i < a->arrival_count && j < b->arrival_count) {
		uint64_t one = a->arrivals[i].sequence, other = b->arrivals[j].sequence;

		if (one == other && compare(bounds, &a->arrivals[i], &b->arrivals[j]))
			return -ENOMEM;
		i += one <= other;
		j += other <= one;
	}
	return 0;
}

static int by_value(const void *one, const void *other)
{
	int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

	return (a > b) - (a < b);
}

static struct nccl_offset offset_of(struct bounds *bounds)
{
	struct nccl_offset offset = {
		.known = bounds->guess_count > 0,
		.error_ns = UINT64_MAX,
		.collectives = bounds->guess_count,
	};

	if (!offset.known)
		return offset;
	qsort(bounds->guesses, bounds->guess_count, sizeof(*bounds->guesses), by_value);
	offset.ns = bounds->guesses[bounds->guess_count / 2];
	/* Bounds that exclude each other come from numbers that do not mean the same collective. */
	if (!bounds->has_least || !bounds->has_most || bounds->least > bounds->most)
		return offset;
	offset.ns = bounds->least + (bounds->most - bounds->least) / 2;
	offset.error_ns = (uint64_t)(bounds->most - bounds->least + 1) / 2;
	return offset;
}

/* What to add to the times of `b` to have those of `a`. */
static struct nccl_offset between(const struct nccl_node *a, const struct nccl_node *b)
{
	struct bounds bounds = {0};
	struct nccl_offset offset;

	for (size_t i = 0; i < a->comm_count; i++) {
		const struct nccl_node_comm *other =
			find_comm(b, a->comms[i].hash, a->comms[i].size);

		if (other && compare_comm(&bounds, &a->comms[i], other))
			break;
	}
	offset = offset_of(&bounds);
	free(bounds.guesses);
	return offset;
}

static struct nccl_offset sum(const struct nccl_offset *one, const struct nccl_offset *other)
{
	struct nccl_offset total = *other;

	if (__builtin_add_overflow(one->ns, other->ns, &total.ns))
		return (struct nccl_offset){0};
	if (__builtin_add_overflow(one->error_ns, other->error_ns, &total.error_ns))
		total.error_ns = UINT64_MAX;
	return total;
}

void nccl_join__offsets(const struct nccl_node *nodes, size_t count, struct nccl_offset *offsets)
{
	bool more = count > 0;

	for (size_t i = 0; i < count; i++)
		offsets[i] = (struct nccl_offset){.known = i == 0};
	/* From the nodes that are known to those that share a communicator with one of them. */
	while (more) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			for (size_t j = 0; offsets[i].known && j < count; j++) {
				struct nccl_offset step;

				if (offsets[j].known)
					continue;
				step = between(&nodes[i], &nodes[j]);
				if (!step.known)
					continue;
				offsets[j] = sum(&offsets[i], &step);
				more |= offsets[j].known;
			}
		}
	}
}

static struct nccl_joined *find_joined(struct nccl_joined *joined, size_t count,
				       const struct nccl_node_comm *comm)
{
	for (size_t i = 0; i < count; i++)
		if (joined[i].hash == comm->hash && joined[i].size == comm->size)
			return &joined[i];
	return NULL;
}

/* Whether a node before this one claims the rank, too. */
static bool claimed(const struct nccl_node *nodes, size_t node, const struct nccl_node_comm *comm,
		    int32_t rank)
{
	for (size_t i = 0; i < node; i++) {
		const struct nccl_node_comm *other = find_comm(&nodes[i], comm->hash, comm->size);

		for (size_t j = 0; other && j < other->rank_count; j++)
			if (other->ranks[j].rank == rank)
				return true;
	}
	return false;
}

static void add_ranks(struct nccl_joined *joined, const struct nccl_node *nodes, size_t node,
		      const struct nccl_node_comm *comm)
{
	joined->nodes++;
	for (size_t i = 0; i < comm->rank_count; i++) {
		if (claimed(nodes, node, comm, comm->ranks[i].rank)) {
			joined->duplicates++;
			continue;
		}
		joined->seen++;
		if (comm->ranks[i].sequence > joined->sequence)
			joined->sequence = comm->ranks[i].sequence;
	}
}

static void add_behind(struct nccl_joined *joined, const struct nccl_node *nodes, size_t node,
		       const struct nccl_node_comm *comm)
{
	for (size_t i = 0; i < comm->rank_count; i++) {
		if (comm->ranks[i].sequence >= joined->sequence ||
		    claimed(nodes, node, comm, comm->ranks[i].rank))
			continue;
		joined->behind_total++;
		if (joined->behind_count < NCCL_JOIN_BEHIND)
			joined->behind[joined->behind_count++] =
				(struct nccl_behind){node, comm->ranks[i]};
	}
}

struct nccl_joined *nccl_join__comms(const struct nccl_node *nodes, size_t count,
				     size_t *joined_count)
{
	struct nccl_joined *joined = NULL, *one;
	size_t found = 0;

	*joined_count = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < nodes[i].comm_count; j++) {
			const struct nccl_node_comm *comm = &nodes[i].comms[j];
			struct nccl_joined fresh = {.hash = comm->hash, .size = comm->size};

			one = find_joined(joined, found, comm);
			if (!one && ARRAY_APPEND(joined, found, fresh))
				goto no_memory;
			add_ranks(one ? one : &joined[found - 1], nodes, i, comm);
		}
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < nodes[i].comm_count; j++) {
			const struct nccl_node_comm *comm = &nodes[i].comms[j];

			add_behind(find_joined(joined, found, comm), nodes, i, comm);
		}
	}
	*joined_count = found;
	return joined;
no_memory:
	free(joined);
	return NULL;
}
