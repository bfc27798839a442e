/* SPDX-License-Identifier: BSD-2-Clause */
/* The words for what a thread does and waits for, in the text and the JSON of `gpuprobe dump`. */
#ifndef OUTPUT_DUMP_WORDS_H
#define OUTPUT_DUMP_WORDS_H

#include <stdbool.h>

#include "model/dump.h"

const char *dump_words__run(enum dump_run run);	    /* "on the CPU" */
const char *dump_words__run_key(enum dump_run run); /* "running" */

/* "waits for a lock", or, of several threads, "wait for a lock". Not for DUMP_WAIT_NONE. */
const char *dump_words__wait(enum dump_wait kind, bool several);
const char *dump_words__wait_key(enum dump_wait kind); /* "lock"; NULL: DUMP_WAIT_NONE */

#endif
