// SPDX-License-Identifier: BSD-2-Clause
/*
 * nccl-hang and the like: what src/nccl has judged of the ranks of NCCL's communicators
 * (model/nccl_note.h) becomes findings of the process whose rank is to blame.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "finding/rules.h"
#include "model/host.h"
#include "model/nccl_note.h"

/* What the kind's threshold is compared with, in its unit. */
static double measure_of(const struct nccl_note *note)
{
	switch (note->key.verdict) {
	case NCCL_HANG: return (double)note->ns;
	case NCCL_MISMATCH: return (double)note->count;
	case NCCL_STRAGGLER: return note->share;
	/* The most that a rank receives is given as a multiple of the average. */
	case NCCL_IMBALANCE:
		return note->key.cause == NCCL_UNEVEN_BYTES ? note->share - 1 : note->share;
	default: return (double)note->blamed;
	}
}

static void add_numbers(struct finding *finding, const struct nccl_note *note)
{
	finding__number(finding, "communicator", note->key.comm, UNIT_COUNT);
	if (note->key.sequence)
		finding__number(finding, "sequence", (double)note->key.sequence, UNIT_COUNT);
	if (note->blamed)
		finding__number(finding, "ranks", (double)note->blamed, UNIT_COUNT);
	if (note->key.verdict == NCCL_HANG) {
		finding__number(finding, "time", (double)note->ns, UNIT_NS);
		finding__number(finding, "waiting_ranks", (double)note->waiting, UNIT_COUNT);
	}
	if (note->key.verdict == NCCL_STRAGGLER) {
		finding__number(finding, "late", (double)note->late, UNIT_COUNT);
		finding__number(finding, "compared", (double)note->compared, UNIT_COUNT);
		finding__number(finding, "time_each", (double)note->ns, UNIT_NS);
	}
}

/* The process may have left the model, or not be in it yet. */
static const struct process *find_process(const struct model *model, const struct nccl_note *note)
{
	for (size_t i = 0; note->pid && i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (process->pid == note->pid &&
		    host__is_same_start(process->start_ns, note->start_ns))
			return process;
	}
	return NULL;
}

static int add(const struct finding_input *input, const struct nccl_note *note,
	       struct finding_list *out)
{
	const struct process *process = find_process(input->model, note);
	struct finding *finding = finding_list__add(out, input, process);

	if (!finding)
		return -ENOMEM;
	if (note->details) {
		finding->details = strdup(note->details);
		if (!finding->details)
			return -ENOMEM;
	}
	add_numbers(finding, note);
	finding->weight = (double)note->ns;
	/* It is late because its threads do something else. */
	finding->has_reasons = note->key.verdict == NCCL_STRAGGLER && process && process->host;
	if (note->subject && finding__subject(finding, "%s", note->subject))
		return -ENOMEM;
	return note->evidence ? finding__evidence(finding, "%s%s", note->evidence,
						  note->over ? "; this is over" : "") :
				0;
}

static int detect(const struct finding_input *input, struct finding_list *out)
{
	int ret = 0;

	for (size_t i = 0; i < input->model->nccl_count && !ret; i++) {
		const struct nccl_note *note = &input->model->nccl[i];

		if (!strcmp(nccl_verdict__word(note->key.verdict), input->kind->id) &&
		    measure_of(note) >= input->thresholds[0])
			ret = add(input, note, out);
	}
	return ret;
}

const struct finding_kind nccl_hang_kind = {
	.id = "nccl-hang",
	.severity = SEVERITY_CRITICAL,
	.needs = NEEDS_NCCL,
	.title = "ranks of an NCCL communicator wait and do not go on",
	.advice = "Look at the rank that is named first: it has not come to the collective that "
		  "the others are in. The evidence says where it is instead and what it waits "
		  "for; gpuprobe dump -p PID shows all its threads. A rank whose process has "
		  "ended has failed: read its output. If all ranks of this machine have come, the "
		  "missing one is on another node, or the network or a GPU does not answer: run "
		  "gpuprobe nccl --json on each node and bring the files together with --join, or "
		  "ask NCCL itself with --ras.",
	.thresholds =
		{
			{"time", 10e9, UNIT_NS, "minimum time that the ranks have waited",
			 .least = 1e8},
		},
	.detect_all = detect,
};

const struct finding_kind nccl_mismatch_kind = {
	.id = "nccl-mismatch",
	.severity = SEVERITY_CRITICAL,
	.needs = NEEDS_NCCL,
	.title = "ranks of an NCCL communicator call different things",
	.advice = "All ranks must call the same collectives in the same order, with the same "
		  "size, type, reduction and root, and a receive must be as long as its send. "
		  "Look for a branch that only some ranks take (a test of the rank, of the data, "
		  "or of the time), for batches whose last one is shorter, for parameters that a "
		  "rank does not use, and for two threads that share a communicator. The "
		  "collectives after the first different one pair wrongly: they may hang, or give "
		  "wrong results.",
	.thresholds =
		{
			{"calls", 1, UNIT_COUNT, "minimum collectives or messages"},
		},
	.detect_all = detect,
};

const struct finding_kind nccl_straggler_kind = {
	.id = "nccl-straggler",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_NCCL,
	.title = "a rank comes late to NCCL's collectives while others wait",
	.advice = "The others can only go on when the late rank has come. gpuprobe diagnose shows "
		  "what its threads do before they come. Usual causes: more or longer data for "
		  "that rank, a data loader that is short of CPUs, a GPU that is throttled or "
		  "used by others, work that only rank 0 does (logging, checkpoints, evaluation), "
		  "and garbage collection of Python.",
	.thresholds =
		{
			{"share", 0.1, UNIT_SHARE,
			 "minimum share of the collectives that it is late to", .least = 0.1},
		},
	.detect_all = detect,
};

const struct finding_kind nccl_imbalance_kind = {
	.id = "nccl-imbalance",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_NCCL,
	.title = "ranks wait for each other in turn, or receive unequal amounts",
	.advice = "No rank is the late one: each has some steps that take longer than the "
		  "others'. Give the ranks equal work in each step, for example by sorting "
		  "samples into batches by their length. If one rank receives far more than the "
		  "others, as with experts that get more tokens, limit or balance what goes to it.",
	.thresholds =
		{
			{"share", 0.25, UNIT_SHARE,
			 "minimum share of the time, or excess over the average bytes",
			 .least = 0.25},
		},
	.detect_all = detect,
};

const struct finding_kind nccl_error_kind = {
	.id = "nccl-error",
	.severity = SEVERITY_WARNING,
	.needs = NEEDS_NCCL,
	.title = "calls of NCCL fail",
	.advice = "The communicator is of no more use in that rank: ncclCommAbort ends it in the "
		  "other ranks, which otherwise wait. NCCL's own messages have the cause: set "
		  "NCCL_DEBUG=WARN. ncclRemoteError and ncclSystemError point to a process that "
		  "has ended or to the network, ncclUnhandledCudaError to a CUDA error before the "
		  "call, ncclInvalidArgument and ncclInvalidUsage to the call itself.",
	.thresholds =
		{
			{"ranks", 1, UNIT_COUNT, "minimum ranks whose calls fail"},
		},
	.detect_all = detect,
};
