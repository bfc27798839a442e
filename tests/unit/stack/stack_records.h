/* SPDX-License-Identifier: BSD-2-Clause */
/* Stack records of this very process, as BPF programs would send them, and their consumers. */
#ifndef TESTS_STACK_RECORDS_H
#define TESTS_STACK_RECORDS_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "own_backtrace.h"
#include "stack/stacks.h"
#include "target/proc.h"
#include "target/process_memory.h"

#define RECORD_MAX (sizeof(struct stack_record) + STACK_COPY_MAX)
#define STACKS_MAX 100

struct reported {
	struct code_map code;
	unsigned int codes, codes_gone, pythons, wholes, same, forgotten;
	uint64_t chain;
};

static inline int set_python(void *arg, pid_t pid, const struct python_target *target)
{
	(void)pid;
	(void)target;
	((struct reported *)arg)->pythons++;
	return 0;
}

static inline int set_code(void *arg, pid_t pid, const struct code_map *map)
{
	struct reported *reported = arg;

	(void)pid;
	if (!map) {
		reported->codes_gone++;
		return 0;
	}
	reported->code = *map;
	reported->codes++;
	return 0;
}

static inline int set_whole(void *arg, uint64_t chain)
{
	((struct reported *)arg)->wholes++;
	((struct reported *)arg)->chain = chain;
	return 0;
}

static inline int set_same(void *arg, uint64_t id, uint64_t same)
{
	assert_int_not_equal(id, same);
	((struct reported *)arg)->same++;
	return 0;
}

static inline int forget(void *arg, uint64_t id)
{
	(void)id;
	((struct reported *)arg)->forgotten++;
	return 0;
}

static inline struct stacks *make(enum stack_mode mode, struct reported *reported)
{
	const struct stacks_options options = {
		.mode = mode,
		.max = STACKS_MAX,
		.ring_fd = -1,
		.hooks = {set_python, set_code, set_whole, set_same, forget, reported},
	};
	struct stacks *stacks;

	memset(reported, 0, sizeof(*reported));
	assert_int_equal(stacks__new(&options, NULL, &stacks, NULL), 0);
	return stacks;
}

/* The stacks are those of its callers. */
static OWN_FRAME __attribute__((unused)) void the_function(void)
{
}

static inline struct stack_record *record_of(pid_t pid)
{
	struct stack_record *record = calloc(1, RECORD_MAX);
	struct process_info info;

	assert_non_null(record);
	assert_int_equal(proc__info(pid, &info), 0);
	record->id = 1;
	record->pid = pid;
	record->start_ns = info.start_ns;
	record->chain = 77;
	record->function = (uintptr_t)the_function;
	return record;
}

/* The registers and the stack as they are in the caller, which continues. */
static OWN_FRAME __attribute__((unused)) void copy_own_stack(struct stack_record *record,
							     uint32_t bytes)
{
	static ucontext_t context;
	greg_t *r = context.uc_mcontext.gregs;

	assert_int_equal(getcontext(&context), 0);
	record->registers = (struct stack_registers){
		.ip = (uint64_t)r[REG_RIP],
		.sp = (uint64_t)r[REG_RSP],
		.bp = (uint64_t)r[REG_RBP],
		.bx = (uint64_t)r[REG_RBX],
		.r12 = (uint64_t)r[REG_R12],
		.r13 = (uint64_t)r[REG_R13],
		.r14 = (uint64_t)r[REG_R14],
		.r15 = (uint64_t)r[REG_R15],
	};
	while (record->copied < bytes) {
		uint32_t piece = bytes - record->copied < 512 ? bytes - record->copied : 512;

		if (process_memory__read(getpid(), record->registers.sp + record->copied,
					 record->copy + record->copied, piece))
			break;
		record->copied += piece;
	}
}

/* The result of frame pointers in a program that has them everywhere. */
static OWN_FRAME __attribute__((unused)) void chain_own_stack(struct stack_record *record)
{
	void *addresses[STACK_FRAMES_MAX];
	int count = own_backtrace(addresses, STACK_FRAMES_MAX);

	record->natives = (uint8_t)count;
	for (int i = 0; i < count; i++)
		record->native[i] = (uintptr_t)addresses[i];
}

static inline size_t size_of(const struct stack_record *record)
{
	return sizeof(*record) + record->copied;
}

static const struct stack *take(struct stacks *stacks, const struct stack_record *record)
{
	const struct stack *stack;

	assert_int_equal(stacks__take(stacks, record, size_of(record)), 0);
	stacks__catch_up(stacks);
	stack = stacks__find(stacks, record->id);
	assert_non_null(stack);
	return stack;
}

static inline void assert_function(const struct stack *stack, uint32_t i, const char *function)
{
	assert_true(i < stack->count);
	assert_non_null(stack->frames[i].function);
	assert_string_equal(stack->frames[i].function, function);
}

/* It is the last of the named frames; the frames above it are this test's callers. */
static inline void assert_ends(const struct stack *stack, const char *function)
{
	assert_function(stack, stack->count - 1, function);
}

/* The line where the next function begins, or the line before. */
enum {
	OUTER_WITH_CHAIN_LINE = __LINE__ + 2
};

static OWN_FRAME __attribute__((unused)) void outer_with_chain(struct stack_record *record)
{
	chain_own_stack(record);
	__asm__ volatile("" ::: "memory");
}

static OWN_FRAME __attribute__((unused)) void outer_with_copy(struct stack_record *record,
							      uint32_t bytes)
{
	copy_own_stack(record, bytes);
	__asm__ volatile("" ::: "memory");
}

#endif
