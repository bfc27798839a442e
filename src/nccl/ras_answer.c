// SPDX-License-Identifier: BSD-2-Clause
// Reads an answer of NCCL's RAS service, see ras_answer.h.
#include "nccl/ras_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_reader.h"
#include "nccl/comm_memory.h"
#include "nccl/json_members.h"

struct ras_answer {
	char *text;
	struct json_document *document;
	struct ras_comm *comms;
	struct ras_rank *ranks; /* of all communicators, in the order in which they were read */
	size_t comm_count, rank_count, left_out;
};

void ras_answer__free(struct ras_answer *answer)
{
	if (!answer)
		return;
	json_document__free(answer->document);
	free(answer->text);
	free(answer->comms);
	free(answer->ranks);
	free(answer);
}

/* --- ranks --- */

/* The counts of all functions. */
static uint64_t sum_collectives(const struct json_value *rank)
{
	const struct json_value *counts = json_value__member(rank, "collective_counts");
	uint64_t sum = 0, count;

	if (!counts || counts->type != JSON_OBJECT)
		return 0;
	for (counts = counts->first; counts; counts = counts->next)
		if (json_members__whole(counts, &count) && __builtin_add_overflow(sum, count, &sum))
			return UINT64_MAX;
	return sum;
}

static struct ras_rank read_rank(const struct json_value *json, bool is_missing)
{
	const struct json_value *status = json_value__member(json, "status");
	struct ras_rank rank = {
		.rank = json_members__small(json, "rank", COMM_SIZE_MAX, -1),
		.host = json_value__string(json, "host"),
		.pid = json_members__small(json, "pid", INT32_MAX, 0),
		.device = json_members__small(json, "cuda_dev", 1 << 16, NCCL_DEVICE_UNKNOWN),
	};

	rank.host = rank.host ? rank.host : "unknown";
	if (is_missing) {
		rank.state = json_value__is_true(status, "considered_dead") ? RAS_DEAD :
			     json_value__is_true(status, "unresponsive")    ? RAS_UNRESPONSIVE :
									      RAS_ABSENT;
		return rank;
	}
	rank.async_error = json_members__small(status, "async_error", 1 << 16, 0);
	rank.finalized = json_value__is_true(status, "finalize_called");
	rank.destroyed = json_value__is_true(status, "destroy_flag");
	rank.aborted = json_value__is_true(status, "abort_flag");
	rank.collectives = sum_collectives(json);
	return rank;
}

static int read_ranks(struct ras_answer *answer, const struct json_value *list, bool is_missing,
		      int32_t size)
{
	if (!list || list->type != JSON_ARRAY)
		return 0;
	for (const struct json_value *json = list->first; json; json = json->next) {
		struct ras_rank rank = read_rank(json, is_missing);

		if (rank.rank < 0 || rank.rank >= size || answer->rank_count >= RAS_RANKS_MAX) {
			answer->left_out++;
			continue;
		}
		if (ARRAY_APPEND(answer->ranks, answer->rank_count, rank))
			return -ENOMEM;
	}
	return 0;
}

/* --- communicators --- */

static int read_comm(struct ras_answer *answer, const struct json_value *json)
{
	struct ras_comm comm = {.size = json_members__small(json, "size", COMM_SIZE_MAX, 0)};
	size_t before = answer->rank_count;
	int ret;

	if (!json_members__hash(json, "hash", &comm.hash) || !comm.size ||
	    answer->comm_count >= RAS_COMMS_MAX) {
		answer->left_out++;
		return 0;
	}
	ret = read_ranks(answer, json_value__member(json, "ranks"), false, comm.size);
	if (!ret)
		ret = read_ranks(answer, json_value__member(json, "missing_ranks"), true,
				 comm.size);
	comm.rank_count = answer->rank_count - before;
	return ret ? ret : ARRAY_APPEND(answer->comms, answer->comm_count, comm);
}

static int by_rank(const void *one, const void *other)
{
	int32_t a = ((const struct ras_rank *)one)->rank,
		b = ((const struct ras_rank *)other)->rank;

	return (a > b) - (a < b);
}

static int by_hash(const void *one, const void *other)
{
	const struct ras_comm *a = one, *b = other;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

/* The arrays are complete: each communicator gets its part. */
static void sort(struct ras_answer *answer)
{
	size_t at = 0;

	for (size_t i = 0; i < answer->comm_count; i++) {
		struct ras_comm *comm = &answer->comms[i];

		if (comm->rank_count)
			qsort(answer->ranks + at, comm->rank_count, sizeof(*answer->ranks),
			      by_rank);
		comm->ranks = comm->rank_count ? answer->ranks + at : NULL;
		at += comm->rank_count;
	}
	if (answer->comm_count)
		qsort(answer->comms, answer->comm_count, sizeof(*answer->comms), by_hash);
}

static int read_document(struct ras_answer *answer, size_t length, struct error *err)
{
	const struct json_value *comms;
	char *at = answer->text;
	int ret = json_document__parse(&at, at + length, &answer->document, err);

	if (ret)
		return error__prefix(err, ret, "RAS");
	comms = json_value__member(json_document__value(answer->document), "communicators");
	if (!comms || comms->type != JSON_ARRAY)
		return error__set(err, -EINVAL, "RAS: the answer has no list of communicators");
	for (comms = comms->first; comms && !ret; comms = comms->next)
		ret = read_comm(answer, comms);
	return ret ? error__set(err, ret, "RAS: out of memory") : 0;
}

int ras_answer__read(char *text, size_t length, struct ras_answer **out, struct error *err)
{
	struct ras_answer *answer = calloc(1, sizeof(*answer));
	int ret;

	if (!answer) {
		free(text);
		return error__set(err, -ENOMEM, "RAS: out of memory");
	}
	answer->text = text;
	ret = read_document(answer, length, err);
	if (ret) {
		ras_answer__free(answer);
		return ret;
	}
	sort(answer);
	*out = answer;
	return 0;
}

const struct ras_comm *ras_answer__comms(const struct ras_answer *answer, size_t *count)
{
	*count = answer->comm_count;
	return answer->comms;
}

const struct ras_comm *ras_answer__find(const struct ras_answer *answer, uint64_t hash,
					int32_t size)
{
	const struct ras_comm key = {.hash = hash, .size = size};

	return answer->comm_count ? bsearch(&key, answer->comms, answer->comm_count,
					    sizeof(*answer->comms), by_hash) :
				    NULL;
}

size_t ras_answer__left_out(const struct ras_answer *answer)
{
	return answer->left_out;
}
