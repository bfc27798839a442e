/* SPDX-License-Identifier: BSD-2-Clause */
/* What a receiver of OTLP answered, and what that means for the request. */
#ifndef EXPORT_REPLY_H
#define EXPORT_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT_REPLY_MAX 65536 /* bytes of a body; more is an error */
#define EXPORT_REASON_SIZE 200
#define EXPORT_RETRY_MAX_MS (5 * 60 * 1000) /* a receiver may ask for a longer pause */

/* As it came. */
struct export_reply {
	int status;	      /* 0: no answer */
	char retry_after[64]; /* the header; empty: none */
	unsigned char *body;  /* malloc; NULL: none */
	size_t length;
	bool is_text;			  /* the body is text, not protobuf */
	char failure[EXPORT_REASON_SIZE]; /* why there is no answer */
};

enum export_outcome {
	EXPORT_ACCEPTED = 0, /* maybe without some items */
	EXPORT_REFUSED,	     /* for good */
	EXPORT_FAILED,	     /* to be tried again */
};

struct export_verdict {
	enum export_outcome outcome;
	uint64_t rejected;		 /* items of an accepted request */
	uint64_t pause_ms;		 /* before the next attempt, at least; 0: not said */
	char reason[EXPORT_REASON_SIZE]; /* printable ASCII; empty: nothing is wrong */
};

/* Judges the answer. `now`: seconds since 1970, for a Retry-After with a date. */
void export_reply__judge(const struct export_reply *reply, int64_t now,
			 struct export_verdict *verdict);

/* Releases the body, and makes zeros of all. */
void export_reply__clear(struct export_reply *reply);

#endif
