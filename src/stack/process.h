/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of the stacks: their mappings, and where their Python interpreter is. They are read
 * while the process exists, and again after changes. The data of an ended process is kept.
 */
#ifndef STACK_PROCESS_H
#define STACK_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "base/table.h"
#include "stack/stacks.h"
#include "stack/unwind.h"
#include "symbol/native_frames.h"
#include "symbol/python_process.h"
#include "target/memory_reader.h"

enum python_search {
	PYTHON_NOT_FOUND = 0,
	PYTHON_NOT_YET, /* the interpreter is being loaded */
	PYTHON_REFUSED, /* there is one, but its frames cannot be read */
	PYTHON_FOUND,
};

struct stack_process {
	pid_t pid;
	uint64_t start_ns;
	uint32_t number; /* unique */
	struct native_process *native;
	struct unwinder *unwinder;    /* NULL: not needed so far */
	struct python_process python; /* valid if `search` is PYTHON_FOUND */
	enum python_search search;
	uint64_t searched_ns;
	uint64_t search_takes_ns; /* CPU time of the latest search for Python */
	bool announced, warned;
	bool changed; /* read again at the next record */
	uint64_t read_ns;
	uint64_t took_ns;	/* CPU time of the latest reading */
	uint64_t takes_ns;	/* the shorter of the latest two: the first one opens all files */
	uint64_t debt_ns;	/* CPU time of readings minus credit for earlier pauses */
	uint64_t code_version;	/* at the last reading, from a record; 0: no record has given one */
	uint64_t wait_ns;	/* pause before reading for an unknown address; 0: none yet */
	unsigned int code_hash; /* of the last code map (8 KiB) passed to the hook */
	bool code_reported;
	size_t bytes;	   /* of mappings and JIT names, at the last reading */
	UT_hash_handle hh; /* by pid */
};

struct stack_intake;
struct stack_processes;

/* `hooks`, `intake`, `memory` and `log` must outlive it. Returns NULL if out of memory. */
struct stack_processes *stack_processes__new(enum stack_mode mode, const struct stack_hooks *hooks,
					     struct stack_intake *intake,
					     struct memory_reader *memory, const struct log *log);
void stack_processes__free(struct stack_processes *processes);

/* The object that names addresses for all processes. */
struct native_frames *stack_processes__frames(struct stack_processes *processes);

/* The reader of the processes' memory. */
struct memory_reader *stack_processes__memory(struct stack_processes *processes);

/* See stacks__look_at and stacks__announce. */
void stack_processes__look_at(struct stack_processes *processes, pid_t pid, bool exec,
			      uint64_t now);
void stack_processes__announce(struct stack_processes *processes, pid_t pid, uint64_t now);

/*
 * The process of a record. NULL if it is gone and nothing is known of it. Valid until the next
 * call.
 */
struct stack_process *stack_processes__of(struct stack_processes *processes,
					  const struct stack_record *record, uint64_t now);

/*
 * Reads the mappings again if they have changed since the record was made, or if one of its
 * addresses is in no mapping and the pause is over.
 */
void stack_processes__refresh(struct stack_processes *processes, struct stack_process *process,
			      const struct stack_record *record, uint64_t now);

/*
 * Reads the mappings again for a process whose stack cannot be followed, if the pause is over.
 * Returns whether it read them.
 */
bool stack_processes__retry(struct stack_processes *processes, struct stack_process *process,
			    uint64_t now);

/* Whether both start times may be of the same process: /proc gives a start in clock ticks. */
bool stack_process__is_same_start(uint64_t a, uint64_t b);

/* Whether the process still exists, so that its memory may be read. */
bool stack_process__is_there(pid_t pid, uint64_t start_ns);

#endif
