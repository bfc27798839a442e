/* SPDX-License-Identifier: BSD-2-Clause */
/* The Python frames of a record: names them while the process exists. */
#ifndef STACK_PYTHON_H
#define STACK_PYTHON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprobe/stack.h"
#include "stack/stack.h"
#include "symbol/python_code.h"

/* Includes a mark that says that there are more. */
#define PYTHON_NAMED_MAX (PYTHON_FRAMES_MAX + 1)

/* Frames, innermost first, and which of them began a call of the interpreter. */
struct python_names {
	struct stack_frame frames[PYTHON_NAMED_MAX];
	bool entry[PYTHON_NAMED_MAX];
	uint32_t count;
};

/* The process whose code objects they are. */
struct python_owner {
	uint64_t start_ns; /* of the process */
	pid_t pid;
	uint32_t number; /* unique */
};

/*
 * Names the Python frames of a record. A frame whose code object has changed since has no function,
 * and the object's address as offset. `owner` and `offsets` are NULL if no interpreter is known.
 * Texts are valid until python_codes__prune.
 */
void python_names__make(struct python_names *names, struct python_codes *codes,
			const struct python_owner *owner, const struct python_offsets *offsets,
			const struct stack_record *record);

#endif
