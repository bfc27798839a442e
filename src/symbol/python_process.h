/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Python interpreter in a process: where its state is, which version it is, and how libc stores
 * the values of a thread's pthread keys. All of it is found by symbols of the mapped files and
 * compared with memory before it is used.
 */
#ifndef SYMBOL_PYTHON_PROCESS_H
#define SYMBOL_PYTHON_PROCESS_H

#include <sys/types.h>

#include "symbol/python_offsets.h"
#include "target/memory_reader.h"

struct python_process {
	struct python_offsets offsets; /* with a complete target */
	/* The interpreter's object in memory, and its function that runs bytecode; 0 if unknown. */
	uint64_t object_start, object_end;
	uint64_t eval_start, eval_end;
};

/*
 * Inspects the process. Returns 0; -ENOENT: no interpreter of CPython 3 is mapped; -EAGAIN: it is
 * still being loaded; another negative errno: its frames cannot be read, for the reason in *err.
 */
int python_process__find(struct memory_reader *memory, pid_t pid, struct python_process *python,
			 struct error *err);

#endif
