/* SPDX-License-Identifier: BSD-2-Clause */
/* The line at the start of commands that run for a while: what is watched, and how to end it. */
#ifndef OUTPUT_START_LINE_H
#define OUTPUT_START_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct start_line {
	const char *command; /* NULL: none; raw */
	const int32_t *pids; /* if there is no command */
	size_t pid_count;    /* 0, and no command: the whole machine */
	const char *only;    /* filters as on the command line, raw; NULL or "": none */
	double interval;     /* seconds between reports; 0: only the last one */
	double duration;     /* seconds; 0: no limit */
};

void start_line__print(FILE *out, const struct start_line *start);

/*
 * Says before that why it takes long to start, if the machine is so busy that the second of CPU
 * time for it takes many seconds. `load` as of getloadavg(3).
 */
void start_line__print_busy(FILE *out, double load, long cpus);

#endif
