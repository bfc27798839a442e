/* SPDX-License-Identifier: BSD-2-Clause */
/* What became of data that OTLP should carry. */
#ifndef EXPORT_COUNTS_H
#define EXPORT_COUNTS_H

#include <stdint.h>

enum export_loss {
	EXPORT_LOST_QUEUE = 0, /* there was no room: the receiver did not answer for long */
	EXPORT_LOST_REFUSED,   /* the receiver refused the request for good */
	EXPORT_LOST_REJECTED,  /* the receiver took the request without them */
	EXPORT_LOST_END,       /* gpuprobe ended before they were delivered */
	EXPORT_LOST_MEMORY,    /* gpuprobe had no memory */
	EXPORT_LOSSES,
};

/* Of one signal. Items are data points or log records. */
struct export_counts {
	uint64_t requests[3]; /* attempts, by enum export_outcome */
	uint64_t items;	      /* delivered */
	uint64_t lost[EXPORT_LOSSES];
	uint64_t queued_bytes, queued_items;
};

const char *export_loss__word(enum export_loss loss); /* "queue_full" */
const char *export_loss__text(enum export_loss loss); /* for people */

/* For all reasons together. */
uint64_t export_counts__lost(const struct export_counts *counts);

#endif
