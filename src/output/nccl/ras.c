// SPDX-License-Identifier: BSD-2-Clause
// A second opinion from RAS as text and as JSON.
#include "output/nccl/ras.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/quantity.h"

#define INDENT "    "

static const char *why(const struct ras_rank *rank)
{
	switch (rank->state) {
	case RAS_UNRESPONSIVE: return "does not answer";
	case RAS_DEAD: return "is considered dead";
	case RAS_ABSENT: return "does not have this communicator";
	default:
		return rank->aborted   ? "has aborted it" :
		       rank->destroyed ? "has destroyed it" :
		       rank->finalized ? "has finalized it" :
					 NULL;
	}
}

static void print_rank(FILE *out, const struct ras_opinion *opinion, const struct ras_rank *rank)
{
	const char *reason = why(rank);

	fprintf(out, INDENT "RAS: rank %" PRId32 " (", rank->rank);
	escape__text(out, rank->host);
	if (rank->pid)
		fprintf(out, ", pid %" PRId32, rank->pid);
	if (rank->device >= 0)
		fprintf(out, ", GPU %" PRId32, rank->device);
	fprintf(out, ") %s", reason ? reason : "");
	if (rank->state == RAS_ANSWERS) {
		fprintf(out, "%shas enqueued %s of ", reason ? "; " : "",
			quantity__count(rank->collectives).text);
		fprintf(out, "%s collectives", quantity__count(opinion->collectives).text);
	}
	fputc('\n', out);
}

void nccl_ras_text__print(FILE *out, const struct ras_opinion *opinion)
{
	if (!opinion->blamed_total)
		fprintf(out, INDENT "RAS: all %zu ranks answer and have enqueued %s collectives\n",
			opinion->ranks, quantity__count(opinion->collectives).text);
	for (size_t i = 0; i < opinion->blamed_count; i++)
		print_rank(out, opinion, &opinion->blamed[i]);
	if (opinion->blamed_total > opinion->blamed_count)
		fprintf(out, INDENT "RAS: %zu more\n",
			opinion->blamed_total - opinion->blamed_count);
}

static void write_rank(struct json *json, const struct ras_rank *rank)
{
	static const char *const states[] = {
		[RAS_ANSWERS] = "answers",
		[RAS_UNRESPONSIVE] = "unresponsive",
		[RAS_DEAD] = "dead",
		[RAS_ABSENT] = "absent",
	};

	json__object_begin(json);
	json__key_i64(json, "rank", rank->rank);
	json__key_string(json, "host", rank->host);
	json__key_known_i64(json, "pid", rank->pid, rank->pid);
	json__key_string(json, "state", states[rank->state]);
	json__key_known_u64(json, "collectives", rank->collectives, rank->state == RAS_ANSWERS);
	json__key_i64(json, "async_error", rank->async_error);
	json__object_end(json);
}

void nccl_ras_json__print(struct json *json, const struct ras_opinion *opinion)
{
	json__object_begin(json);
	json__key_u64(json, "ranks", opinion->ranks);
	json__key_u64(json, "answering", opinion->answering);
	json__key_u64(json, "collectives", opinion->collectives);
	json__key(json, "blamed");
	json__array_begin(json);
	for (size_t i = 0; i < opinion->blamed_count; i++)
		write_rank(json, &opinion->blamed[i]);
	json__array_end(json);
	json__key_u64(json, "blamed_count", opinion->blamed_total);
	json__object_end(json);
}
