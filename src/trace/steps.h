/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The internals of a function that can be traced: its plan, and the steps by which the record of a
 * call becomes fields. trace/plan.c derives everything from the API table once; trace/decode.c runs
 * the steps for each call.
 */
#ifndef TRACE_STEPS_H
#define TRACE_STEPS_H

#include "trace/function.h"
#include "trace/type.h"

enum step_kind {
	STEP_VALUE = 0, /* as .form says */
	STEP_WORD,	/* an int that may have a name */
	STEP_RESULT,	/* an error code of .layer */
	STEP_DIMS,	/* three ints, each in its own word */
	STEP_CONSTANT,	/* .text: it follows from the function */
	STEP_BOX,	/* dst, src, size and kind of .box */
	STEP_PRODUCT,	/* of the factors found so far */
};

#define STEP_FROM_WORDS 0xff /* .block: the argument words */

#define STEP_FIRST 0x01	 /* first step of its block: represents it if it cannot be read */
#define STEP_FACTOR 0x02 /* the number is a factor of the product of a later step */
#define STEP_WAY 0x04	 /* for STEP_BOX: also show the kind */

struct trace_step {
	const char *name;
	union {
		const struct api_value *values;
		const struct copy_layout *box;
		const char *text;
	};
	uint16_t value_count;
	uint16_t offset; /* in the words or the block, in bytes */
	uint8_t kind;	 /* enum step_kind */
	uint8_t form;	 /* enum trace_form */
	uint8_t role;	 /* enum trace_role */
	uint8_t size;	 /* of the number, in bytes */
	uint8_t block;	 /* index in plan.read[], or STEP_FROM_WORDS */
	uint8_t flags;	 /* STEP_* */
	uint8_t unit;	 /* bytes per unit of the number */
	uint8_t layer;
	uint8_t words[3]; /* STEP_DIMS: TRACE_NO_WORD means 1; STEP_PRODUCT: [0] factors */
};

/* The field that represents a block that could not be read or is empty. */
struct trace_block_field {
	const char *name;
	uint8_t role;
};

struct trace_function {
	const char *symbol;
	uint8_t operation;
	struct trace_plan plan;
	struct trace_block_field block[TRACE_READS];
	size_t step_count;
	struct trace_step *steps;
	char *own_symbol; /* for a function that is not in the table */
};

/* Names of members, "location.type", made once and kept as long as the functions. */
struct trace_names {
	char **list;
	size_t count;
};

/* Returns "ARGUMENT.MEMBER", or NULL if out of memory. */
const char *trace_names__join(struct trace_names *names, const char *argument, const char *member);

/*
 * Fills plan, block and steps of `function` from its row. With kernel_args the plan records what
 * leads to the kernel arguments. Returns 0 or -ENOMEM. The caller frees `function->steps`.
 */
int trace_plan__build(const struct api_function *row, bool kernel_args, struct trace_names *names,
		      struct trace_function *function);

/* The same for an unknown function: six words. */
int trace_plan__build_raw(enum layer layer, struct trace_function *function);

#endif
