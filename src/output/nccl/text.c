// SPDX-License-Identifier: BSD-2-Clause
// A line for each communicator, then the findings.
#include <inttypes.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "output/nccl/nccl.h"
#include "output/nccl/parts.h"

void nccl_text__comm(FILE *out, const struct nccl_comm *comm)
{
	if (comm->known && !comm->guessed)
		fprintf(out, "comm 0x%" PRIx64, comm->hash);
	else
		fprintf(out, "comm #%" PRIu32, comm->number);
	if (!comm->name[0])
		return;
	fputs(" \"", out);
	escape__text(out, comm->name);
	fputc('"', out);
}

void nccl_text__rank(FILE *out, const struct nccl_rank *rank)
{
	if (rank->rank >= 0)
		fprintf(out, "rank %" PRId32, rank->rank);
	else
		fputs("rank unknown", out);
	fprintf(out, " (pid %" PRId32, rank->process->key.pid);
	if (rank->device >= 0)
		fprintf(out, ", GPU %" PRId32, rank->device);
	fputc(')', out);
}

void nccl_text__operation(FILE *out, const struct nccl_operation *operation)
{
	const char *type = nccl_datatype__word(operation->datatype);

	fprintf(out, "%s %s x %s", nccl_function__word(operation->function),
		type ? type : "unknown type", quantity__count(operation->count).text);
	if (nccl_function__has_op(operation->function) && operation->op)
		fprintf(out, " %s", nccl_op__word(operation->op));
	if (nccl_function__has_root(operation->function))
		fprintf(out, " root %" PRId32, operation->root);
}

static void print_seen(FILE *out, const struct nccl_comm *comm)
{
	if (comm->size)
		fprintf(out, " %" PRId32 " rank%s, %zu seen here", comm->size,
			comm->size == 1 ? "" : "s", comm->seen);
	else
		fprintf(out, " unknown size, %zu rank%s seen here", comm->seen,
			comm->seen == 1 ? "" : "s");
	if (comm->ended == comm->seen)
		fputs(", ended", out);
	else if (comm->ended)
		fprintf(out, ", %zu ended", comm->ended);
}

static uint64_t sum_collectives(const struct nccl_comm *comm)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NCCL_COLLECTIVES; i++)
		sum += comm->collectives[i];
	return sum;
}

static void print_idle(FILE *out, const struct nccl_comm *comm)
{
	uint64_t sum = sum_collectives(comm);

	fputs("   no collectives", out);
	if (sum)
		fprintf(out, " since the last report, %s before", quantity__count(sum).text);
}

/* The greatest number of captured collectives of a rank. */
static uint64_t most_captured(const struct nccl_comm *comm)
{
	const struct nccl_rank *rank;
	uint64_t most = 0;

	for (size_t i = 0; (rank = nccl_comm__rank(comm, i)); i++)
		most = rank->captured > most ? rank->captured : most;
	return most;
}

static void print_work(FILE *out, const struct nccl_jobs *jobs, const struct nccl_comm *comm,
		       uint64_t now_ns)
{
	uint64_t from_ns = nccl_jobs__period_start(jobs), captured = most_captured(comm);
	double seconds;

	if (comm->first_ns > from_ns)
		from_ns = comm->first_ns;
	seconds = now_ns > from_ns ? (double)(now_ns - from_ns) / 1e9 : 0;
	if (comm->period_collectives && seconds > 0) {
		fprintf(out, "   %s %s", nccl_function__word(comm->frequent),
			quantity__rate((double)comm->period_collectives / seconds).text);
		fprintf(out, "  %s issued",
			quantity__bandwidth((double)comm->period_bytes / seconds).text);
	} else {
		print_idle(out, comm);
	}
	if (comm->at_least > 0)
		fprintf(out, ", at least %s", quantity__bandwidth(comm->at_least).text);
	if (captured)
		fprintf(out, "   %s captured", quantity__amount((double)captured).text);
}

static void print_late(FILE *out, const struct nccl_comm *comm,
		       const struct nccl_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct nccl_finding *finding = &findings->items[i];

		if (finding->verdict != NCCL_STRAGGLER || finding->comm != comm)
			continue;
		fprintf(out, "   rank %" PRId32 " late: %s of ", finding->ranks[0]->rank,
			quantity__share(finding->share).text);
		fprintf(out, "%s collectives, ", quantity__count(finding->compared).text);
		fprintf(out, "%s each", quantity__time((double)finding->ns).text);
	}
}

static void print_losses(FILE *out, const struct nccl_jobs *jobs,
			 const struct nccl_findings *findings)
{
	const struct nccl_losses losses = nccl_jobs__losses(jobs);
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
		{losses.no_room, "calls without room for their communicator"},
		{losses.unmatched, "collectives too far behind the others to compare"},
		{losses.invalid, "calls with impossible operands"},
		{losses.unended, "calls without an end"},
		{losses.stray_ends, "ends without a call"},
		{losses.forgotten, "ended communicators dropped"},
		{findings->left_out, "findings left out"},
	};
	const char *before = "lost: ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].count)
			continue;
		fprintf(out, "%s%s %s", before, quantity__count(parts[i].count).text,
			parts[i].what);
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

void nccl_output__text(FILE *out, const struct nccl_jobs *jobs,
		       const struct nccl_findings *findings, uint64_t now_ns)
{
	const struct nccl_comm *comm = NULL;

	while ((comm = nccl_jobs__next(jobs, comm))) {
		nccl_text__comm(out, comm);
		print_seen(out, comm);
		print_work(out, jobs, comm, now_ns);
		print_late(out, comm, findings);
		fputc('\n', out);
	}
	for (size_t i = 0; i < findings->count; i++) {
		fputc('\n', out);
		nccl_output__finding(out, &findings->items[i]);
	}
	print_losses(out, jobs, findings);
}
