// SPDX-License-Identifier: BSD-2-Clause
// Warnings about processes that the user's filter has left out, see left_out.h.
#include "cli/session/left_out.h"

#include <inttypes.h>

void left_out__report(const struct process_filter *filter, const struct filtered_processes *counts,
		      const struct log *log)
{
	const struct filter_text text = process_filter__text(filter);

	if (counts->unsure)
		log__warn(log,
			  "left out because they ended before their control group was known: "
			  "%" PRIu64 " process%s (%s)",
			  counts->unsure, counts->unsure == 1 ? "" : "es", text.text);
	if (counts->left_out && !counts->taken)
		log__warn(log, "no process that uses CUDA matches %s; %" PRIu64 " other%s left out",
			  text.text, counts->left_out, counts->left_out == 1 ? " was" : "s were");
}
