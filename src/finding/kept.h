/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live memory of one call site or one size, for the two findings about leaks: what is known of it,
 * and the parts that their texts share. Call sites are judged if stacks are taken, otherwise
 * functions and sizes if there is a profile.
 */
#ifndef FINDING_KEPT_H
#define FINDING_KEPT_H

#include "finding/finding.h"
#include "model/growth.h"
#include "model/profile.h"

/* The first threshold of both findings: smaller items have no verdict. */
#define LEAK_LEAST_BYTES 0

struct size_spans;

/* Live memory of one site or size. */
struct kept {
	const struct process *process;
	const struct size_spans *spans;
	const struct stack *stack;
	const struct size_key *size; /* NULL: it is a site */
	size_t row;		     /* of the function; SIZE_MAX: unknown */
	const char *function;	     /* NULL: unknown */
	uint8_t device;		     /* or DEVICE_UNKNOWN */
	uint64_t bytes, count;
	uint64_t allocations, frees; /* 0: unknown */
	uint64_t amount;	     /* bytes of these allocations; sites only */
	bool once;		     /* at most one allocation: setup, which cannot grow */
	struct growth_evidence growth;
};

/*
 * Judges one item. `known`: the site's struct live_site, or the size's struct size_record. 0 or
 * -ENOMEM.
 */
typedef int (*kept_fn)(const struct finding_input *input, const struct kept *kept,
		       const void *known, struct finding_list *out);

/* Calls `detect` for each site or size of the process. 0, or the first error. */
int kept__each(const struct finding_input *input, const struct process *process, kept_fn detect,
	       struct finding_list *out);

/* Adds a finding with subject, stack and numbers of the item. NULL without memory. */
struct finding *kept__add(const struct finding_input *input, const struct kept *kept,
			  struct finding_list *out);

/* Notes whether an item large enough for a finding has a verdict. */
void kept__follow(const struct finding_input *input, const struct kept *kept, bool judged,
		  struct finding_list *out);

/*
 * "live memory of this call site grew by 120.0 MiB in 58.0 s (2.0 MiB/s)", then `to` and `rest`.
 * 0 or -ENOMEM.
 */
int kept__report_growth(struct finding *finding, const struct kept *kept, const char *to,
			const char *rest);

#endif
