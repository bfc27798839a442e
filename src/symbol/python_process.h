/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Python interpreter in a process: where its state is, which version it
 * is, and how libc keeps the values of a thread's pthread keys. All of it is
 * found by symbols of the mapped files and compared with what is in memory
 * before it is believed.
 */
#ifndef SYMBOL_PYTHON_PROCESS_H
#define SYMBOL_PYTHON_PROCESS_H

#include <sys/types.h>

#include "symbol/python_offsets.h"
#include "target/memory_reader.h"

struct python_process {
	struct python_offsets offsets; /* with a whole target */
	/* The interpreter's object in memory, and its function that runs bytecode; 0 where that is not known. */
	uint64_t object_start, object_end;
	uint64_t eval_start, eval_end;
};

/*
 * Looks into the process. -ENOENT: no interpreter of CPython 3 is mapped.
 * Other negative errnos: there is one, whose frames cannot be read, for the
 * reason in *err; -EAGAIN of them: not yet, it is being loaded.
 */
int python_process__find(struct memory_reader *memory, pid_t pid, struct python_process *python, struct error *err);

#endif
