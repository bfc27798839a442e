/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function that can be traced, from within: its plan, and the steps by which
 * what was kept of a call becomes fields. All that can be found out from the
 * API table is found out once, by trace/plan.c; trace/decode.c goes through
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
	STEP_DIMS,	/* three ints, each a word of its own */
	STEP_CONSTANT,	/* .text: it follows from the function */
	STEP_BOX,	/* dst, src, size and kind of .box */
	STEP_PRODUCT,	/* of the factors that were met */
};

#define STEP_FROM_WORDS 0xff /* .block: the argument words */

#define STEP_FIRST 0x01	 /* of its block: stands for all of it when it could not be read */
#define STEP_FACTOR 0x02 /* the number is a factor of the product of a later step */
#define STEP_WAY 0x04	 /* of STEP_BOX: the kind is shown too */

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
	uint8_t block;	 /* of plan.read[], or STEP_FROM_WORDS */
	uint8_t flags;	 /* STEP_* */
	uint8_t unit;	 /* bytes that one of it is */
	uint8_t layer;
	uint8_t words[3]; /* of STEP_DIMS: TRACE_NO_WORD is 1; of STEP_PRODUCT the first: how many factors */
};

/* The field that stands for a block that could not be read or has nothing in it. */
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
	char *own_symbol; /* of one that the table does not have */
};

/* Names of members, "location.type", made once and kept until the functions go. */
struct trace_names {
	char **list;
	size_t count;
};

/* "ARGUMENT.MEMBER", or NULL without memory. */
const char *trace_names__join(struct trace_names *names, const char *argument, const char *member);

/*
 * Fills plan, block and steps of `function` from its row. With kernel_args the
 * plan keeps what kernel arguments are found by. 0 or -ENOMEM. `function->steps`
 * is the caller's to free.
 */
int trace_plan__build(const struct api_function *row, bool kernel_args, struct trace_names *names,
		      struct trace_function *function);

/* The same for a function of which nothing is known: six words. */
int trace_plan__build_raw(enum layer layer, struct trace_function *function);

#endif
