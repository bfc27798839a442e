/* SPDX-License-Identifier: BSD-2-Clause */
/* What `gpuprobe top` watches, and what it has learnt of it over time. */
#ifndef CLI_COMMANDS_TOP_WATCH_H
#define CLI_COMMANDS_TOP_WATCH_H

#include "finding/finding.h"
#include "model/process_rates.h"

struct live_model;
struct top_player;

struct top_watch {
	struct live_model *live;   /* NULL: a recording is shown */
	struct top_player *player; /* goes through it on the screen; NULL: none */
	bool full_names;	   /* in findings, of kernels */
	struct findings *findings;
	struct process_rates *rates;
};

/* Begins to learn at that time, CLOCK_BOOTTIME, and forgets what was learnt. 0 or -ENOMEM. */
int top_watch__begin(struct top_watch *watch, uint64_t began_ns);
void top_watch__clear(struct top_watch *watch); /* what was learnt */

#endif
