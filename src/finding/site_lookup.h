/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where something happened, and for how long it was watched: what rules have in
 * common. Sites are there only where stacks are taken, and are those of all
 * threads of a process.
 */
#ifndef FINDING_SITE_LOOKUP_H
#define FINDING_SITE_LOOKUP_H

#include <stdbool.h>

#include "finding/finding.h"
#include "model/profile.h"

/* The time that the process was watched: from its start, or the probes, to its end, or now. */
uint64_t site_lookup__watched_ns(const struct finding_input *input, const struct process *process);

/* From the first sample of something, 0 being none, to its process's end, or now; `process` may be NULL. */
uint64_t site_lookup__followed_ns(const struct finding_input *input, const struct process *process, uint64_t first_ns);

/*
 * Of a thread the time from its first call to its latest one: what it does before, such as
 * importing modules for seconds, makes a fault no smaller.
 */
uint64_t site_lookup__thread_ns(const struct finding_input *input, const struct process *process,
			  const struct thread_profile *thread);

/* The name of a row of the API as people use it; "an unknown function" of one that the table does not have. */
const char *site_lookup__function(size_t row);

/* Whether a site counts. */
typedef bool (*site_lookup_fn)(const struct call_site *site, const void *arg);

/* Of the sites of a kind that count the one with the most time or bytes, or calls where it has neither, or NULL. */
const struct call_site *site_lookup__most(const struct process *process, enum site_kind kind, site_lookup_fn counts,
				    const void *arg);

/* The stack of the site of this kind at which this function did most; NULL where it is not known. */
const struct stack *site_lookup__of_row(const struct process *process, enum site_kind kind, size_t row);

/* The same of a copy: at sites of waits, or of copies where it is asynchronous. */
const struct stack *site_lookup__of_copy(const struct process *process, size_t row);

/* The same of failures of one function with one code. */
const struct stack *site_lookup__of_failure(const struct process *process, size_t row, int code);

#endif
