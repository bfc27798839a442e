// SPDX-License-Identifier: BSD-2-Clause
// Summary of the threads without their own line, see parts.h.
#include "output/dump/parts.h"

#include <stdlib.h>

/* Threads in one state. */
struct group {
	size_t threads;
	const char *words;
};

void dump_rest__add(struct dump_rest *rest, const struct dump_thread *thread,
		    enum dump_motion motion)
{
	rest->threads++;
	rest->stand += motion == DUMP_STANDS;
	if (dump_thread__waits(thread))
		rest->waits[thread->waiting.kind]++;
	else
		rest->runs[thread->run]++;
}

/* Largest group first. */
static int compare(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return (a->threads < b->threads) - (a->threads > b->threads);
}

static const char *run_words(enum dump_run run, size_t threads)
{
	return run == DUMP_READY && threads > 1 ? "wait for a CPU" : dump_words__run(run);
}

static size_t make_groups(const struct dump_rest *rest,
			  struct group groups[DUMP_WAITS + DUMP_RUN_STATES])
{
	size_t count = 0;

	for (int kind = DUMP_WAIT_NONE + 1; kind < DUMP_WAITS; kind++)
		if (rest->waits[kind])
			groups[count++] = (struct group){
				rest->waits[kind],
				dump_words__wait((enum dump_wait)kind, rest->waits[kind] > 1)};
	for (int run = 0; run < DUMP_RUN_STATES; run++)
		if (rest->runs[run])
			groups[count++] = (struct group){
				rest->runs[run], run_words((enum dump_run)run, rest->runs[run])};
	qsort(groups, count, sizeof(*groups), compare);
	return count;
}

void dump_rest__print(FILE *out, const struct dump_rest *rest, int indent)
{
	struct group groups[DUMP_WAITS + DUMP_RUN_STATES];
	size_t count = make_groups(rest, groups);

	if (!rest->threads)
		return;
	fprintf(out, "%*s%zu other thread%s", indent, "", rest->threads,
		rest->threads == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s %zu %s", i ? "," : ":", groups[i].threads, groups[i].words);
	if (rest->stand)
		fprintf(out, "; %zu of them %s not moved", rest->stand,
			rest->stand == 1 ? "has" : "have");
	fputc('\n', out);
}
