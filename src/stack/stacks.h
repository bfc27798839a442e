/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the stacks that BPF programs capture (include/gpuprobe/stack.h) into named ones
 * (stack/stack.h): addresses become functions and lines, Python frames replace the interpreter's,
 * and copies of stacks are unwound.
 *
 * A thread takes in records (stack/intake.h) and names their Python frames; stacks__settle does the
 * rest, which may take long. Memory is bounded by `max` distinct stacks: at the limit, the least
 * recently used one is dropped, and BPF sends it again when it is next seen.
 */
#ifndef STACK_STACKS_H
#define STACK_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/stack.h"
#include "stack/stack.h"
#include "target/memory_reader.h"

struct stacks;

/* What to write for the BPF programs. Each hook returns 0 or a negative errno. */
struct stack_hooks {
	/* Where the process has its Python frames; NULL: it has none any more. */
	int (*set_python)(void *arg, pid_t pid, const struct python_target *target);
	/*
	 * Where it has code; NULL: not needed any more. Called only with STACK_DWARF and
	 * STACK_AUTO, or with always_code.
	 */
	int (*set_code)(void *arg, pid_t pid, const struct code_map *map);
	/*
	 * Frame pointers lead to the stack's beginning; `chain` identifies the chain, see struct
	 * stack_record.
	 */
	int (*set_whole)(void *arg, uint64_t chain);
	/*
	 * The stack of `id` is the same as that of `same`, under which calls are to be counted from
	 * now on.
	 */
	int (*set_same)(void *arg, uint64_t id, uint64_t same);
	/* Send the stack with this id again when it is next seen. */
	int (*forget)(void *arg, uint64_t id);
	void *arg;
	bool always_code; /* some stacks are copied although the mode is STACK_FP */
};

struct stacks_options {
	enum stack_mode mode;
	size_t max;  /* distinct stacks to keep, at least 1 */
	int ring_fd; /* of the map `stack_ring`; -1: only stacks__take */
	/* Used by the calling thread; must outlive it. NULL as in stack_intake__new. */
	struct memory_reader *memory;
	/*
	 * Whether functions in this object (a file's base name) are to be named; NULL: in all.
	 * Reading the symbols of a framework's libraries takes most of the time.
	 */
	bool (*names_in)(const char *object);
	struct stack_hooks hooks;
};

struct stacks_counts {
	uint64_t kept;	    /* distinct stacks */
	uint64_t evicted;   /* dropped so far for lack of room */
	uint64_t unwound;   /* by DWARF, so far */
	uint64_t malformed; /* malformed records */
};

/* `log` must outlive it. Returns 0 or a negative errno. */
int stacks__new(const struct stacks_options *options, const struct log *log, struct stacks **out,
		struct error *err);
void stacks__free(struct stacks *stacks);

/*
 * Reads a running process: its mappings, where it has code, its Python interpreter. Call it when
 * the process is first seen, has executed another program (`exec`), or has loaded libraries. Cheap
 * if nothing has changed.
 */
void stacks__look_at(struct stacks *stacks, pid_t pid, bool exec);

/* Call when the process makes CUDA calls: warns once if its Python frames cannot be read. */
void stacks__announce(struct stacks *stacks, pid_t pid);

/* Takes in a record that is not in the ring. Returns 0, -EINVAL for a malformed one, or -ENOMEM. */
int stacks__take(struct stacks *stacks, const void *record, size_t size);

/* A descriptor that is readable while records wait to be settled. */
int stacks__fd(const struct stacks *stacks);

/* How many records wait to be settled. */
size_t stacks__waiting(const struct stacks *stacks);

/* Names the record that has waited longest. Returns 1 if there was one, 0 if none waits. */
int stacks__settle(struct stacks *stacks);

/*
 * Names all records that wait or are in the ring at the time of the call. Later records are left,
 * because they might never end.
 */
void stacks__catch_up(struct stacks *stacks);

/*
 * The stack with this id; NULL if unknown. Valid until the next stack is named by stacks__settle or
 * stacks__catch_up, which may drop any stack.
 */
const struct stack *stacks__find(struct stacks *stacks, uint64_t id);

/* The id that represents all ids of the same stack; the id itself if it is unknown. */
uint64_t stacks__same(const struct stacks *stacks, uint64_t id);

void stacks__count(const struct stacks *stacks, struct stacks_counts *counts);

#endif
