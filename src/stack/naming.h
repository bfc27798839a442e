/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of one stack: native ones by their addresses, Python's in place of the interpreter's, marks. */
#ifndef STACK_NAMING_H
#define STACK_NAMING_H

#include "stack/stack.h"
#include "stack/chain.h"
#include "stack/python.h"

/* The function, what it was called by, a mark. */
#define NAMED_MAX (1 + CHAIN_MAX + PYTHON_NAMED_MAX + 1)

/* What one stack is made in: large, to be used again. */
struct naming {
	struct call_chain chain;
	const struct python_names *python;
	struct stack_frame frames[NAMED_MAX];
};

/*
 * Makes *out of naming->chain and ->python, in naming->frames: texts and frames
 * are valid until mappings are read or trimmed. `process` is the record's or
 * NULL. 0 or -ENOMEM.
 */
int naming__make(struct naming *naming, struct native_frames *frames, const struct stack_process *process,
		 const struct stack_record *record, struct stack *out);

#endif
