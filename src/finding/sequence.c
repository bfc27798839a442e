// SPDX-License-Identifier: BSD-2-Clause
// What repeats in a thread's launches, see sequence.h.
#include "finding/sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "model/kernels.h"

#define LEAST_SHARE 0.8
#define NAMES_SHOWN 8
#define NAME_LENGTH 48

/* The latest launches' handles, oldest first. */
struct latest {
	uint64_t handles[SEQUENCE_KEPT];
	size_t count;
};

static void unroll(const struct thread_account *thread, struct latest *latest)
{
	uint64_t end = thread->sequence_count;

	latest->count = end < SEQUENCE_KEPT ? (size_t)end : SEQUENCE_KEPT;
	for (size_t i = 0; i < latest->count; i++)
		latest->handles[i] = thread->sequence[(end - latest->count + i) % SEQUENCE_KEPT];
}

/*
 * How many launches are the same as the one `period` before. `last` is set to
 * the end of the latest stretch of at least two rounds, 0 where there is none.
 */
static size_t count_repeats(const struct latest *latest, size_t period, size_t *last)
{
	size_t same = 0, stretch = 0;

	*last = 0;
	for (size_t i = period; i < latest->count; i++) {
		if (latest->handles[i] != latest->handles[i - period]) {
			stretch = 0;
			continue;
		}
		same++;
		if (++stretch >= period)
			*last = i + 1;
	}
	return same;
}

void sequence__find(const struct thread_account *thread, struct sequence *out)
{
	struct latest latest;
	size_t last, end = 0;

	*out = (struct sequence){0};
	unroll(thread, &latest);
	for (size_t period = 1; 2 * period <= latest.count && out->share < 1; period++) {
		double share = (double)count_repeats(&latest, period, &last) / (double)(latest.count - period);

		if (!last || share < LEAST_SHARE || share <= out->share)
			continue;
		out->period = period;
		out->share = share;
		end = last;
	}
	if (out->period)
		memcpy(out->handles, &latest.handles[end - out->period], out->period * sizeof(*out->handles));
}

const char *sequence__kernel(const struct process *process, uint64_t handle)
{
	const char *brief = NULL;

	if (!process->kernel_table || !kernel_table__knows(process->kernel_table, handle, &brief))
		return NULL;
	return brief ? brief : "(unnamed)";
}

static const char *name_of(const struct process *process, uint64_t handle)
{
	const char *name = sequence__kernel(process, handle);

	return name ? name : "(graph)";
}

static size_t count_same(const struct sequence *sequence, const struct process *process, size_t from)
{
	const char *name = name_of(process, sequence->handles[from]);
	size_t count = 1;

	while (from + count < sequence->period && !strcmp(name_of(process, sequence->handles[from + count]), name))
		count++;
	return count;
}

char *sequence__text(const struct sequence *sequence, const struct process *process)
{
	size_t at = 0, same, size;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "%zu launch%s: ", sequence->period, sequence->period == 1 ? "" : "es");
	for (int shown = 0; at < sequence->period && shown < NAMES_SHOWN; shown++, at += same) {
		same = count_same(sequence, process, at);
		fprintf(out, "%s%.*s", shown ? ", " : "", NAME_LENGTH, name_of(process, sequence->handles[at]));
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
