/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which functions the attacher probes for a trace, and by which plans the BPF
 * programs keep their calls: what was selected; with launches, also the unloads
 * after which a kernel's handle may mean another; and what libraries export
 * that the table does not know.
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
	bool lack_reported;		       /* of a function for which there was no row */
	struct function_choice choice; /* for the attacher; its arg is this struct, which must stay where it is */
};

/* All four must outlive it. There is nothing to release. */
void trace_choice__init(struct trace_choice *choice, const struct trace_selection *selection,
			struct trace_functions *functions, struct trace_bpf *skeleton, const struct log *log);

/*
 * Warns of each name of -e that no library has: mistyped, or of one that comes later. Of many only the first are named; `what`
 * says what is wrong with it.
 */
void trace_choice__warn_unknown(const struct trace_selection *selection, const struct trace_functions *functions,
				const char *what, const struct log *log);

#endif
