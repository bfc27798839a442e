/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines of a recording the options of `gpuprobe trace -i` select. */
#ifndef CLI_RECORDED_FILTER_H
#define CLI_RECORDED_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options/trace_options.h"
#include "record/file.h"

struct recorded_filter;

/* `options` must outlive it. NULL if out of memory. */
struct recorded_filter *recorded_filter__new(const struct trace_options *options,
					     const struct recording_header *header);
void recorded_filter__free(struct recorded_filter *filter); /* NULL is fine */

/* Whether the line is to be shown. Lines come in the order of the recording. */
bool recorded_filter__takes(struct recorded_filter *filter, const struct trace_line *line);

/* Whether the line, and so all that follow, is later than --to. */
bool recorded_filter__is_over(const struct recorded_filter *filter, const struct trace_line *line);

/* CLOCK_BOOTTIME of --from. */
uint64_t recorded_filter__from(const struct recorded_filter *filter);

#endif
