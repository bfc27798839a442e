// SPDX-License-Identifier: BSD-2-Clause
// Clock offsets between nodes, see join.h.
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

int nccl_node_comm__order(const void *left, const void *right)
{
	const struct nccl_node_comm *one = left, *other = right;

	if (one->hash != other->hash)
		return one->hash < other->hash ? -1 : 1;
	return (one->size > other->size) - (one->size < other->size);
}

/* What to add to the times of `b` to have those of `a`. -ENOMEM, or 0. */
static int between(const struct nccl_node *a, const struct nccl_node *b, struct nccl_offset *offset)
{
	struct bounds bounds = {0};
	size_t i = 0, j = 0;
	int ret = 0;

	while (i < a->comm_count && j < b->comm_count && !ret) {
		const struct nccl_node_comm *one = &a->comms[i], *other = &b->comms[j];
		int cmp = nccl_node_comm__order(one, other);

		if (!cmp && one->aligned && other->aligned)
			ret = compare_comm(&bounds, one, other);
		i += cmp <= 0;
		j += cmp >= 0;
	}
	*offset = offset_of(&bounds);
	free(bounds.guesses);
	return ret;
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

/*
 * From the nodes that are known to those that share a communicator with one of them. `reached` has
 * the known ones. With `bounded`, guesses do not count.
 */
static int spread(const struct nccl_node *nodes, size_t count, struct nccl_offset *offsets,
		  size_t *reached, size_t *reached_count, bool bounded)
{
	for (size_t i = 0; i < *reached_count; i++) {
		for (size_t j = 0; j < count; j++) {
			struct nccl_offset step;

			if (offsets[j].known)
				continue;
			if (between(&nodes[reached[i]], &nodes[j], &step))
				return -ENOMEM;
			if (!step.known || (bounded && step.error_ns == UINT64_MAX))
				continue;
			offsets[j] = sum(&offsets[reached[i]], &step);
			if (offsets[j].known)
				reached[(*reached_count)++] = j;
		}
	}
	return 0;
}

int nccl_join__offsets(const struct nccl_node *nodes, size_t count, struct nccl_offset *offsets)
{
	size_t *reached = calloc(count + 1, sizeof(*reached)), reached_count = count > 0;
	int ret = reached ? 0 : -ENOMEM;

	for (size_t i = 0; i < count; i++)
		offsets[i] = (struct nccl_offset){.known = i == 0};
	if (!ret)
		ret = spread(nodes, count, offsets, reached, &reached_count, true);
	if (!ret)
		ret = spread(nodes, count, offsets, reached, &reached_count, false);
	free(reached);
	return ret;
}
