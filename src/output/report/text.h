/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of --memleak, --cudatrace and --bandwidth-util: a line with the date and the selected
 * sections, between two lines of equals signs. Its form never changes, since scripts read it. The
 * monitor's own report is in output/monitor.
 */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/quantity.h"
#include "finding/finding.h"
#include "model/model.h"

struct report_options {
	unsigned int top; /* entries shown of each list; 0: all */
	bool full_names;  /* show the full demangled names of kernels */
	bool on_terminal; /* long names are cut in the middle, see output/clip.h */
	size_t width;	  /* of lines with a finding's sentences; 0: no limit */
	enum quantity_form form;
	bool all_frames; /* print every frame of stacks, see output/folded_stack.h */
	bool ten_frames; /* with all_frames: only the first ten of a finding's stack */
	/* printed at the end of the report; NULL: they are not evaluated */
	const struct finding_list *findings;
};

/*
 * Writes one report. A section leaves out processes that have nothing to show in it. All sections
 * leave out processes whose end was reported. The caller checks ferror(out).
 */
void report_text__print(FILE *out, const struct model *model, const struct report_options *options);

#endif
