/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of -e that no library has: mistyped, or of one that comes later. */
#ifndef CLI_UNKNOWN_NAMES_H
#define CLI_UNKNOWN_NAMES_H

#include "base/log.h"
#include "trace/function.h"
#include "trace/selection.h"

/* Warns of each, but of many of the first alone; `what` says what is wrong with it. */
void unknown_names__warn(const struct trace_selection *selection, const struct trace_functions *functions,
			 const char *what, const struct log *log);

#endif
