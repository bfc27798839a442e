/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page at / where the one with plots (output/web/) is not served: what is watched, by whom GPUs
 * are used, and what is wrong. Everything that a process can influence is escaped, and the number
 * of rows is bounded.
 */
#ifndef OUTPUT_LANDING_PAGE_H
#define OUTPUT_LANDING_PAGE_H

#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"

#define LANDING_PROCESSES 200 /* rows of the page; the metrics have all */
#define LANDING_FINDINGS 100

struct landing_page {
	const char *version; /* of gpuprobe */
	const char *watched; /* "the whole machine" */
	uint64_t began_ns;   /* CLOCK_BOOTTIME since when it is watched */
	const char *hint;    /* a sentence at the end; NULL: none */
};

/*
 * Writes the page as HTML; errors are those of the stream. `findings` are those detected in the
 * model. Returns 0 or -ENOMEM.
 */
int landing_page__print(FILE *out, const struct landing_page *page, const struct model *model,
			const struct finding_list *findings);

#endif
