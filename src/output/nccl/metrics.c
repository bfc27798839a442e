// SPDX-License-Identifier: BSD-2-Clause
// Communicators and findings as metrics. Ranks and communicators that have ended are left out, and
// those beyond a maximum are counted.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/nccl/nccl.h"

#define MOST_SERIES 1024 /* ranks, and communicators */

struct page {
	struct exposition_writer *writer;
	struct metric_family family; /* that the writer is at */
	const struct nccl_jobs *jobs;
	uint64_t left_out;
};

static void begin(struct page *page, const char *name, enum metric_type type, const char *help)
{
	page->family = (struct metric_family){.name = name, .type = type, .help = help};
	exposition__family(page->writer, &page->family);
}

static void label_number(struct page *page, const char *name, int64_t value, bool known)
{
	char text[32] = "";

	if (known)
		snprintf(text, sizeof(text), "%" PRId64, value);
	exposition__label(page->writer, name, text);
}

/* Unknown labels are empty. */
static void label_comm(struct page *page, const struct nccl_comm *comm)
{
	char text[32];

	snprintf(text, sizeof(text), comm->known ? "0x%" PRIx64 : "#%" PRIu64,
		 comm->known ? comm->hash : comm->number);
	exposition__label(page->writer, "comm", text);
	label_number(page, "number", comm->number, true);
	exposition__label(page->writer, "name", comm->name);
}

static void label_rank(struct page *page, const struct nccl_rank *rank)
{
	label_number(page, "rank", rank->rank, rank->rank >= 0);
	label_number(page, "pid", rank->process->key.pid, true);
	label_number(page, "gpu", rank->device, rank->device >= 0);
}

typedef void (*comm_fn)(struct page *page, const struct nccl_comm *comm);
typedef void (*rank_fn)(struct page *page, const struct nccl_comm *comm,
			const struct nccl_rank *rank);

static void each_comm(struct page *page, comm_fn write)
{
	const struct nccl_comm *comm = NULL;
	size_t count = 0;

	while ((comm = nccl_jobs__next(page->jobs, comm)) && count < MOST_SERIES) {
		if (comm->ended == comm->seen)
			continue;
		count++;
		write(page, comm);
	}
}

static void each_rank(struct page *page, rank_fn write)
{
	const struct nccl_comm *comm = NULL;
	const struct nccl_rank *rank;
	size_t count = 0;

	page->left_out = 0;
	while ((comm = nccl_jobs__next(page->jobs, comm)))
		for (size_t i = 0; (rank = nccl_comm__rank(comm, i)); i++) {
			if (rank->state >= NCCL_RANK_DESTROYED)
				continue;
			if (count++ < MOST_SERIES)
				write(page, comm, rank);
			else
				page->left_out++;
		}
}

static void sample_rank(struct page *page, const struct nccl_comm *comm,
			const struct nccl_rank *rank)
{
	exposition__sample(page->writer);
	label_comm(page, comm);
	label_rank(page, rank);
}

static void write_sequence(struct page *page, const struct nccl_comm *comm,
			   const struct nccl_rank *rank)
{
	sample_rank(page, comm, rank);
	exposition__number(page->writer, rank->sequence);
}

static void write_captured(struct page *page, const struct nccl_comm *comm,
			   const struct nccl_rank *rank)
{
	sample_rank(page, comm, rank);
	exposition__number(page->writer, rank->captured);
}

static void write_late(struct page *page, const struct nccl_comm *comm,
		       const struct nccl_rank *rank)
{
	sample_rank(page, comm, rank);
	exposition__number(page->writer, rank->late_ns);
}

static void begin_part(struct page *page, const char *part, const struct nccl_comm *comm,
		       const struct nccl_rank *rank)
{
	exposition__part(page->writer, part);
	label_comm(page, comm);
	label_rank(page, rank);
}

/* Each bucket has those of the ones before it. */
static void write_lateness(struct page *page, const struct nccl_comm *comm,
			   const struct nccl_rank *rank)
{
	uint64_t sum = 0;
	char border[32];

	for (unsigned int i = 0; i < NCCL_LATE_BUCKETS; i++) {
		sum += rank->lateness[i];
		if (i + 1 < NCCL_LATE_BUCKETS)
			snprintf(border, sizeof(border), "%g",
				 (double)((uint64_t)NCCL_LATE_FIRST_NS << i) / 1e9);
		else
			strcpy(border, "+Inf");
		begin_part(page, "_bucket", comm, rank);
		exposition__label(page->writer, "le", border);
		exposition__count(page->writer, sum);
	}
	begin_part(page, "_sum", comm, rank);
	exposition__number(page->writer, rank->lateness_ns);
	begin_part(page, "_count", comm, rank);
	exposition__count(page->writer, sum);
}

static void write_ranks(struct page *page, const struct nccl_comm *comm)
{
	exposition__sample(page->writer);
	label_comm(page, comm);
	label_number(page, "size", comm->size, comm->size > 0);
	exposition__number(page->writer, comm->seen - comm->ended);
}

static void write_collectives(struct page *page, const struct nccl_comm *comm)
{
	for (unsigned int i = 0; i < NCCL_BCAST; i++) {
		if (!comm->collectives[i])
			continue;
		exposition__sample(page->writer);
		label_comm(page, comm);
		exposition__label(page->writer, "function", nccl_function__word(i));
		exposition__number(page->writer, comm->collectives[i]);
	}
}

static void write_bytes(struct page *page, const struct nccl_comm *comm)
{
	exposition__sample(page->writer);
	label_comm(page, comm);
	exposition__number(page->writer, comm->bytes);
}

static void write_findings(struct page *page, const struct nccl_findings *findings)
{
	begin(page, "gpuprobe_nccl_finding", METRIC_GAUGE,
	      "1 for each finding that holds now, with the first rank to blame.");
	for (size_t i = 0; i < findings->count; i++) {
		const struct nccl_finding *finding = &findings->items[i];
		const char *cause = nccl_cause__word(finding->cause);

		exposition__sample(page->writer);
		exposition__label(page->writer, "id", nccl_verdict__word(finding->verdict));
		exposition__label(page->writer, "cause", cause ? cause : "");
		label_comm(page, finding->comm);
		if (finding->rank_count)
			label_rank(page, finding->ranks[0]);
		exposition__number(page->writer, 1);
	}
}

static void write_losses(struct page *page, uint64_t lost_calls)
{
	const struct nccl_losses losses = nccl_jobs__losses(page->jobs);

	begin(page, "gpuprobe_nccl_lost_calls", METRIC_COUNTER,
	      "Calls that did not fit the buffers or the memory for their communicator.");
	exposition__sample(page->writer);
	exposition__number(page->writer, lost_calls + losses.no_room);
	begin(page, "gpuprobe_nccl_ranks_left_out", METRIC_GAUGE,
	      "Ranks without series, beyond 1,024.");
	exposition__sample(page->writer);
	exposition__number(page->writer, page->left_out);
}

void nccl_output__write_series(struct exposition_writer *writer, const struct nccl_jobs *jobs,
			       uint64_t lost_calls)
{
	struct page page = {.writer = writer, .jobs = jobs};

	begin(&page, "gpuprobe_nccl_ranks", METRIC_GAUGE,
	      "Ranks of the communicator that are seen here; size is that of the whole one.");
	each_comm(&page, write_ranks);
	begin(&page, "gpuprobe_nccl_collectives", METRIC_COUNTER,
	      "Collectives of the communicator, each counted once for all ranks.");
	each_comm(&page, write_collectives);
	begin(&page, "gpuprobe_nccl_issued_bytes", METRIC_COUNTER, "Bytes of these collectives.");
	each_comm(&page, write_bytes);
	begin(&page, "gpuprobe_nccl_sequence", METRIC_GAUGE,
	      "Number of the latest collective of the rank. Ranks of one communicator that stay "
	      "apart hang.");
	each_rank(&page, write_sequence);
	begin(&page, "gpuprobe_nccl_captured", METRIC_COUNTER,
	      "Collectives that the rank has captured into CUDA graphs.");
	each_rank(&page, write_captured);
	begin(&page, "gpuprobe_nccl_late_seconds", METRIC_COUNTER,
	      "Time by which the rank came later than the first one, while that waited for the "
	      "GPU.");
	each_rank(&page, write_late);
	begin(&page, "gpuprobe_nccl_lateness_seconds", METRIC_HISTOGRAM,
	      "How long after the first rank the rank came to collectives.");
	each_rank(&page, write_lateness);
	write_losses(&page, lost_calls);
}

void nccl_output__metrics(FILE *out, const struct nccl_jobs *jobs,
			  const struct nccl_findings *findings, uint64_t lost_calls,
			  enum exposition form)
{
	struct exposition_writer writer;
	struct page page = {.writer = &writer, .jobs = jobs};

	exposition__begin(&writer, out, form);
	nccl_output__write_series(&writer, jobs, lost_calls);
	write_findings(&page, findings);
	exposition__end(&writer);
}
