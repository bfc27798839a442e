/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the functions that the attacher probes for a trace, and the plans by which the BPF
 * programs keep their calls: the selected functions; with launches also unloads, after which a
 * kernel's handle may be reused; and exported functions that the table does not have.
 */
#ifndef CLI_TRACE_CHOICE_H
#define CLI_TRACE_CHOICE_H

#include <stdbool.h>

#include "base/log.h"
#include "probe/selection.h"
#include "trace/function.h"
#include "trace/selection.h"

struct trace_bpf;

struct trace_choice {
	const struct trace_selection *selection;
	struct trace_functions *functions;
	struct trace_bpf *skeleton;
	const struct log *log;
	bool has_launches;
	bool lack_reported; /* a missing row was reported */
	/* for the attacher; its arg is this struct, which must not move */
	struct function_choice choice;
};

/* All four must outlive it. Nothing needs to be released. */
void trace_choice__init(struct trace_choice *choice, const struct trace_selection *selection,
			struct trace_functions *functions, struct trace_bpf *skeleton,
			const struct log *log);

/*
 * Warns of each name of -e that no library has: mistyped, or of a library that is loaded later. If
 * there are many, only the first are named. `what` says what is wrong with them.
 */
void trace_choice__warn_unknown(const struct trace_selection *selection,
				const struct trace_functions *functions, const char *what,
				const struct log *log);

#endif
