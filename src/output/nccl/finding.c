// SPDX-License-Identifier: BSD-2-Clause
// A finding as text: what and where on the first line, then which rank, and what that rank does.
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/quantity.h"
#include "output/nccl/nccl.h"
#include "output/nccl/parts.h"
#include "output/nccl/ras.h"

#define INDENT "    "

void nccl_text__subject(FILE *out, const struct nccl_finding *finding)
{
	nccl_text__comm(out, finding->comm);
	if (finding->pair)
		fprintf(out, ", %s %s from rank %" PRId32 " to rank %" PRId32,
			finding->verdict == NCCL_MISMATCH ?
				"message" :
				nccl_function__word(finding->operation.function),
			quantity__count(finding->sequence).text, finding->pair->from,
			finding->pair->to);
	else if (finding->sequence) {
		fprintf(out, ", collective %s ", quantity__count(finding->sequence).text);
		nccl_text__operation(out, &finding->operation);
	}
}

/* "rank 3 (pid 5120, GPU 3), rank 5 (...)"; " and 12 more" */
static void print_ranks(FILE *out, const struct nccl_finding *finding)
{
	for (size_t i = 0; i < finding->rank_count; i++) {
		fputs(i ? ", " : "", out);
		nccl_text__rank(out, finding->ranks[i]);
	}
	if (finding->blamed > finding->rank_count)
		fprintf(out, " and %zu more", finding->blamed - finding->rank_count);
}

static void print_waiting(FILE *out, const struct nccl_finding *finding)
{
	const struct nccl_comm *comm = finding->comm;

	fprintf(out, "%zu of ", finding->waiting);
	if (comm->size)
		fprintf(out, "%" PRId32 " ranks", comm->size);
	else
		fprintf(out, "%zu ranks seen here", comm->seen);
}

/* Why a rank comes no more; NULL: it may. */
static const char *end_of(const struct nccl_rank *rank)
{
	switch (rank->state) {
	case NCCL_RANK_DEAD: return "its process has ended";
	case NCCL_RANK_ABORTED: return "it has aborted the communicator";
	case NCCL_RANK_DESTROYED: return "it has destroyed the communicator";
	default: return rank->process->activity == NCCL_STOPPED ? "its process is stopped" : NULL;
	}
}

static void print_missing(FILE *out, const struct nccl_finding *finding)
{
	const char *end;

	fputs(INDENT, out);
	print_waiting(out, finding);
	fprintf(out, " %s been in it for %s\n", finding->waiting == 1 ? "has" : "have",
		quantity__time((double)finding->ns).text);
	for (size_t i = 0; i < finding->rank_count; i++) {
		const struct nccl_rank *rank = finding->ranks[i];

		fputs(INDENT, out);
		nccl_text__rank(out, rank);
		fputs(" never came: ", out);
		if (rank->sequence)
			fprintf(out, "its last was %s", quantity__count(rank->sequence).text);
		else
			fputs("it has made no collective here", out);
		end = end_of(rank);
		fprintf(out, "%s%s\n", end ? "; " : "", end ? end : "");
	}
	if (finding->blamed > finding->rank_count)
		fprintf(out, INDENT "%zu more never came\n", finding->blamed - finding->rank_count);
}

static void print_extra(FILE *out, const struct nccl_finding *finding)
{
	fputs(INDENT, out);
	print_ranks(out, finding);
	fprintf(out, " %s been in it for %s; the other %zu never came: their last was %s\n",
		finding->blamed == 1 ? "has" : "have", quantity__time((double)finding->ns).text,
		finding->comm->seen - finding->blamed, quantity__count(finding->sequence - 1).text);
}

static void print_init(FILE *out, const struct nccl_finding *finding)
{
	fputs(INDENT, out);
	print_waiting(out, finding);
	fprintf(out, " %s been creating it for %s", finding->waiting == 1 ? "has" : "have",
		quantity__time((double)finding->ns).text);
	for (size_t i = 0; i < finding->absent_count; i++)
		fprintf(out, "%s%" PRId32,
			i			  ? ", " :
			finding->absent_count > 1 ? "; not seen here: ranks " :
						    "; not seen here: rank ",
			finding->absent[i]);
	fputc('\n', out);
	for (size_t i = 0; i < finding->rank_count; i++) {
		const char *end = end_of(finding->ranks[i]);

		if (!end)
			continue;
		fputs(INDENT, out);
		nccl_text__rank(out, finding->ranks[i]);
		fprintf(out, ": %s\n", end);
	}
}

static void print_call(FILE *out, const struct nccl_finding *finding)
{
	fprintf(out, INDENT "the call has not returned for %s in ",
		quantity__time((double)finding->ns).text);
	print_ranks(out, finding);
	fputc('\n', out);
}

static void print_all_here(FILE *out, const struct nccl_finding *finding)
{
	bool whole = finding->comm->size && finding->comm->seen == (size_t)finding->comm->size;

	fputs(INDENT, out);
	print_waiting(out, finding);
	fprintf(out, " have come and have waited for %s; the cause is %s: not known which\n",
		quantity__time((double)finding->ns).text,
		whole ? "the network or the GPU" : "another node, the network or the GPU");
}

static void print_peer(FILE *out, const struct nccl_finding *finding)
{
	bool sent = finding->operation.function == NCCL_SEND;
	const char *end = end_of(finding->ranks[0]);

	fprintf(out, INDENT "it has waited for %s; ", quantity__time((double)finding->ns).text);
	nccl_text__rank(out, finding->ranks[0]);
	fprintf(out, " has not called its %s", sent ? "receive" : "send");
	fprintf(out, "%s%s\n", end ? "; " : "", end ? end : "");
}

static void print_mismatch(FILE *out, const struct nccl_finding *finding)
{
	fputs(INDENT, out);
	print_ranks(out, finding);
	fputs(finding->blamed == 1 ? " called " : " each called ", out);
	nccl_text__operation(out, &finding->other);
	switch (finding->cause) {
	case NCCL_SKIPPED: fputs(", the next one: this one was left out", out); break;
	case NCCL_INSERTED: fputs(", one more than the others", out); break;
	case NCCL_SWAPPED: fputs(": this one and the next in the other order", out); break;
	default: break;
	}
	fputc('\n', out);
}

static void print_pair_mismatch(FILE *out, const struct nccl_finding *finding)
{
	fprintf(out, INDENT "sent %s", quantity__bytes((double)finding->pair->sent_bytes).text);
	fprintf(out, ", received %s\n",
		quantity__bytes((double)finding->pair->received_bytes).text);
	fputs(INDENT, out);
	print_ranks(out, finding);
	fputc('\n', out);
}

static void print_straggler(FILE *out, const struct nccl_finding *finding)
{
	fputs(INDENT, out);
	print_ranks(out, finding);
	fprintf(out, " %s late to %s of ", finding->blamed == 1 ? "comes" : "come",
		quantity__share(finding->share).text);
	fprintf(out, "%s collectives, %s each; the others wait meanwhile\n",
		quantity__count(finding->compared).text, quantity__time((double)finding->ns).text);
}

static void print_imbalance(FILE *out, const struct nccl_finding *finding)
{
	if (finding->cause == NCCL_UNEVEN_BYTES) {
		fputs(INDENT, out);
		print_ranks(out, finding);
		fprintf(out, " receives %s times the bytes of an average rank\n",
			quantity__ratio(finding->share).text);
		return;
	}
	fprintf(out, INDENT "the first rank waits for the last one %s of the time, ",
		quantity__share(finding->share).text);
	fprintf(out, "%s for each of %s collectives; no rank is the late one\n",
		quantity__time((double)finding->ns).text, quantity__count(finding->compared).text);
}

static void print_error(FILE *out, const struct nccl_finding *finding)
{
	const char *word = nccl_result__word(finding->error);

	fprintf(out, INDENT "%s (%" PRId32 ") in ", word ? word : "unknown error", finding->error);
	print_ranks(out, finding);
	fputc('\n', out);
}

static const char *doing(enum nccl_activity activity)
{
	switch (activity) {
	case NCCL_RUNS: return "running on a CPU";
	case NCCL_WAITS_GIL: return "waiting for the GIL";
	case NCCL_WAITS_LOCK: return "waiting for a lock";
	case NCCL_WAITS_OTHER: return "waiting";
	case NCCL_WRITES_FILE: return "writing a file";
	case NCCL_AWAITS_REQUESTS: return "waiting for requests";
	case NCCL_STOPPED: return "stopped";
	case NCCL_TRACED: return "held by a debugger";
	default: return NULL;
	}
}

/* Where a rank is, or where it was at most looks while others waited for it. */
static void print_place(FILE *out, const struct nccl_process *process, const char *activity)
{
	fputs(process->looks ? "was " : "is ", out);
	if (process->where[0]) {
		fputs("in    ", out);
		escape__text(out, process->where);
		fputs(activity ? ", " : "", out);
	}
	if (activity)
		escape__text(out, activity);
	if (process->looks)
		fprintf(out, ", at %" PRIu32 " of %" PRIu32 " looks while others waited",
			process->looks_there, process->looks);
	fputc('\n', out);
}

/* What the ranks to blame are doing, where somebody has looked. */
static void print_activities(FILE *out, const struct nccl_finding *finding)
{
	for (size_t i = 0; i < finding->rank_count; i++) {
		const struct nccl_rank *rank = finding->ranks[i];
		const char *activity = rank->process->waits[0] ? rank->process->waits :
								 doing(rank->process->activity);

		/* What the line of the rank has said already. */
		if (end_of(rank) && !rank->process->looks)
			activity = NULL;
		if ((rank->process->ended && !rank->process->looks) ||
		    (!activity && !rank->process->where[0]))
			continue;
		fprintf(out, INDENT "rank %" PRId32 " ", rank->rank);
		print_place(out, rank->process, activity);
	}
}

void nccl_text__lines(FILE *out, const struct nccl_finding *finding)
{
	static void (*const hangs[])(FILE *, const struct nccl_finding *) = {
		[NCCL_RANK_MISSING] = print_missing, [NCCL_RANK_EXTRA] = print_extra,
		[NCCL_STUCK_INIT] = print_init,	     [NCCL_STUCK_CALL] = print_call,
		[NCCL_ALL_HERE] = print_all_here,    [NCCL_PEER_MISSING] = print_peer,
	};

	switch (finding->verdict) {
	case NCCL_HANG: hangs[finding->cause](out, finding); break;
	case NCCL_MISMATCH:
		if (finding->pair)
			print_pair_mismatch(out, finding);
		else
			print_mismatch(out, finding);
		break;
	case NCCL_STRAGGLER: print_straggler(out, finding); break;
	case NCCL_IMBALANCE: print_imbalance(out, finding); break;
	default: print_error(out, finding); break;
	}
	print_activities(out, finding);
	if (finding->opinion)
		nccl_ras_text__print(out, finding->opinion);
}

void nccl_output__finding(FILE *out, const struct nccl_finding *finding)
{
	fprintf(out, "%-8s  %s: ", nccl_verdict__severity(finding->verdict),
		nccl_verdict__word(finding->verdict));
	nccl_text__subject(out, finding);
	fputc('\n', out);
	nccl_text__lines(out, finding);
}
