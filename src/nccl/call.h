/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of NCCL that the judge is fed with: what each does, and which of its arguments is
 * what. All versions of a function pass these the same way.
 */
#ifndef NCCL_CALL_H
#define NCCL_CALL_H

#include "nccl/event.h"

#define NCCL_NO_WORD 0xff

/* Where arguments are among the words of a call: six registers, then the stack's slots. */
struct nccl_call {
	const char *symbol;
	enum nccl_function function;
	uint8_t comm, count, datatype, op, root, stream;
	uint8_t size, rank; /* of those that make a communicator */
	uint8_t made_at;    /* where they write its address */
	uint8_t id;	    /* the first word of the unique id, which is passed by value */
};

/* NULL: not a function that the judge is fed with. */
const struct nccl_call *nccl_call__find(const char *symbol);

/*
 * The functions to trace, as a list for trace_selection__add: these, waits, captures, and the
 * choice of a device.
 */
extern const char nccl_call_selection[];

/* All of them; ends with a NULL symbol. */
extern const struct nccl_call nccl_calls[];

#endif
