/* SPDX-License-Identifier: BSD-2-Clause */
/* The Python frames of a record: what they are called, read while the process is there. */
#ifndef STACK_PYTHON_H
#define STACK_PYTHON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprobe/stack.h"
#include "stack/stack.h"
#include "symbol/python_code.h"

/* With a mark that there are more. */
#define PYTHON_NAMED_MAX (PYTHON_FRAMES_MAX + 1)

/* Frames and which of them a call of the interpreter began with, innermost first. */
struct python_names {
	struct stack_frame frames[PYTHON_NAMED_MAX];
	bool entry[PYTHON_NAMED_MAX];
	uint32_t count;
};

/* Whose code objects they are. */
struct python_owner {
	uint64_t start_ns; /* of the process */
	pid_t pid;
	uint32_t number; /* no other process's */
};

/*
 * Names the Python frames of a record. A frame whose code object is no more
 * what it was has no function and the object's address as offset. `owner` and
 * `offsets` are NULL where nothing is known of an interpreter. Texts are valid
 * until python_codes__prune.
 */
void python_names__make(struct python_names *names, struct python_codes *codes, const struct python_owner *owner,
			const struct python_offsets *offsets, const struct stack_record *record);

#endif
