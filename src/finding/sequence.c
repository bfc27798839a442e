// SPDX-License-Identifier: BSD-2-Clause
// The repeating sequence in a thread's launches, see sequence.h.
#include "finding/sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "model/kernels.h"
#include "model/steps.h"

#define NAMES_SHOWN 8

static const struct step_thread *find_steps(const struct process *process,
					    const struct thread_profile *thread)
{
	for (size_t i = 0; process->steps && i < process->steps->count; i++) {
		const struct step_thread *steps = process->steps->threads[i];

		if (steps->tid == thread->tid && steps->start_ns == thread->start_ns)
			return steps;
	}
	return NULL;
}

/*
 * If launches are sampled, only part of the steps was seen: their launches are compared with the
 * launches seen.
 */
static double share_of(const struct process *process, const struct thread_profile *thread,
		       const struct step_phase *phase, size_t period)
{
	double part = (double)phase->ns, all = (double)(phase->latest_ns - phase->first_ns);

	if (process__is_estimated(process, RATE_LAUNCH)) {
		part = (double)phase->steps * (double)period;
		all = (double)thread->launches;
	}
	return part < all ? part / all : 1;
}

void sequence__find(const struct process *process, const struct thread_profile *thread,
		    struct sequence *out)
{
	const struct step_thread *steps = find_steps(process, thread);
	const struct step_phase *phase =
		steps && steps->phase_count ? &steps->phases[steps->current] : NULL;

	*out = (struct sequence){0};
	if (!phase || !phase->steps || !steps->round_length)
		return;
	out->period = steps->round_length;
	out->handles = steps->round;
	out->share = share_of(process, thread, phase, out->period);
}

const char *sequence__kernel(const struct process *process, uint64_t handle)
{
	const char *label = NULL;

	if (!process__knows_kernel(process, handle, &label))
		return NULL;
	return label ? label : "(unnamed)";
}

static const char *name_of(const struct process *process, uint64_t handle)
{
	const char *name = sequence__kernel(process, handle);

	return name ? name : "(graph)";
}

static size_t count_same(const struct sequence *sequence, const struct process *process,
			 size_t from)
{
	const char *name = name_of(process, sequence->handles[from]);
	size_t count = 1;

	while (from + count < sequence->period &&
	       !strcmp(name_of(process, sequence->handles[from + count]), name))
		count++;
	return count;
}

/* Labels are unique within a process. */
static const char *whole_name(const struct process *process, const char *label)
{
	for (size_t i = 0; i < process->kernel_count; i++) {
		const struct kernel *kernel = &process->kernels[i];

		if (kernel->label && kernel->name && !strcmp(kernel->label, label))
			return kernel->name;
	}
	return label;
}

char *sequence__text(const struct sequence *sequence, const struct process *process,
		     bool full_names)
{
	size_t at = 0, same, size;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%zu launch%s: ", sequence->period, sequence->period == 1 ? "" : "es");
	for (int shown = 0; at < sequence->period && shown < NAMES_SHOWN; shown++, at += same) {
		const char *name = name_of(process, sequence->handles[at]);

		same = count_same(sequence, process, at);
		fprintf(out, "%s%s", shown ? ", " : "",
			full_names ? whole_name(process, name) : name);
		if (same > 1)
			fprintf(out, " x%zu", same);
	}
	if (at < sequence->period)
		fputs(", ...", out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
