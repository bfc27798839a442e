/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names the frames of one stack: native frames by their addresses, Python frames in place of the
 * interpreter's, and marks.
 */
#ifndef STACK_NAMING_H
#define STACK_NAMING_H

#include "stack/stack.h"
#include "stack/chain.h"
#include "stack/python.h"

/* The CUDA function, its callers, a mark. */
#define NAMED_MAX (1 + CHAIN_MAX + PYTHON_NAMED_MAX + 1)

/* Working memory for making one stack; it is large and is reused. */
struct naming {
	struct call_chain chain;
	const struct python_names *python;
	bool (*names_in)(const char *object); /* as in struct stacks_options */
	struct stack_frame frames[NAMED_MAX];
};

/*
 * Makes *out from naming->chain and ->python, in naming->frames. Texts and frames are valid until
 * mappings are read or trimmed. `process` is the record's, or NULL. Returns 0 or -ENOMEM.
 */
int naming__make(struct naming *naming, struct native_frames *frames,
		 const struct stack_process *process, const struct stack_record *record,
		 struct stack *out);

#endif
