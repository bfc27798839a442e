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

/*
 * The number of a split counts from the parent's start. If that was not seen, only older versions
 * of NCCL, which do not use the number, give a hash that is theirs.
 */
static bool is_guess(const struct comm *parent, enum nccl_hashing hashing)
{
	return parent->open.guessed || (hashing == NCCL_HASHING_MIXER && !parent->open.aligned);
}

/*
 * The caller's rank in a child. `split` tells children of equal hashes apart, which older versions
 * of NCCL give to splits of one colour. NULL: no room.
 */
static struct rank *add_child(struct nccl_jobs *jobs, struct rank *parent, uint64_t hash,
			      int32_t split, int32_t number, int32_t size)
{
	struct comm *comm = parent->comm;
	struct rank *child = nccl_rank__add(jobs, parent->process, comm->open.known, hash,
					    (uint32_t)split, number, size);

	/* Ranks that were not seen from the parent's start may differ in their counts. */
	if (child && !comm->open.aligned)
		child->comm->open.aligned = false;
	return child;
}

/* Keeps what the caller passes until all ranks of the parent have made the split. */
static void keep_split(struct nccl_jobs *jobs, struct rank *parent, const struct nccl_event *event,
		       struct rank *child)
{
	struct comm *comm = parent->comm;
	struct split *split;

	if (!comm->open.size || parent->open.rank < 0 ||
	    !nccl_budget__take(jobs, comm->payer, sizeof(*split)))
		return;
	split = calloc(1, sizeof(*split));
	if (!split) {
		nccl_budget__give(jobs, comm->payer, sizeof(*split));
		return;
	}
	*split = (struct split){
		.parent = comm,
		.child = child ? child->comm : NULL,
		.number = parent->children,
		.color = event->color,
		.key = event->key,
		.parent_rank = parent->open.rank,
		.rank = child,
	};
	if (child)
		child->comm->creating++;
	DL_APPEND(comm->splits, split);
	if (count_of(comm, split->number) == (size_t)comm->open.size)
		resolve(jobs, comm, split->number);
}

static struct rank *split_off(struct nccl_jobs *jobs, struct rank *parent,
			      const struct nccl_event *event)
{
	int32_t number = ++parent->children;
	struct rank *child = NULL;
	uint64_t hash;

	if (event->color != NCCL_NO_COLOR) {
		hash = nccl_hash__split(event->hashing, parent->comm->open.hash, number,
					event->color);
		child = add_child(jobs, parent, hash,
				  event->hashing == NCCL_HASHING_DJB2 ? number : 0,
				  NCCL_RANK_UNKNOWN, 0);
		if (!child)
			return NULL;
		child->comm->magic = hash;
		child->comm->open.guessed = is_guess(parent->comm, event->hashing);
	}
	keep_split(jobs, parent, event, child);
	return child;
}

/* The others keep their order. */
static struct rank *shrink(struct nccl_jobs *jobs, struct rank *parent,
			   const struct nccl_event *event)
{
	struct comm *comm = parent->comm;
	int32_t size = comm->open.size, rank = parent->open.rank, below = 0;
	uint64_t hash = nccl_hash__shrink(comm->open.hash);
	struct rank *child;

	if (size && event->excluded_count >= (size_t)size) {
		jobs->losses.invalid++;
		return NULL;
	}
	for (size_t i = 0; i < event->excluded_count; i++) {
		if (event->excluded[i] == rank)
			return NULL;
		below += event->excluded[i] < rank;
	}
	if (size && rank >= 0)
		child = add_child(jobs, parent, hash, 0, rank - (below < rank ? below : rank),
				  size - (int32_t)event->excluded_count);
	else
		child = add_child(jobs, parent, hash, 0, NCCL_RANK_UNKNOWN, 0);
	if (!child)
		return NULL;
	child->comm->magic = hash;
	child->comm->open.guessed = comm->open.guessed;
	return child;
}

/*
 * Ranks of the parent keep their numbers. Without its magic, a number of our own brings them
 * together.
 */
static struct rank *grow(struct nccl_jobs *jobs, struct rank *parent,
			 const struct nccl_event *event)
{
	int32_t number = ++parent->children;
	struct comm *comm = parent->comm;
	uint64_t magic = 0, hash;
	struct rank *child;

	if (comm->magic && !is_guess(comm, NCCL_HASHING_MIXER))
		magic = nccl_hash__grown_magic(comm->magic, number);
	hash = magic ? nccl_hash__grow(magic, event->size) :
		       nccl_hash__split(NCCL_HASHING_MIXER, comm->open.hash, number, event->size);
	child = add_child(jobs, parent, hash, 0, event->rank >= 0 ? event->rank : parent->open.rank,
			  event->size);
	if (!child)
		return NULL;
	child->comm->magic = magic;
	child->comm->open.guessed = !magic;
	return child;
}

struct rank *nccl_split__join(struct nccl_jobs *jobs, struct process *process,
			      const struct nccl_event *event)
{
	uint64_t hash = nccl_hash__grow(event->magic, event->size);
	struct rank *rank =
		nccl_rank__add(jobs, process, event->magic != 0, hash, 0, event->rank, event->size);

	if (!rank)
		return NULL;
	rank->comm->magic = event->magic;
	rank->open.device = event->device;
	return rank;
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
