// SPDX-License-Identifier: BSD-2-Clause
// Joined nodes as JSON. An unknown number is null.
#include "base/json.h"
#include "output/nccl/join.h"

static void write_node(struct json *json, const struct node_file *file,
		       const struct nccl_offset *offset)
{
	bool bounded = offset->known && offset->error_ns <= INT64_MAX;

	json__object_begin(json);
	json__key_string(json, "name", file->node.name);
	json__key_known_i64(json, "offset_ns", offset->ns, offset->known);
	json__key_known_i64(json, "error_ns", (int64_t)offset->error_ns, bounded);
	json__key_u64(json, "collectives", offset->collectives);
	json__key_u64(json, "unknown", file->unknown);
	json__key_u64(json, "left_out", file->left_out);
	json__object_end(json);
}

static void write_behind(struct json *json, const struct nccl_behind *behind)
{
	json__object_begin(json);
	json__key_u64(json, "node", behind->node);
	json__key_i64(json, "rank", behind->rank.rank);
	json__key_i64(json, "pid", behind->rank.pid);
	json__key_known_i64(json, "gpu", behind->rank.device, behind->rank.device >= 0);
	json__key_u64(json, "sequence", behind->rank.sequence);
	json__key_string(json, "state", behind->rank.state);
	json__key_string(json, "where", behind->rank.where);
	json__key_u64(json, "waited_ns", behind->waited_ns);
	json__object_end(json);
}

/* The node that comes last most often; null: unknown, or the clocks do not tell. */
static void write_latest(struct json *json, const struct nccl_joined *comm)
{
	json__key(json, "latest");
	if (!comm->compared) {
		json__null(json);
		return;
	}
	json__object_begin(json);
	json__key_u64(json, "node", comm->late_node);
	json__key_u64(json, "late", comm->late);
	json__key_u64(json, "compared", comm->compared);
	json__key_u64(json, "ns", comm->late_ns);
	json__object_end(json);
}

static void write_comm(struct json *json, const struct nccl_joined *comm)
{
	json__object_begin(json);
	json__key_hex(json, "hash", comm->hash);
	json__key_string(json, "name", comm->name);
	json__key_known_i64(json, "size", comm->size, comm->size > 0);
	json__key_bool(json, "aligned", comm->aligned);
	json__key_u64(json, "nodes", comm->nodes);
	json__key_u64(json, "seen", comm->seen);
	json__key_u64(json, "duplicates", comm->duplicates);
	json__key_u64(json, "sequence", comm->sequence);
	write_latest(json, comm);
	json__key(json, "behind");
	json__array_begin(json);
	for (size_t i = 0; i < comm->behind_count; i++)
		write_behind(json, &comm->behind[i]);
	json__array_end(json);
	json__key_u64(json, "behind_count", comm->behind_total);
	json__object_end(json);
}

void nccl_join_json__print(FILE *out, const struct nccl_join_report *report)
{
	struct json json;

	json__init(&json, out);
	json__object_begin(&json);
	json__key_string(&json, "schema", NCCL_JOIN_JSON_SCHEMA);
	json__key(&json, "nodes");
	json__array_begin(&json);
	for (size_t i = 0; i < report->file_count; i++)
		write_node(&json, &report->files[i], &report->offsets[i]);
	json__array_end(&json);
	json__key(&json, "communicators");
	json__array_begin(&json);
	for (size_t i = 0; i < report->comm_count; i++)
		write_comm(&json, &report->comms[i]);
	json__array_end(&json);
	json__object_end(&json);
	fputc('\n', out);
}
