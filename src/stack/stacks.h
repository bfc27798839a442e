/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the stacks that BPF programs take (include/gpuprobe/stack.h) to named
 * ones (stack/stack.h): addresses into functions and lines, Python's frames in
 * place of the interpreter's, copies of stacks unwound.
 *
 * Records are taken in by a thread (stack/intake.h), which names their Python
 * frames; the rest, which may take long, is done by stacks__settle. Memory is
 * bounded by `max` distinct stacks; the one not asked for the longest time
 * leaves when there are more, and is told by BPF anew when it is seen again.
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

/* What BPF programs are to be told. Each returns 0 or a negative errno. */
struct stack_hooks {
	/* Where the process has its Python frames; NULL: it has none any more. */
	int (*set_python)(void *arg, pid_t pid, const struct python_target *target);
	/* Where it has code; NULL: that is of no interest any more. Called with STACK_DWARF and STACK_AUTO only, or with always_code. */
	int (*set_code)(void *arg, pid_t pid, const struct code_map *map);
	/* Frame pointers lead to the stack's beginning: a chain, see struct stack_record. */
	int (*set_whole)(void *arg, uint64_t chain);
	/* An id's stack is the same as another's, by whose id calls are counted from now on. */
	int (*set_same)(void *arg, uint64_t id, uint64_t same);
	/* The stack with this id is to be told anew when it is seen. */
	int (*forget)(void *arg, uint64_t id);
	void *arg;
	bool always_code; /* some stacks are copied although the mode is STACK_FP */
};

struct stacks_options {
	enum stack_mode mode;
	size_t max;		      /* distinct stacks kept, 1 or more */
	int ring_fd;		      /* of the map `stack_ring`; -1: records come by stacks__take alone */
	struct memory_reader *memory; /* of whoever calls these; must outlive it, NULL as there */
	struct stack_hooks hooks;
};

struct stacks_counts {
	uint64_t kept;	    /* distinct stacks */
	uint64_t evicted;   /* so far, for want of room */
	uint64_t unwound;   /* by DWARF, so far */
	uint64_t malformed; /* records that cannot be */
};

/* `log` must outlive it. 0 or a negative errno. */
int stacks__new(const struct stacks_options *options, const struct log *log, struct stacks **out, struct error *err);
void stacks__free(struct stacks *stacks);

/*
 * Looks at a process that is there: its mappings, where it has code, its Python
 * interpreter. To be called when it is first seen, has become another program
 * (`exec`), or has loaded libraries; cheap where nothing has changed.
 */
void stacks__look_at(struct stacks *stacks, pid_t pid, bool exec);

/* The process makes CUDA calls: warns once where its Python frames cannot be had. */
void stacks__announce(struct stacks *stacks, pid_t pid);

/* Takes in a record that is in no ring. 0, -EINVAL for one that cannot be, or -ENOMEM. */
int stacks__take(struct stacks *stacks, const void *record, size_t size);

/* Readable while records wait to be settled. */
int stacks__fd(const struct stacks *stacks);

/* How many records wait to be settled. */
size_t stacks__waiting(const struct stacks *stacks);

/* Names the record that has waited the longest. Returns 1 if there was one, 0 if none waits. */
int stacks__settle(struct stacks *stacks);

/* Names all that waits and all that is in the ring by now, not what comes meanwhile, which may come without an end. */
void stacks__catch_up(struct stacks *stacks);

/*
 * The stack with this id, NULL where it is not known. Valid until the next is
 * named, by stacks__settle or stacks__catch_up: any may leave then.
 */
const struct stack *stacks__find(struct stacks *stacks, uint64_t id);

/* The id that stands for all that lead to the same stack; the id itself where it is not known. */
uint64_t stacks__same(const struct stacks *stacks, uint64_t id);

void stacks__count(const struct stacks *stacks, struct stacks_counts *counts);

#endif
