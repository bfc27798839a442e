// SPDX-License-Identifier: BSD-2-Clause
// Reads what a node has seen, see node_file.h. All communicators' ranks are in one array, and so
// are the arrivals: pointers into them are set when both are complete.
#include "nccl/node_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "nccl/json_members.h"

#define SIZE_LIMIT (1 << 22)

static const struct json_value *first_of(const struct json_value *json, const char *key)
{
	const struct json_value *list = json_value__member(json, key);

	return list && list->type == JSON_ARRAY ? list->first : NULL;
}

/*
 * Sorts the items of a list of the file from index `from` on, and drops those that are there twice.
 * Returns how many are left.
 */
static size_t keep_new(struct node_file *file, void *items, size_t size, size_t *count, size_t from,
		       int (*compare)(const void *one, const void *other))
{
	size_t added = *count - from, kept = 0;

	if (added)
		kept = array__keep_distinct((char *)items + from * size, added, size, compare);
	file->left_out += added - kept;
	*count = from + kept;
	return kept;
}

/* --- ranks --- */

static int by_rank(const void *one, const void *other)
{
	int32_t a = ((const struct nccl_node_rank *)one)->rank;
	int32_t b = ((const struct nccl_node_rank *)other)->rank;

	return (a > b) - (a < b);
}

static int read_ranks(struct node_file *file, const struct json_value *json,
		      struct nccl_node_comm *comm)
{
	size_t from = file->rank_count;

	for (json = first_of(json, "ranks"); json; json = json->next) {
		struct nccl_node_rank rank = {
			.rank = json_members__small(json, "rank", SIZE_LIMIT, -1),
			.pid = json_members__small(json, "pid", INT32_MAX, 0),
			.device = json_members__small(json, "gpu", 1 << 16, -1),
			.state = json_value__string(json, "state"),
			.where = json_value__string(json, "where"),
		};

		if (rank.rank < 0) {
			file->unknown++;
			continue;
		}
		if (file->rank_count >= NODE_RANKS_MAX || (comm->size && rank.rank >= comm->size) ||
		    !json_members__count(json, "sequence", &rank.sequence)) {
			file->left_out++;
			continue;
		}
		if (ARRAY_APPEND(file->ranks, file->rank_count, rank))
			return -ENOMEM;
	}
	comm->rank_count =
		keep_new(file, file->ranks, sizeof(*file->ranks), &file->rank_count, from, by_rank);
	return 0;
}

/* --- arrivals --- */

static int by_sequence(const void *one, const void *other)
{
	uint64_t a = ((const struct nccl_arrival *)one)->sequence;
	uint64_t b = ((const struct nccl_arrival *)other)->sequence;

	return (a > b) - (a < b);
}

static int read_arrivals(struct node_file *file, const struct json_value *json,
			 struct nccl_node_comm *comm)
{
	size_t from = file->arrival_count;

	for (json = first_of(json, "arrivals"); json; json = json->next) {
		struct nccl_arrival arrival = {0};
		uint64_t ranks = 0;

		if (file->arrival_count >= NODE_ARRIVALS_MAX ||
		    !json_members__count(json, "sequence", &arrival.sequence) ||
		    !json_members__count(json, "first_ns", &arrival.first_ns) ||
		    !json_members__count(json, "last_ns", &arrival.last_ns)) {
			file->left_out++;
			continue;
		}
		json_members__count(json, "done_ns", &arrival.done_ns);
		json_members__count(json, "ranks", &ranks);
		arrival.ranks = (size_t)ranks;
		if (ARRAY_APPEND(file->arrivals, file->arrival_count, arrival))
			return -ENOMEM;
	}
	comm->arrival_count = keep_new(file, file->arrivals, sizeof(*file->arrivals),
				       &file->arrival_count, from, by_sequence);
	return 0;
}

/* --- communicators --- */

static int read_comm(struct node_file *file, const struct json_value *json)
{
	struct nccl_node_comm comm = {
		.size = json_members__small(json, "size", SIZE_LIMIT, 0),
		.name = json_value__string(json, "name"),
		.aligned = json_value__is_true(json, "aligned"),
	};
	int ret;

	if (!json_members__hash(json, "hash", &comm.hash)) {
		file->unknown++;
		return 0;
	}
	if (file->node.comm_count >= NODE_COMMS_MAX) {
		file->left_out++;
		return 0;
	}
	ret = read_ranks(file, json, &comm);
	if (!ret)
		ret = read_arrivals(file, json, &comm);
	return ret ? ret : ARRAY_APPEND(file->comms, file->node.comm_count, comm);
}

/* Gives each communicator its part of the arrays, in the order in which they were read. */
static void set_pointers(struct node_file *file)
{
	size_t ranks = 0, arrivals = 0;

	for (size_t i = 0; i < file->node.comm_count; i++) {
		struct nccl_node_comm *comm = &file->comms[i];

		comm->ranks = file->ranks ? file->ranks + ranks : NULL;
		comm->arrivals = file->arrivals ? file->arrivals + arrivals : NULL;
		ranks += comm->rank_count;
		arrivals += comm->arrival_count;
	}
	file->node.comms = file->comms;
}

static uint64_t latest(const struct nccl_node_comm *comm)
{
	return comm->arrival_count ? comm->arrivals[comm->arrival_count - 1].last_ns : 0;
}

/* Older versions of NCCL give two splits of a colour the same hash: the one in use stays. */
static void keep_comms(struct node_file *file)
{
	size_t count = file->node.comm_count, kept = 0;

	if (count)
		qsort(file->comms, count, sizeof(*file->comms), nccl_node_comm__order);
	for (size_t i = 0; i < count; i++) {
		if (!kept || nccl_node_comm__order(&file->comms[i], &file->comms[kept - 1]))
			file->comms[kept++] = file->comms[i];
		else if (latest(&file->comms[i]) > latest(&file->comms[kept - 1]))
			file->comms[kept - 1] = file->comms[i];
	}
	file->left_out += count - kept;
	file->node.comm_count = kept;
}

int node_file__read(struct node_file *file, const struct json_value *json, const char *path,
		    struct error *err)
{
	const struct json_value *comms = json_value__member(json, "communicators");
	const char *host = json_value__string(json, "host");
	int ret = 0;

	*file = (struct node_file){.node = {.name = host && *host ? host : path}};
	if (!comms || comms->type != JSON_ARRAY ||
	    !json_members__count(json, "period_end_ns", &file->node.end_ns))
		return error__set(err, -EINVAL, "%s is no report of gpuprobe nccl --json", path);
	for (json = comms->first; json && !ret; json = json->next)
		ret = read_comm(file, json);
	if (ret)
		return error__set(err, ret, "%s: out of memory", path);
	set_pointers(file);
	keep_comms(file);
	return 0;
}

void node_file__clear(struct node_file *file)
{
	free(file->comms);
	free(file->ranks);
	free(file->arrivals);
	*file = (struct node_file){0};
}
