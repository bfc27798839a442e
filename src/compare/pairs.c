// SPDX-License-Identifier: BSD-2-Clause
// Which process of A is compared with which of B, and what cannot be compared, see pairs.h.
#include "compare/pairs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

int comparison__refuse(struct comparison *comparison, const char *format, ...)
{
	struct refusal refusal;
	va_list args;

	va_start(args, format);
	vsnprintf(refusal.text, sizeof(refusal.text), format, args);
	va_end(args);
	for (size_t i = 0; i < comparison->refusal_count; i++)
		if (!strcmp(comparison->refusals[i].text, refusal.text))
			return 0;
	return ARRAY_APPEND(comparison->refusals, comparison->refusal_count, refusal);
}

/* Its index in B; process_count: none. */
static size_t find_partner(const struct comparison *comparison, const struct compared_process *a,
			   const bool *taken)
{
	const struct compared_run *b = comparison->b;
	size_t i = 0;

	if (comparison->a->process_count == 1 && b->process_count == 1)
		return 0;
	while (i < b->process_count && (taken[i] || strcmp(b->processes[i].comm, a->comm) != 0))
		i++;
	return i;
}

static int refuse_alone(struct comparison *comparison, const struct compared_process *process,
			const struct compared_run *run)
{
	return comparison__refuse(comparison,
				  "process %.16s is only in %s: it has no partner of that name",
				  process->comm, run == comparison->a ? "A" : "B");
}

int comparison__pair(struct comparison *comparison)
{
	const struct compared_run *a = comparison->a, *b = comparison->b;
	bool taken[RUN_PROCESSES_MAX] = {false};
	int ret = 0;

	for (size_t i = 0; i < a->process_count && !ret; i++) {
		struct compared_pair pair = {.a = &a->processes[i]};
		size_t partner = find_partner(comparison, pair.a, taken);

		if (partner == b->process_count) {
			ret = refuse_alone(comparison, pair.a, a);
			continue;
		}
		taken[partner] = true;
		pair.b = &b->processes[partner];
		pair.by_steps = pair.a->has_steps && pair.b->has_steps;
		ret = ARRAY_APPEND(comparison->pairs, comparison->pair_count, pair);
	}
	for (size_t i = 0; i < b->process_count && !ret; i++)
		if (!taken[i])
			ret = refuse_alone(comparison, &b->processes[i], b);
	if (!ret && a->processes_left + b->processes_left)
		ret = comparison__refuse(comparison,
					 "only the first %d processes of each run are compared",
					 RUN_PROCESSES_MAX);
	return ret;
}

static int refuse_all(struct comparison *comparison, const char *letter,
		      const struct compared_run *run, const char *why)
{
	comparison->refused = true;
	return comparison__refuse(comparison, "%s (%.120s) %s", letter, run->path, why);
}

int comparison__check_runs(struct comparison *comparison)
{
	const struct compared_run *runs[] = {comparison->a, comparison->b};
	char loss[128], why[192];

	for (int i = 0; i < 2; i++) {
		const char *letter = i ? "B" : "A";

		if (!runs[i]->process_count)
			return refuse_all(comparison, letter, runs[i],
					  "has no process that used CUDA");
		if (!compared_run__loss(runs[i], loss, sizeof(loss)))
			continue;
		snprintf(why, sizeof(why), "is incomplete: %s; its counts are too low", loss);
		return refuse_all(comparison, letter, runs[i], why);
	}
	return 0;
}
