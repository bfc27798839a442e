// SPDX-License-Identifier: BSD-2-Clause
// Communicators made from another one: ncclCommSplit, ncclCommShrink, ncclCommGrow. Ranks and size
// of a split follow from what all ranks of the parent pass, so they are unknown until all have
// called it here.
#include <stdlib.h>
#include <utlist.h>

#include "nccl/private.h"

void nccl_split__free(struct nccl_jobs *jobs, struct split *split)
{
	DL_DELETE(split->parent->splits, split);
	if (split->child)
		split->child->creating--;
	nccl_budget__give(jobs, split->parent->payer, sizeof(*split));
	free(split);
}

static size_t count_of(const struct comm *parent, int32_t number)
{
	struct split *split;
	size_t count = 0;

	DL_FOREACH (parent->splits, split)
		count += split->number == number;
	return count;
}

/* Before: in the order in which NCCL numbers the ranks of a colour. */
static bool before(const struct split *one, const struct split *other)
{
	return one->key != other->key ? one->key < other->key :
					one->parent_rank < other->parent_rank;
}

/* The rank of a split's caller in its child, and the child's size. */
static int32_t rank_in_child(const struct split *split, int32_t *size)
{
	struct split *other;
	int32_t rank = 0;

	*size = 0;
	DL_FOREACH (split->parent->splits, other) {
		if (other->number != split->number || other->color != split->color)
			continue;
		(*size)++;
		rank += before(other, split);
	}
	return rank;
}

/* All ranks of the parent have made the split of this number. */
static void resolve(struct nccl_jobs *jobs, struct comm *parent, int32_t number)
{
	struct split *split, *next;
	int32_t rank, size;

	DL_FOREACH (parent->splits, split) {
		if (split->number != number || !split->child)
			continue;
		rank = rank_in_child(split, &size);
		if (!split->child->open.size)
			split->child->open.size = size;
		nccl_rank__set_number(split->rank, rank);
	}
	DL_FOREACH_SAFE (parent->splits, split, next)
		if (split->number == number)
			nccl_split__free(jobs, split);
}

static struct rank *split_off(struct nccl_jobs *jobs, struct rank *parent,
			      const struct nccl_event *event)
{
	struct comm *comm = parent->comm;
	struct rank *child = NULL;
	struct split *split;
	int32_t number = ++parent->children;

	if (event->color != NCCL_NO_COLOR) {
		uint64_t hash =
			nccl_hash__split(event->hashing, comm->open.hash, number, event->color);

		child = nccl_rank__add(jobs, parent->process, comm->open.known, hash,
				       (uint32_t)number, NCCL_RANK_UNKNOWN, 0);
		if (!child)
			return NULL;
		/* The parent must be known from its start, or splits are not counted from 1. */
		child->comm->open.aligned = comm->open.aligned;
	}
	if (!comm->open.size || parent->open.rank < 0 ||
	    !nccl_budget__take(jobs, comm->payer, sizeof(*split)))
		return child;
	split = calloc(1, sizeof(*split));
	if (!split) {
		nccl_budget__give(jobs, comm->payer, sizeof(*split));
		return child;
	}
	*split = (struct split){
		.parent = comm,
		.child = child ? child->comm : NULL,
		.number = number,
		.color = event->color,
		.key = event->key,
		.parent_rank = parent->open.rank,
		.rank = child,
	};
	if (child)
		child->comm->creating++;
	DL_APPEND(comm->splits, split);
	if (count_of(comm, number) == (size_t)comm->open.size)
		resolve(jobs, comm, number);
	return child;
}

/* Shrink: the others keep their order. */
static struct rank *shrink(struct nccl_jobs *jobs, struct rank *parent,
			   const struct nccl_event *event)
{
	struct comm *comm = parent->comm;
	int32_t number = ++parent->children, below = 0, size = comm->open.size;
	int32_t rank = parent->open.rank;

	if (event->excluded_count >= (size_t)size || rank < 0) {
		jobs->losses.invalid++;
		return NULL;
	}
	for (size_t i = 0; i < event->excluded_count; i++) {
		if (event->excluded[i] == rank)
			return NULL;
		below += event->excluded[i] < rank;
	}
	size -= (int32_t)event->excluded_count;
	if (below > rank)
		below = rank;
	return nccl_rank__add(jobs, parent->process, comm->open.known,
			      nccl_hash__split(event->hashing, comm->open.hash, number, 0),
			      (uint32_t)number, rank - below, size);
}

/* Grow: its hash is not known from outside. A number of our own brings the ranks together. */
static struct rank *grow(struct nccl_jobs *jobs, struct rank *parent,
			 const struct nccl_event *event)
{
	int32_t number = ++parent->children;
	int32_t rank = event->rank >= 0 ? event->rank : parent->open.rank;
	uint64_t hash =
		nccl_hash__split(NCCL_HASHING_MIXER, parent->comm->open.hash, number, event->size);

	return nccl_rank__add(jobs, parent->process, parent->comm->open.known, hash,
			      (uint32_t)number, rank, event->size);
}

struct rank *nccl_split__begin(struct nccl_jobs *jobs, struct rank *parent,
			       const struct nccl_event *event)
{
	struct rank *child;

	if (event->function == NCCL_SPLIT)
		child = split_off(jobs, parent, event);
	else if (event->function == NCCL_SHRINK)
		child = shrink(jobs, parent, event);
	else
		child = grow(jobs, parent, event);
	if (child)
		child->open.device = parent->open.device;
	return child;
}
