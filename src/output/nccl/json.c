// SPDX-License-Identifier: BSD-2-Clause
// Communicators and findings as JSON. An unknown number is null.
#include <inttypes.h>
#include <stdio.h>

#include "output/nccl/nccl.h"
#include "output/nccl/ras.h"

static void write_hash(struct json *json, const struct nccl_comm *comm)
{
	if (comm->known && !comm->guessed)
		json__key_hex(json, "hash", comm->hash);
	else
		json__key_string(json, "hash", NULL);
}

static const char *state_word(enum nccl_rank_state state)
{
	static const char *const words[] = {"creating",	 "live",    "finalized",
					    "destroyed", "aborted", "dead"};

	return words[state];
}

static void write_rank(struct json *json, const struct nccl_rank *rank)
{
	json__object_begin(json);
	json__key_known_i64(json, "rank", rank->rank, rank->rank >= 0);
	json__key_i64(json, "pid", rank->process->key.pid);
	json__key_known_i64(json, "gpu", rank->device, rank->device >= 0);
	json__key_string(json, "state", state_word(rank->state));
	json__key_u64(json, "sequence", rank->sequence);
	json__key_u64(json, "captured", rank->captured);
	json__key_u64(json, "sends", rank->sends);
	json__key_u64(json, "receives", rank->receives);
	json__key_u64(json, "sent_bytes", rank->sent_bytes);
	json__key_u64(json, "received_bytes", rank->received_bytes);
	json__key_u64(json, "failed", rank->failed);
	json__key_i64(json, "error", rank->error);
	json__key_u64(json, "compared", rank->compared);
	json__key_u64(json, "late", rank->late);
	json__key_u64(json, "late_ns", rank->late_ns);
	json__key(json, "lateness");
	json__array_begin(json);
	for (size_t i = 0; i < NCCL_LATE_BUCKETS; i++)
		json__u64(json, rank->lateness[i]);
	json__array_end(json);
	json__key_known_text(json, "where", rank->process->where);
	json__key_known_text(json, "waits", rank->process->waits);
	json__key_u64(json, "looks", rank->process->looks);
	json__key_u64(json, "looks_there", rank->process->looks_there);
	json__object_end(json);
}

static void write_collectives(struct json *json, const struct nccl_comm *comm)
{
	json__key(json, "collectives");
	json__object_begin(json);
	for (unsigned int i = 0; i < NCCL_BCAST; i++)
		if (comm->collectives[i])
			json__key_u64(json, nccl_function__word(i), comm->collectives[i]);
	json__object_end(json);
}

/* The latest collectives with their times: nodes are joined by them. */
static void write_arrivals(struct json *json, const struct nccl_comm *comm)
{
	uint64_t first_ns, last_ns, done_ns, from = 1;
	size_t arrived;

	if (comm->sequence > NCCL_RECENT)
		from = comm->sequence - NCCL_RECENT + 1;
	json__key(json, "arrivals");
	json__array_begin(json);
	for (uint64_t sequence = from; sequence <= comm->sequence; sequence++) {
		if (!nccl_comm__arrivals(comm, sequence, &first_ns, &last_ns, &done_ns, &arrived))
			continue;
		json__object_begin(json);
		json__key_u64(json, "sequence", sequence);
		json__key_u64(json, "first_ns", first_ns);
		json__key_u64(json, "last_ns", last_ns);
		json__key_known_i64(json, "done_ns", (int64_t)done_ns, done_ns != 0);
		json__key_u64(json, "ranks", arrived);
		json__object_end(json);
	}
	json__array_end(json);
}

static void write_comm(struct json *json, const struct nccl_comm *comm)
{
	const struct nccl_rank *rank;

	json__object_begin(json);
	write_hash(json, comm);
	json__key_u64(json, "number", comm->number);
	json__key_known_text(json, "name", comm->name);
	json__key_known_i64(json, "size", comm->size, comm->size > 0);
	json__key_u64(json, "seen", comm->seen);
	json__key_bool(json, "aligned", comm->aligned);
	json__key_u64(json, "sequence", comm->sequence);
	write_collectives(json, comm);
	json__key_u64(json, "bytes", comm->bytes);
	json__key_u64(json, "period_collectives", comm->period_collectives);
	json__key_u64(json, "period_bytes", comm->period_bytes);
	json__key_known_double(json, "at_least_bytes_per_second", comm->at_least,
			       comm->at_least > 0);
	json__key(json, "ranks");
	json__array_begin(json);
	for (size_t i = 0; (rank = nccl_comm__rank(comm, i)); i++)
		write_rank(json, rank);
	json__array_end(json);
	write_arrivals(json, comm);
	json__object_end(json);
}

static void write_operation(struct json *json, const char *key,
			    const struct nccl_operation *operation)
{
	json__key(json, key);
	json__object_begin(json);
	json__key_string(json, "function", nccl_function__word(operation->function));
	json__key_u64(json, "count", operation->count);
	json__key_string(json, "type", nccl_datatype__word(operation->datatype));
	json__key_string(json, "op",
			 nccl_function__has_op(operation->function) ? nccl_op__word(operation->op) :
								      NULL);
	json__key_known_i64(json, "root", operation->root,
			    nccl_function__has_root(operation->function));
	json__object_end(json);
}

static void write_blamed(struct json *json, const struct nccl_finding *finding)
{
	json__key(json, "ranks");
	json__array_begin(json);
	for (size_t i = 0; i < finding->rank_count; i++)
		write_rank(json, finding->ranks[i]);
	json__array_end(json);
	json__key_u64(json, "rank_count", finding->blamed);
	json__key(json, "absent");
	json__array_begin(json);
	for (size_t i = 0; i < finding->absent_count; i++)
		json__i64(json, finding->absent[i]);
	json__array_end(json);
}

void nccl_output__finding_json(struct json *json, const struct nccl_finding *finding)
{
	json__object_begin(json);
	json__key_string(json, "id", nccl_verdict__word(finding->verdict));
	json__key_string(json, "severity", nccl_verdict__severity(finding->verdict));
	json__key_string(json, "cause", nccl_cause__word(finding->cause));
	json__key_u64(json, "communicator", finding->comm->number);
	write_hash(json, finding->comm);
	json__key_known_i64(json, "sequence", (int64_t)finding->sequence, finding->sequence != 0);
	if (finding->sequence && !finding->pair)
		write_operation(json, "operation", &finding->operation);
	if (finding->verdict == NCCL_MISMATCH && !finding->pair)
		write_operation(json, "other", &finding->other);
	if (finding->pair) {
		json__key_i64(json, "from", finding->pair->from);
		json__key_i64(json, "to", finding->pair->to);
	}
	json__key_u64(json, "ns", finding->ns);
	json__key_u64(json, "waiting", finding->waiting);
	json__key_u64(json, "late", finding->late);
	json__key_u64(json, "compared", finding->compared);
	json__key_double(json, "share", finding->share);
	json__key_i64(json, "error", finding->error);
	write_blamed(json, finding);
	json__key(json, "ras");
	if (finding->opinion)
		nccl_ras_json__print(json, finding->opinion);
	else
		json__null(json);
	json__object_end(json);
}

static void write_losses(struct json *json, const struct nccl_losses *losses,
			 const struct nccl_findings *findings)
{
	json__key(json, "lost");
	json__object_begin(json);
	json__key_u64(json, "no_room", losses->no_room);
	json__key_u64(json, "unmatched", losses->unmatched);
	json__key_u64(json, "invalid", losses->invalid);
	json__key_u64(json, "unended", losses->unended);
	json__key_u64(json, "stray_ends", losses->stray_ends);
	json__key_u64(json, "forgotten", losses->forgotten);
	json__key_u64(json, "findings", findings->left_out);
	json__object_end(json);
}

void nccl_output__json(struct json *json, const struct nccl_jobs *jobs,
		       const struct nccl_findings *findings, uint64_t now_ns)
{
	const struct nccl_losses losses = nccl_jobs__losses(jobs);
	const struct nccl_comm *comm = NULL;

	json__key_u64(json, "period_start_ns", nccl_jobs__period_start(jobs));
	json__key_u64(json, "period_end_ns", now_ns);
	json__key(json, "communicators");
	json__array_begin(json);
	while ((comm = nccl_jobs__next(jobs, comm)))
		write_comm(json, comm);
	json__array_end(json);
	json__key(json, "findings");
	json__array_begin(json);
	for (size_t i = 0; i < findings->count; i++)
		nccl_output__finding_json(json, &findings->items[i]);
	json__array_end(json);
	write_losses(json, &losses, findings);
}
