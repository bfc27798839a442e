/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by rules: where something happened, and for how long it was watched. Call sites exist only
 * if stacks are taken, and cover all threads of a process.
 */
#ifndef FINDING_SITE_LOOKUP_H
#define FINDING_SITE_LOOKUP_H

#include <stdbool.h>

#include "finding/finding.h"
#include "model/profile.h"

/* The time that the process was watched: from its start, or from attach, to its end, or now. */
uint64_t site_lookup__watched_ns(const struct finding_input *input, const struct process *process);

/*
 * From the first sample of something (0: none) to its process's end, or now; `process` may be NULL.
 */
uint64_t site_lookup__followed_ns(const struct finding_input *input, const struct process *process,
				  uint64_t first_ns);

/*
 * For a thread, the time from its first to its latest call: earlier work, such as seconds of
 * importing modules, must not make a fault look smaller.
 */
uint64_t site_lookup__thread_ns(const struct finding_input *input, const struct process *process,
				const struct thread_profile *thread);

/* The usual name of an API row; "an unknown function" if the table does not have the row. */
const char *site_lookup__function(size_t row);

/* Whether a site counts. */
typedef bool (*site_lookup_fn)(const struct call_site *site, const void *arg);

/*
 * Among the counted sites of a kind, the one with the most time or bytes, or calls if it has
 * neither; NULL: none.
 */
const struct call_site *site_lookup__most(const struct process *process, enum site_kind kind,
					  site_lookup_fn counts, const void *arg);

/* The stack of the site of this kind at which this function did most; NULL if unknown. */
const struct stack *site_lookup__of_row(const struct process *process, enum site_kind kind,
					size_t row);

/* The same for a copy: among sites of waits, or of copies if it is asynchronous. */
const struct stack *site_lookup__of_copy(const struct process *process, size_t row);

/* The same for failures of one function with one code. */
const struct stack *site_lookup__of_failure(const struct process *process, size_t row, int code);

#endif
