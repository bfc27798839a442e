/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process whose findings are detected: watched for ten seconds from BEGAN on, with one thread,
 * and all else 0. Every rule is applied, so that a healthy case shows no finding of any kind.
 */
#ifndef TESTS_FINDING_CASE_H
#define TESTS_FINDING_CASE_H

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "finding/finding.h"
#include "model/profile.h"
#include "api/api.h"
#include "model/growth.h"

#define BEGAN (1000 * NS_PER_S)
#define WATCHED (10 * NS_PER_S)
#define US 1000ull
#define CASE_THREADS 8
#define CASE_ITEMS 8

struct finding_case {
	struct model model;
	struct process process;
	struct profile profile;
	struct thread_profile threads[CASE_THREADS];
	struct profile_function functions[CASE_ITEMS];
	struct profile_copies copies[CASE_ITEMS];
	struct profile_repeat repeats[CASE_ITEMS];
	struct profile_ignored ignored[CASE_ITEMS];
	struct profile_stack stacks[CASE_ITEMS];
	struct function_totals totals[CASE_ITEMS];
	struct failure failures[CASE_ITEMS];
	struct call_site sites[CASE_ITEMS];
	struct findings *findings;
	struct finding_list list;
};

static inline void case__add_thread(struct finding_case *c)
{
	struct thread_profile *thread = &c->threads[c->profile.thread_count];

	thread->tid = 100 + (int)c->profile.thread_count++;
	thread->start_ns = thread->first_ns = BEGAN;
	thread->latest_ns = BEGAN + WATCHED;
}

static inline struct finding_case *case__new(void)
{
	const struct findings_options options = {
		.needs = NEEDS_PROFILE | NEEDS_ASKS | NEEDS_GETTERS,
		.window_ns = GROWTH_WINDOW_NS,
	};
	struct finding_case *c = calloc(1, sizeof(*c));

	c->findings = findings__new(&options);
	findings__begin(c->findings, BEGAN);
	c->model.now_ns = BEGAN + WATCHED;
	c->model.processes = &c->process;
	c->model.process_count = 1;
	c->process.pid = 100;
	c->process.start_ns = BEGAN - NS_PER_S;
	c->process.profile = &c->profile;
	c->process.functions = c->totals;
	c->process.failures = c->failures;
	c->process.sites = c->sites;
	c->profile.functions = c->functions;
	c->profile.threads = c->threads;
	c->profile.copies = c->copies;
	c->profile.repeats = c->repeats;
	c->profile.ignored = c->ignored;
	c->profile.stacks = c->stacks;
	case__add_thread(c);
	return c;
}

static inline void case__free(struct finding_case *c)
{
	finding_list__clear(&c->list);
	findings__free(c->findings);
	free(c);
}

/* Detects all findings and returns their number. */
static inline size_t case__detect(struct finding_case *c)
{
	return findings__detect(c->findings, &c->model, &c->list) ? SIZE_MAX : c->list.count;
}

/* The first finding of a kind, or NULL if there is none. */
static inline const struct finding *case__find(const struct finding_case *c, const char *id)
{
	for (size_t i = 0; i < c->list.count; i++)
		if (!strcmp(c->list.items[i].kind->id, id))
			return &c->list.items[i];
	return NULL;
}

/* A number of a finding by its name; -1 if it has none. */
static inline double finding__value(const struct finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->number_count; i++)
		if (!strcmp(finding->numbers[i].name, name))
			return finding->numbers[i].value;
	return -1;
}

/* Adds calls of a function, each this long. */
static inline void case__add_durations(struct profile_function *function, const char *symbol,
				       uint64_t calls, uint64_t ns)
{
	function->row = (uint16_t)api__find(symbol, API_NEWEST);
	function->time.calls += calls;
	function->time.ns += calls * ns;
	function->time.buckets[time_bucket(ns)] += calls;
	if (ns > function->time.max_ns)
		function->time.max_ns = ns;
}

#endif
