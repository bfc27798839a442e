// SPDX-License-Identifier: BSD-2-Clause
// Judges all communicators and keeps the list of findings.
#include "nccl/judge.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/array.h"
#include "nccl/judge_private.h"

#define MOST_FINDINGS 256
#define HANG_NS 10000000000
#define INIT_NS 60000000000
#define FIRST_NS 300000000000

static const char *const verdicts[NCCL_VERDICTS] = {
	[NCCL_HANG] = "nccl-hang",	     [NCCL_MISMATCH] = "nccl-mismatch",
	[NCCL_STRAGGLER] = "nccl-straggler", [NCCL_IMBALANCE] = "nccl-imbalance",
	[NCCL_ERROR] = "nccl-error",
};

static const char *const causes[] = {
	[NCCL_RANK_MISSING] = "rank-missing",
	[NCCL_RANK_EXTRA] = "rank-extra",
	[NCCL_STUCK_INIT] = "stuck-in-init",
	[NCCL_STUCK_CALL] = "stuck-in-call",
	[NCCL_ALL_HERE] = "all-here",
	[NCCL_PEER_MISSING] = "peer-missing",
	[NCCL_DIFFERENT] = "different",
	[NCCL_SKIPPED] = "skipped",
	[NCCL_INSERTED] = "inserted",
	[NCCL_SWAPPED] = "swapped",
	[NCCL_DIFFERENT_PAIR] = "different-pair",
	[NCCL_UNEVEN_TIMES] = "uneven-times",
	[NCCL_UNEVEN_BYTES] = "uneven-bytes",
};

const char *nccl_verdict__word(enum nccl_verdict verdict)
{
	return verdicts[verdict];
}

const char *nccl_cause__word(enum nccl_cause cause)
{
	return causes[cause];
}

const char *nccl_verdict__severity(enum nccl_verdict verdict)
{
	return verdict <= NCCL_MISMATCH ? "critical" : "warning";
}

struct nccl_finding *nccl_judgement__add(struct judgement *judgement, enum nccl_verdict verdict,
					 enum nccl_cause cause, const struct comm *comm)
{
	struct nccl_findings *findings = judgement->findings;
	struct nccl_finding finding = {.verdict = verdict, .cause = cause, .comm = &comm->open};

	if (findings->count >= MOST_FINDINGS ||
	    ARRAY_APPEND(findings->items, findings->count, finding)) {
		findings->left_out++;
		return NULL;
	}
	return &findings->items[findings->count - 1];
}

void nccl_finding__blame(struct nccl_finding *finding, const struct rank *rank)
{
	if (finding->rank_count < NCCL_BLAMED)
		finding->ranks[finding->rank_count++] = &rank->open;
	finding->blamed++;
}

static uint64_t or_default(uint64_t given, uint64_t usual, uint64_t least)
{
	if (given)
		return given;
	return usual > least ? usual : least;
}

static struct nccl_patience with_defaults(const struct nccl_patience *given)
{
	struct nccl_patience patience = {0};

	if (given)
		patience = *given;
	patience.hang_ns = or_default(patience.hang_ns, HANG_NS, 0);
	patience.init_ns = or_default(patience.init_ns, INIT_NS, patience.hang_ns);
	patience.first_ns = or_default(patience.first_ns, FIRST_NS, patience.hang_ns);
	return patience;
}

/* Stable, since findings of one verdict stay in the order of their communicators. */
static void sort(struct nccl_findings *findings)
{
	for (size_t i = 1; i < findings->count; i++) {
		struct nccl_finding finding = findings->items[i];
		size_t place = i;

		for (; place && findings->items[place - 1].verdict > finding.verdict; place--)
			findings->items[place] = findings->items[place - 1];
		findings->items[place] = finding;
	}
}

int nccl_jobs__judge(struct nccl_jobs *jobs, const struct nccl_patience *patience, uint64_t now_ns,
		     struct nccl_findings *findings)
{
	struct judgement judgement = {
		.patience = with_defaults(patience),
		.now_ns = now_ns,
		.findings = findings,
	};
	struct comm *comm;

	*findings = (struct nccl_findings){0};
	DL_FOREACH (jobs->all, comm) {
		if (comm->over)
			continue;
		nccl_judge__missing(&judgement, comm);
		nccl_judge__creation(&judgement, comm);
		nccl_judge__pairs(&judgement, comm);
	}
	nccl_judge__drop_consequences(jobs, findings);
	DL_FOREACH (jobs->all, comm) {
		if (!comm->over)
			nccl_judge__stuck(&judgement, comm);
		nccl_judge__mismatch(&judgement, comm);
		nccl_judge__times(&judgement, comm);
		nccl_judge__errors(&judgement, comm);
	}
	sort(findings);
	return findings->left_out && findings->count < MOST_FINDINGS ? -ENOMEM : 0;
}

/* Lateness is one finding for a communicator, whatever its latest collective is. */
struct nccl_finding_key nccl_finding__key(const struct nccl_finding *finding)
{
	bool of_one = finding->verdict == NCCL_HANG || finding->verdict == NCCL_MISMATCH;

	return (struct nccl_finding_key){
		.comm = finding->comm->number,
		.verdict = finding->verdict,
		.cause = finding->cause,
		.sequence = of_one ? finding->sequence : 0,
	};
}

bool nccl_finding_key__equal(const struct nccl_finding_key *one,
			     const struct nccl_finding_key *other)
{
	return one->comm == other->comm && one->verdict == other->verdict &&
	       one->cause == other->cause && one->sequence == other->sequence;
}

void nccl_findings__free(struct nccl_findings *findings)
{
	free(findings->items);
	*findings = (struct nccl_findings){0};
}
