/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which frames of a stack belong to frameworks and libraries, and what these do there: "caching
 * allocator", "aten::conv2d", "cuBLAS: cublasCreate_v2". The table is in frameworks.c.
 */
#ifndef OUTPUT_FRAMEWORKS_H
#define OUTPUT_FRAMEWORKS_H

#include <stdbool.h>

#include "stack/stack.h"

#define FRAMEWORK_NAME_SIZE 256

/* What a frame says about the call, from least to most. */
enum framework_role {
	ROLE_OWN = 0,	/* of the program, or unknown: people want to see it */
	ROLE_GLUE,	/* passes the call on: C library, interpreter, dispatcher, wrappers */
	ROLE_ALLOCATOR, /* a framework's memory pool */
	ROLE_INNER,	/* inside of an operation */
	ROLE_OPERATION, /* aten::conv2d, the autograd node, JAX's jit */
	ROLE_LIBRARY,	/* cuBLAS, cuDNN, NCCL, … */
	ROLE_API,	/* a Python function that the program may have called */
	FRAMEWORK_ROLES,
};

struct framework_frame {
	enum framework_role role;
	bool foreign; /* of a framework; not only of Python, the C library or the C++ runtime */
	bool exact;   /* the name has the frame's function */
	/* what the frame does, "" for ROLE_OWN; of the watched program: escape it */
	char name[FRAMEWORK_NAME_SIZE];
};

/*
 * Classifies a frame. `python`: the stack has Python frames of the program, so that a native
 * library is not the program's own.
 */
void frameworks__classify(const struct stack_frame *frame, bool python,
			  struct framework_frame *known);

#endif
