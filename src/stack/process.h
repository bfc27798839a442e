/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that stacks are of: what they have mapped, and where their
 * Python interpreter is. Read while they are there, and again when that has
 * changed; what was known of one stays when it has gone.
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
	PYTHON_NOT_YET, /* it is being loaded */
	PYTHON_REFUSED, /* there is one, whose frames cannot be had */
	PYTHON_FOUND,
};

struct stack_process {
	pid_t pid;
	uint64_t start_ns;
	uint32_t number; /* no other process's */
	struct native_process *native;
	struct unwinder *unwinder;    /* NULL: none was needed */
	struct python_process python; /* where `search` is PYTHON_FOUND */
	enum python_search search;
	uint64_t searched_ns;
	uint64_t search_takes_ns; /* the latest look for Python, of CPU time */
	bool announced, warned;
	bool changed; /* to be read again at the next record */
	uint64_t read_ns;
	uint64_t took_ns;	/* the latest reading, of CPU time */
	uint64_t takes_ns;	/* the latest two, each at least: the first opens all files */
	uint64_t debt_ns;	/* what readings took, less the pauses since; as of the latest */
	uint64_t code_version;	/* as of the last reading, as a record told; 0: none has */
	uint64_t wait_ns;	/* until the next reading for the sake of addresses; 0: the first time */
	unsigned int code_hash; /* of the code map, 8 KiB, as was told last */
	bool code_reported;
	size_t bytes;	   /* of mappings and JIT's names, as of the last reading */
	UT_hash_handle hh; /* by pid */
};

struct stack_intake;
struct stack_processes;

/* `hooks`, `intake`, `memory` and `log` must outlive it. NULL without memory. */
struct stack_processes *stack_processes__new(enum stack_mode mode, const struct stack_hooks *hooks,
					     struct stack_intake *intake, struct memory_reader *memory,
					     const struct log *log);
void stack_processes__free(struct stack_processes *processes);

/* What names addresses of all of them. */
struct native_frames *stack_processes__frames(struct stack_processes *processes);

/* What their memory is read by. */
struct memory_reader *stack_processes__memory(struct stack_processes *processes);

/* As stacks__look_at and stacks__announce. */
void stack_processes__look_at(struct stack_processes *processes, pid_t pid, bool exec, uint64_t now);
void stack_processes__announce(struct stack_processes *processes, pid_t pid, uint64_t now);

/*
 * The process of a record. NULL where it is gone and nothing is known of it.
 * Valid until the next call.
 */
struct stack_process *stack_processes__of(struct stack_processes *processes, const struct stack_record *record,
					  uint64_t now);

/*
 * Reads the mappings anew if they have changed since a record was made, or if
 * an address of it is in none and it is time.
 */
void stack_processes__refresh(struct stack_processes *processes, struct stack_process *process,
			      const struct stack_record *record, uint64_t now);

/* Reads the mappings again for one whose stack cannot be followed, if it is time; whether they were read. */
bool stack_processes__retry(struct stack_processes *processes, struct stack_process *process, uint64_t now);

/* Whether these may be one process's: /proc tells a start in clock ticks. */
bool stack_process__is_same_start(uint64_t a, uint64_t b);

/* Whether the process is still there: its memory may be read. */
bool stack_process__is_there(pid_t pid, uint64_t start_ns);

#endif
