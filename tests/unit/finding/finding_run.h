/* SPDX-License-Identifier: BSD-2-Clause */
/* A run of findings over a model that a test makes up: time passes, and findings are detected. */
#ifndef TESTS_FINDING_RUN_H
#define TESTS_FINDING_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "finding/finding.h"
#include "model/profile.h"
#include "api/api.h"
#include "model/growth.h"

#define RUN_BEGAN (1000 * NS_PER_S)
#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

struct run {
	struct findings *findings;
	struct model model; /* the test owns its processes */
	struct finding_list list;
};

static inline void run__begin(struct run *run, struct process *processes, size_t count)
{
	const struct findings_options options = {
		.needs = NEEDS_PROFILE | NEEDS_ASKS | NEEDS_GETTERS, .window_ns = GROWTH_WINDOW_NS};

	*run = (struct run){.findings = findings__new(&options)};
	assert_non_null(run->findings);
	findings__begin(run->findings, RUN_BEGAN);
	run->model.now_ns = RUN_BEGAN;
	run->model.processes = processes;
	run->model.process_count = count;
}

static inline void run__end(struct run *run)
{
	finding_list__clear(&run->list);
	findings__free(run->findings);
}

/* Takes a sample at this many seconds after the start. */
static inline void run__sample(struct run *run, double seconds)
{
	run->model.now_ns = RUN_BEGAN + (uint64_t)(seconds * 1e9);
	assert_int_equal(findings__sample(run->findings, &run->model), 0);
}

/* Detects all findings, and checks in each the properties that all must have. */
static inline void run__detect(struct run *run)
{
	assert_int_equal(findings__detect(run->findings, &run->model, &run->list), 0);
	for (size_t i = 0; i < run->list.count; i++) {
		const struct finding *finding = &run->list.items[i];

		assert_non_null(finding->evidence);
		assert_true(finding->number_count > 0 && finding->number_count < FINDING_NUMBERS);
		assert_true(!finding->has_cost == !finding->kind->cost);
		assert_true(!finding->has_saving == !finding->assumption);
		assert_true(!finding->has_saving || finding->saving_ns <= finding->cost_ns);
	}
}

static inline size_t run__count(struct run *run, const char *id)
{
	size_t count = 0;

	run__detect(run);
	for (size_t i = 0; i < run->list.count; i++)
		count += !strcmp(run->list.items[i].kind->id, id);
	return count;
}

/* The only finding with this id; fails unless there is exactly one. */
static inline const struct finding *run__only(struct run *run, const char *id)
{
	size_t count = run__count(run, id);

	if (count != 1)
		fail_msg("%zu findings of %s", count, id);
	for (size_t i = 0; i < run->list.count; i++)
		if (!strcmp(run->list.items[i].kind->id, id))
			return &run->list.items[i];
	return NULL;
}

static inline void run__finds_nothing(struct run *run)
{
	run__detect(run);
	for (size_t i = 0; i < run->list.count; i++)
		print_error("%s: %s: %s\n", run->list.items[i].kind->id, run->list.items[i].subject,
			    run->list.items[i].evidence);
	assert_int_equal(run->list.count, 0);
}

static inline void run__set(struct run *run, const char *threshold)
{
	struct error err = {""};

	if (findings__set_threshold(run->findings, threshold, &err))
		fail_msg("%s", err.text);
}

/* A number of a finding's evidence; fails if it is missing. */
static inline double number_of(const struct finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->number_count; i++)
		if (!strcmp(finding->numbers[i].name, name))
			return finding->numbers[i].value;
	fail_msg("%s has no number %s", finding->kind->id, name);
	return 0;
}

static inline uint16_t row_of(const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	assert_true(row >= 0);
	return (uint16_t)row;
}

#endif
