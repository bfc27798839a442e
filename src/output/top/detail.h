/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of one process in `gpuprobe top`. */
#ifndef OUTPUT_TOP_DETAIL_H
#define OUTPUT_TOP_DETAIL_H

#include "base/quantity.h"
#include "finding/finding.h"
#include "model/dump.h"
#include "model/kernel_rates.h"
#include "model/process_rates.h"
#include "output/top/page.h"

struct top_detail {
	const struct model *model;
	const struct process *process;
	bool quiet;    /* it has made no call since attach */
	bool recorded; /* by a recording: it may not run */
	struct process_rate rate;
	const struct kernel_rates *kernels;
	const struct findings *state;	     /* for the verdict */
	const struct finding_list *findings; /* of this process */
	const struct dump *dump;	     /* of this process; NULL: it cannot be looked at */
	enum quantity_form form;
	bool full_names; /* of kernels */
	int width;	 /* of the terminal; 40 to 200 columns are used */
};

/*
 * Adds who and where the process is, its rates and verdict, findings with advice, threads with what
 * they are in, kernels, copies, memory call sites and failed calls. Returns 0 or -ENOMEM.
 */
int top_detail__add(struct top_page *page, const struct top_detail *detail);

#endif
