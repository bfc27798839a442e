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

int nccl__detect(const struct finding_input *input, struct finding_list *out)
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
