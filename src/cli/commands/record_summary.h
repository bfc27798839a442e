/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpuprobe record --level summary`: readings of the model go to a recording. */
#ifndef CLI_RECORD_SUMMARY_H
#define CLI_RECORD_SUMMARY_H

#include "base/error.h"
#include "cli/options/record_options.h"

/* Returns 0 and sets *status, or a negative errno with a message. */
int record_summary__run(const struct record_command *options, int *status, struct error *err);

#endif
