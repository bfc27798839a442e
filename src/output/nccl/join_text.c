// SPDX-License-Identifier: BSD-2-Clause
// Joined nodes as text: how the clocks relate, a line for each communicator, and the ranks that are
// behind with what they do.
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "output/nccl/join.h"

#define INDENT "    "

static void print_node(FILE *out, const struct nccl_join_report *report, size_t node)
{
	escape__text(out, report->files[node].node.name);
}

/* "clock of node-b: 12.3 ms behind node-a, known to 40 us by 30 collectives" */
static void print_clock(FILE *out, const struct nccl_join_report *report, size_t node)
{
	const struct nccl_offset *offset = &report->offsets[node];
	double ns = (double)offset->ns;

	fputs("clock of ", out);
	print_node(out, report, node);
	if (!offset->known) {
		fputs(": unknown, because it shares no collective with the others\n", out);
		return;
	}
	fprintf(out, ": %s%s %s ", offset->error_ns == UINT64_MAX ? "about " : "",
		quantity__time(ns < 0 ? -ns : ns).text, ns < 0 ? "ahead of" : "behind");
	print_node(out, report, 0);
	if (offset->error_ns == UINT64_MAX)
		fprintf(out, ", guessed from %s collective%s\n",
			quantity__count(offset->collectives).text,
			offset->collectives == 1 ? "" : "s");
	else
		fprintf(out, ", known to %s\n", quantity__time((double)offset->error_ns).text);
}

static void print_ranks(FILE *out, const struct nccl_joined *comm)
{
	if (comm->size)
		fprintf(out, " %" PRId32 " rank%s, ", comm->size, comm->size == 1 ? "" : "s");
	else
		fputs(" unknown size, ", out);
	fprintf(out, "%zu seen on %zu node%s", comm->seen, comm->nodes,
		comm->nodes == 1 ? "" : "s");
	if (comm->duplicates)
		fprintf(out, ", %zu claimed twice", comm->duplicates);
}

static void print_comm(FILE *out, const struct nccl_join_report *report,
		       const struct nccl_joined *comm)
{
	fprintf(out, "comm 0x%" PRIx64, comm->hash);
	if (comm->name) {
		fputs(" \"", out);
		escape__text(out, comm->name);
		fputc('"', out);
	}
	print_ranks(out, comm);
	if (comm->aligned)
		fprintf(out, "   %s collective%s", quantity__count(comm->sequence).text,
			comm->sequence == 1 ? "" : "s");
	else
		fputs("   counted since attach: nodes do not compare", out);
	if (comm->compared) {
		fputs("   ", out);
		print_node(out, report, comm->late_node);
		fprintf(out, " comes last to %zu of ", comm->late);
		fprintf(out, "%zu, %s after the others", comm->compared,
			quantity__time((double)comm->late_ns).text);
	}
	fputc('\n', out);
}

static void print_behind(FILE *out, const struct nccl_join_report *report,
			 const struct nccl_behind *behind)
{
	const struct nccl_node_rank *rank = &behind->rank;

	fprintf(out, INDENT "rank %" PRId32 " (", rank->rank);
	print_node(out, report, behind->node);
	fprintf(out, ", pid %" PRId32, rank->pid);
	if (rank->device >= 0)
		fprintf(out, ", GPU %" PRId32, rank->device);
	fprintf(out, ") never came to collective %s", quantity__count(rank->sequence + 1).text);
	fprintf(out, ": others have waited for %s", quantity__time((double)behind->waited_ns).text);
	if (rank->state && strcmp(rank->state, "live")) {
		fputs("; its state: ", out);
		escape__text(out, rank->state);
	}
	fputc('\n', out);
	if (!rank->where)
		return;
	fprintf(out, INDENT "rank %" PRId32 " is in    ", rank->rank);
	escape__text(out, rank->where);
	fputc('\n', out);
}

static void print_left_out(FILE *out, const struct nccl_join_report *report)
{
	for (size_t i = 0; i < report->file_count; i++) {
		const struct node_file *file = &report->files[i];

		if (file->unknown) {
			print_node(out, report, i);
			fprintf(out, ": %s unidentified communicator%s or rank%s left out\n",
				quantity__count(file->unknown).text, file->unknown == 1 ? "" : "s",
				file->unknown == 1 ? "" : "s");
		}
		if (file->left_out) {
			fputs("lost: ", out);
			print_node(out, report, i);
			fprintf(out, ": %s entr%s impossible, repeated or too many\n",
				quantity__count(file->left_out).text,
				file->left_out == 1 ? "y that is" : "ies that are");
		}
	}
}

void nccl_join_text__print(FILE *out, const struct nccl_join_report *report)
{
	for (size_t i = 1; i < report->file_count; i++)
		print_clock(out, report, i);
	if (report->file_count > 1)
		fputc('\n', out);
	if (!report->comm_count)
		fputs("no communicator of known identity\n", out);
	for (size_t i = 0; i < report->comm_count; i++) {
		const struct nccl_joined *comm = &report->comms[i];

		print_comm(out, report, comm);
		for (size_t j = 0; j < comm->behind_count; j++)
			print_behind(out, report, &comm->behind[j]);
		if (comm->behind_total > comm->behind_count)
			fprintf(out, INDENT "%zu more never came\n",
				comm->behind_total - comm->behind_count);
	}
	print_left_out(out, report);
}
