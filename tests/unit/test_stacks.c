// SPDX-License-Identifier: BSD-2-Clause
// Records of stacks of this very process, as BPF programs would send them, and such as they never would.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "own_backtrace.h"
#include "stack/stacks.h"
#include "target/process.h"
#include "target/process_memory.h"

#define RECORD_MAX (sizeof(struct stack_record) + STACK_COPY_MAX)

struct told {
	struct code_map code;
	unsigned int codes, codes_gone, pythons, wholes, same, forgotten;
	uint64_t chain;
};

static int set_python(void *arg, pid_t pid, const struct python_target *target)
{
	(void)pid;
	(void)target;
	((struct told *)arg)->pythons++;
	return 0;
}

static int set_code(void *arg, pid_t pid, const struct code_map *map)
{
	struct told *told = arg;

	(void)pid;
	if (!map) {
		told->codes_gone++;
		return 0;
	}
	told->code = *map;
	told->codes++;
	return 0;
}

static int set_whole(void *arg, uint64_t chain)
{
	((struct told *)arg)->wholes++;
	((struct told *)arg)->chain = chain;
	return 0;
}

static int set_same(void *arg, uint64_t id, uint64_t same)
{
	assert_int_not_equal(id, same);
	((struct told *)arg)->same++;
	return 0;
}

static int forget(void *arg, uint64_t id)
{
	(void)id;
	((struct told *)arg)->forgotten++;
	return 0;
}

static struct stacks *make(enum stack_mode mode, struct told *told)
{
	const struct stacks_options options = {
		.mode = mode,
		.max = 100,
		.ring_fd = -1,
		.hooks = {set_python, set_code, set_whole, set_same, forget, told},
	};
	struct stacks *stacks;

	memset(told, 0, sizeof(*told));
	assert_int_equal(stacks__new(&options, NULL, &stacks, NULL), 0);
	return stacks;
}

/* Whose callers the stacks are of. */
static __attribute__((noipa)) void the_function(void)
{
}

static struct stack_record *record_of(pid_t pid)
{
	struct stack_record *record = calloc(1, RECORD_MAX);
	struct process_info info;

	assert_non_null(record);
	assert_int_equal(process__info(pid, &info), 0);
	record->id = 1;
	record->pid = pid;
	record->start_ns = info.start_ns;
	record->chain = 77;
	record->function = (uintptr_t)the_function;
	return record;
}

/* The registers and the stack as they are in the caller, who goes on. */
static __attribute__((noipa)) void copy_own_stack(struct stack_record *record, uint32_t bytes)
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

/* What frame pointers would tell in a program that has them everywhere. */
static __attribute__((noipa)) void chain_own_stack(struct stack_record *record)
{
	void *addresses[STACK_FRAMES_MAX];
	int count = own_backtrace(addresses, STACK_FRAMES_MAX);

	record->natives = (uint8_t)count;
	for (int i = 0; i < count; i++)
		record->native[i] = (uintptr_t)addresses[i];
}

static size_t size_of(const struct stack_record *record)
{
	return sizeof(*record) + record->copied;
}

static const struct stack *take(struct stacks *stacks, const struct stack_record *record)
{
	const struct stack *stack;

	assert_int_equal(stacks__take(stacks, record, size_of(record)), 0);
	stack = stacks__find(stacks, record->id);
	assert_non_null(stack);
	return stack;
}

static void assert_function(const struct stack *stack, uint32_t i, const char *function)
{
	assert_true(i < stack->count);
	assert_non_null(stack->frames[i].function);
	assert_string_equal(stack->frames[i].function, function);
}

/* It is the last of the named frames; before it are callers of this test. */
static void assert_ends(const struct stack *stack, const char *function)
{
	assert_function(stack, stack->count - 1, function);
}

static __attribute__((noipa)) void outer_with_chain(struct stack_record *record)
{
	chain_own_stack(record);
	__asm__ volatile("" ::
				 : "memory");
}

static __attribute__((noipa)) void outer_with_copy(struct stack_record *record, uint32_t bytes)
{
	copy_own_stack(record, bytes);
	__asm__ volatile("" ::
				 : "memory");
}

static void names_a_chain(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	const struct stack *stack;
	struct stacks_counts counts;

	(void)state;
	outer_with_chain(record);
	stack = take(stacks, record);
	assert_function(stack, 0, "the_function");
	assert_int_equal(stack->frames[0].offset, 0);
	assert_function(stack, 1, "chain_own_stack");
	assert_function(stack, 2, "outer_with_chain");
	assert_non_null(strstr(stack->frames[2].file, "test_stacks.c"));
	assert_in_range(stack->frames[2].line, 100, __LINE__);
	assert_function(stack, 3, __func__);
	assert_ends(stack, "_start");
	assert_int_equal(stack->count, record->natives + 1);
	assert_false(stack->broken);
	assert_false(stack->truncated);
	assert_int_equal(told.codes, 0);
	assert_int_equal(told.wholes, 0);
	stacks__count(stacks, &counts);
	assert_int_equal(counts.kept, 1);
	assert_int_equal(counts.unwound, 0);
	/* The same frames by another id, and what is known is not named anew. */
	record->id = 2;
	assert_ptr_equal(take(stacks, record), stack);
	record->natives = 1;
	assert_ptr_equal(take(stacks, record), stack);
	assert_null(stacks__find(stacks, 3));
	stacks__free(stacks);
	free(record);
}

static void marks_what_is_missing(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	const struct stack *stack;

	(void)state;
	outer_with_chain(record);
	record->natives = 3;
	stack = take(stacks, record);
	assert_true(stack->broken);
	assert_false(stack->truncated);
	assert_int_equal(stack->count, 5);
	assert_function(stack, 3, __func__);
	assert_int_equal(stack->frames[4].kind, FRAME_MARK);
	assert_ends(stack, "[callers not found]");
	record->flags = STACK_CUT;
	record->id++;
	stack = take(stacks, record);
	assert_false(stack->broken);
	assert_true(stack->truncated);
	assert_int_equal(stack->count, 5);
	assert_int_equal(stack->frames[4].kind, FRAME_MARK);
	assert_ends(stack, "[truncated]");
	/* A first that does not count, no function, and nothing at all. */
	record->flags = 0;
	record->native[0] = 0;
	record->function = 0;
	record->id++;
	stack = take(stacks, record);
	assert_int_equal(stack->count, 3);
	assert_function(stack, 0, "outer_with_chain");
	record->natives = 0;
	record->id++;
	stack = take(stacks, record);
	assert_int_equal(stack->count, 1);
	assert_ends(stack, "[callers not found]");
	assert_true(stack->broken);
	stacks__free(stacks);
	free(record);
}

/* What the kernel takes for return addresses where there is no frame pointer. */
static void addresses_that_cannot_be_are_left_out(void **state)
{
	static uint64_t data;
	const uint64_t others[] = {1, 0xffff, 0xcf5bbdc21d80171a, 1ull << 47, (uintptr_t)&data};
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	const struct stack *stack;

	(void)state;
	record->code_version = 100;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		outer_with_chain(record);
		record->native[3] = others[i];
		record->flags = STACK_CUT;
		record->id++;
		stack = take(stacks, record);
		assert_int_equal(stack->count, 5);
		assert_ends(stack, "[callers not found]");
		assert_true(stack->broken);
		assert_false(stack->truncated);
	}
	/* It leads to the beginning, whatever is read behind that. */
	outer_with_chain(record);
	record->flags = 0;
	record->native[record->natives++] = (uintptr_t)&data;
	record->id++;
	stack = take(stacks, record);
	assert_ends(stack, "_start");
	assert_false(stack->broken);
	stacks__free(stacks);
	free(record);
}

static void unwinds_a_copy(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_DWARF, &told);
	struct stacks_counts counts;
	const struct stack *stack;

	(void)state;
	outer_with_copy(record, STACK_COPY_MAX);
	stack = take(stacks, record);
	assert_function(stack, 0, "the_function");
	assert_function(stack, 1, "copy_own_stack");
	assert_function(stack, 2, "outer_with_copy");
	assert_function(stack, 3, __func__);
	assert_ends(stack, "_start");
	assert_false(stack->broken || stack->truncated);
	stacks__count(stacks, &counts);
	assert_int_equal(counts.unwound, 1);
	assert_true(told.codes >= 1);
	/* Of less than all of it. */
	record->copied = 512;
	record->id++;
	stack = take(stacks, record);
	assert_function(stack, 1, "copy_own_stack");
	assert_true(stack->truncated);
	assert_ends(stack, "[truncated]");
	stacks__free(stacks);
	free(record);
}

/* Frame pointers are believed as far as they lead to the beginning. */
static void auto_takes_what_is_whole(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_AUTO, &told);
	const struct stack *stack;
	struct stacks_counts counts;

	(void)state;
	outer_with_chain(record);
	outer_with_copy(record, STACK_COPY_MAX);
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_chain");
	assert_int_equal(told.wholes, 1);
	assert_int_equal(told.chain, 77);
	record->natives = 2;
	record->id++;
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_copy");
	assert_ends(stack, "_start");
	assert_false(stack->broken);
	assert_int_equal(told.wholes, 1);
	stacks__count(stacks, &counts);
	assert_int_equal(counts.unwound, 1);
	stacks__free(stacks);
	free(record);
}

/* A copy that cannot be followed, where frame pointers can. */
static void falls_back_on_frame_pointers(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_DWARF, &told);
	const struct stack *stack;

	(void)state;
	outer_with_chain(record);
	record->copied = 64;
	record->registers.ip = 0x1000;
	record->registers.sp = 0x2000;
	stack = take(stacks, record);
	assert_true(stack->broken);
	assert_int_equal(stack->count, record->natives + 2);
	assert_ends(stack, "[callers not found]");
	assert_function(stack, 2, "outer_with_chain");
	stacks__free(stacks);
	free(record);
}

static void *chain_in_thread(void *record)
{
	outer_with_chain(record);
	return NULL;
}

static void threads_begin_too(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	const struct stack *stack;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, chain_in_thread, record), 0);
	pthread_join(thread, NULL);
	stack = take(stacks, record);
	assert_function(stack, 3, "chain_in_thread");
	assert_false(stack->broken);
	stacks__free(stacks);
	free(record);
}

static void what_has_ended_is_named_as_far_as_it_is_known(void **state)
{
	struct stack_record *record;
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	const struct stack *stack;
	pid_t known = fork(), unknown;

	(void)state;
	if (!known) {
		pause();
		_exit(0);
	}
	unknown = fork();
	if (!unknown) {
		pause();
		_exit(0);
	}
	stacks__look_at(stacks, known, false);
	record = record_of(known);
	outer_with_chain(record);
	kill(known, SIGKILL);
	waitpid(known, NULL, 0);
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_chain");
	free(record);

	record = record_of(unknown);
	outer_with_chain(record);
	record->id = 2;
	record->pythons = 1;
	record->python[0].code = 0x5550;
	kill(unknown, SIGKILL);
	waitpid(unknown, NULL, 0);
	stack = take(stacks, record);
	assert_true(stack->broken);
	assert_int_equal(stack->count, record->natives + 3);
	assert_null(stack->frames[2].function);
	assert_null(stack->frames[2].object);
	assert_int_equal(stack->frames[2].offset, record->native[1]);
	assert_int_equal(stack->frames[stack->count - 2].kind, FRAME_PYTHON);
	assert_int_equal(stack->frames[stack->count - 2].offset, 0x5550);
	assert_ends(stack, "[callers not found]");
	stacks__free(stacks);
	free(record);
}

/* A record of a process whose pid is another's now: its addresses are not looked up in that one. */
static void a_pid_is_given_again(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	const struct stack *stack;

	(void)state;
	stacks__look_at(stacks, getpid(), false);
	outer_with_chain(record);
	record->start_ns -= 1000000000;
	stack = take(stacks, record);
	assert_null(stack->frames[2].function);
	assert_true(stack->broken);
	/* The id is another process's now. */
	record->start_ns += 1000000000;
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_chain");
	stacks__free(stacks);
	free(record);
}

/* Code that is mapped from a file, and is called. */
static void *map_code(const char *path)
{
	static const uint8_t code[4096] = {0xc3};
	FILE *file = fopen(path, "w+");
	void *mapped;

	assert_non_null(file);
	assert_int_equal(fwrite(code, 1, sizeof(code), file), sizeof(code));
	mapped = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	fclose(file);
	unlink(path);
	return mapped;
}

static const struct stack *take_at(struct stacks *stacks, struct stack_record *record, void *address)
{
	record->natives = 1;
	record->native[0] = (uintptr_t)address + 8;
	record->id++;
	return take(stacks, record);
}

/* A record may be read when the library that it tells of is closed, and then another may lie there. */
static void what_was_unmapped_is_known_until_another_lies_there(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	const struct stack *stack;
	void *code = map_code("/tmp/test_stacks_code.so");

	(void)state;
	record->code_version = 100;
	stack = take_at(stacks, record, code);
	assert_non_null(stack->frames[1].object);
	assert_non_null(strstr(stack->frames[1].object, "test_stacks_code.so"));
	munmap(code, 4096);
	stacks__look_at(stacks, getpid(), false);
	stack = take_at(stacks, record, code);
	assert_non_null(strstr(stack->frames[1].object, "test_stacks_code.so"));
	assert_ptr_equal(mmap(code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), code);
	stacks__look_at(stacks, getpid(), false);
	stack = take_at(stacks, record, code);
	assert_null(stack->frames[1].object);
	assert_int_equal(stack->frames[1].offset, (uintptr_t)code + 8);
	munmap(code, 4096);
	/* Nothing of another program's counts after exec. */
	code = map_code("/tmp/test_stacks_code.so");
	stacks__look_at(stacks, getpid(), false);
	munmap(code, 4096);
	stacks__look_at(stacks, getpid(), true);
	stack = take_at(stacks, record, code);
	assert_int_equal(stack->count, 2);
	assert_ends(stack, "[callers not found]");
	stacks__free(stacks);
	free(record);
}

/* New code is seen by the number of pages that a record tells, without a word of the loader. */
static void what_is_mapped_later_is_seen(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	void *code;

	(void)state;
	record->code_version = 100;
	take_at(stacks, record, (void *)what_is_mapped_later_is_seen);
	code = map_code("/tmp/test_stacks_code.so");
	record->code_version = 101;
	assert_non_null(take_at(stacks, record, code)->frames[1].object);
	munmap(code, 4096);
	stacks__free(stacks);
	free(record);
}

/* Other code at the same place: only the number of pages tells. */
static void what_has_changed_places_is_read_again(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct told told;
	struct stacks *stacks = make(STACK_FP, &told);
	void *code = map_code("/tmp/test_stacks_one.so"), *other = map_code("/tmp/test_stacks_two.so");

	(void)state;
	record->code_version = 100;
	assert_non_null(strstr(take_at(stacks, record, code)->frames[1].object, "one"));
	assert_ptr_equal(mremap(other, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, code), code);
	usleep(20000);
	assert_non_null(strstr(take_at(stacks, record, code)->frames[1].object, "one"));
	record->code_version = 99;
	assert_non_null(strstr(take_at(stacks, record, code)->frames[1].object, "two"));
	munmap(code, 4096);
	stacks__free(stacks);
	free(record);
}

static bool has_code(const struct told *told, const void *address)
{
	uint32_t bit = code_map_bit((uintptr_t)address);

	return told->code.bits[bit / 64] >> bit % 64 & 1;
}

static void tells_where_code_is(void **state)
{
	struct told told;
	struct stacks *stacks = make(STACK_AUTO, &told);
	unsigned int set = 0, before;
	void *made;

	(void)state;
	stacks__look_at(stacks, getpid(), false);
	assert_int_equal(told.codes, 1);
	assert_true(has_code(&told, (void *)tells_where_code_is));
	assert_true(has_code(&told, (void *)malloc));
	for (size_t i = 0; i < CODE_MAP_BITS / 64; i++)
		set += (unsigned int)__builtin_popcountll(told.code.bits[i]);
	assert_in_range(set, 2, 100);
	stacks__look_at(stacks, getpid(), false);
	assert_int_equal(told.codes, 1); /* nothing new */
	/* Code that is of no file counts, too. */
	made = mmap((void *)0x300000000000, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(made, MAP_FAILED);
	before = told.codes;
	stacks__look_at(stacks, getpid(), false);
	assert_int_equal(told.codes, before + 1);
	assert_true(has_code(&told, made));
	munmap(made, 4096);
	/* With exec it is told in any case. */
	stacks__look_at(stacks, getpid(), true);
	before = told.codes;
	stacks__look_at(stacks, getpid(), true);
	assert_int_equal(told.codes, before + 1);
	assert_int_equal(told.pythons, 0);
	stacks__free(stacks);
}

/* Of all the processes that come and go, where they had code is not kept for ever. */
static void forgets_where_code_was(void **state)
{
	const unsigned int many = 1100, known = 1024;
	struct told told;
	struct stacks *stacks = make(STACK_AUTO, &told);

	(void)state;
	for (unsigned int i = 0; i < many; i++) {
		pid_t child = fork();

		if (!child) {
			pause();
			_exit(0);
		}
		stacks__look_at(stacks, child, false);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	assert_int_equal(told.codes, many);
	assert_int_equal(told.codes_gone, many - known);
	stacks__free(stacks);
}

static void rejects_what_cannot_be(void **state)
{
	struct told told;
	struct stacks *stacks = make(STACK_AUTO, &told);
	struct stack_record *record = record_of(getpid());
	struct stacks_counts counts;

	(void)state;
	assert_int_equal(stacks__take(stacks, record, sizeof(*record) - 1), -EINVAL);
	assert_int_equal(stacks__take(stacks, record, 0), -EINVAL);
	record->copied = 8;
	assert_int_equal(stacks__take(stacks, record, sizeof(*record) + 7), -EINVAL);
	record->copied = STACK_COPY_MAX + 8;
	assert_int_equal(stacks__take(stacks, record, RECORD_MAX + 8), -EINVAL);
	record->copied = 0;
	record->natives = STACK_FRAMES_MAX + 1;
	assert_int_equal(stacks__take(stacks, record, RECORD_MAX), -EINVAL);
	record->natives = 0;
	record->pythons = PYTHON_FRAMES_MAX + 2;
	assert_int_equal(stacks__take(stacks, record, RECORD_MAX), -EINVAL);
	record->pythons = 0;
	record->callers = STACK_CALLERS + 1;
	assert_int_equal(stacks__take(stacks, record, RECORD_MAX), -EINVAL);
	record->callers = 0;
	record->id = 0;
	assert_int_equal(stacks__take(stacks, record, RECORD_MAX), -EINVAL);
	record->id = 1;
	record->pid = 0;
	assert_int_equal(stacks__take(stacks, record, RECORD_MAX), -EINVAL);
	record->pid = getpid();
	assert_int_equal(stacks__take(stacks, record, RECORD_MAX), 0);
	assert_int_equal(stacks__settle(stacks), 1);
	assert_int_equal(stacks__settle(stacks), 0);
	stacks__count(stacks, &counts);
	assert_int_equal(counts.malformed, 9);
	assert_int_equal(counts.kept, 1);
	stacks__free(stacks);
	free(record);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A record of anything, with what keeps it from being turned away at once. */
static void fill(struct stack_record *record, uint64_t *seed, const struct stack_record *own)
{
	uint64_t *words = (uint64_t *)record;
	uint64_t kind = next_random(seed);

	for (size_t i = 0; i < RECORD_MAX / sizeof(*words); i++)
		words[i] = next_random(seed) >> (next_random(seed) & 63);
	if (kind & 1) {
		record->pid = own->pid;
		record->start_ns = own->start_ns;
	}
	if (kind & 2)
		record->registers = own->registers;
	if (kind & 4)
		memcpy(record->copy, own->copy, 4096 + kind % 4096);
	record->natives %= STACK_FRAMES_MAX + 1;
	record->pythons %= PYTHON_FRAMES_MAX + 1;
	record->callers %= STACK_CALLERS + 1;
	record->copied %= STACK_COPY_MAX + 1;
}

static void bears_anything(void **state)
{
	static const enum stack_mode modes[] = {STACK_FP, STACK_DWARF, STACK_AUTO};
	struct stack_record *record = record_of(getpid()), *own = record_of(getpid());
	uint64_t seed = 42;
	struct told told;

	(void)state;
	outer_with_copy(own, STACK_COPY_MAX);
	for (size_t m = 0; m < 3; m++) {
		struct stacks *stacks = make(modes[m], &told);
		struct stacks_counts counts;
		uint64_t taken = 0;

		for (int i = 0; i < 2000; i++) {
			uint64_t cut = next_random(&seed) % 8 ? 0 : next_random(&seed) % 1000;
			int ret;

			fill(record, &seed, own);
			ret = stacks__take(stacks, record, RECORD_MAX - cut);
			assert_true(!ret || ret == -EINVAL);
			taken += !ret;
			if (!ret)
				assert_non_null(stacks__find(stacks, record->id));
		}
		stacks__count(stacks, &counts);
		assert_true(taken > 500);
		assert_int_equal(counts.malformed, 2000 - taken);
		assert_true(counts.kept <= 100);
		assert_true(counts.evicted > 0);
		stacks__free(stacks);
	}
	free(record);
	free(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_chain),
		cmocka_unit_test(marks_what_is_missing),
		cmocka_unit_test(addresses_that_cannot_be_are_left_out),
		cmocka_unit_test(unwinds_a_copy),
		cmocka_unit_test(auto_takes_what_is_whole),
		cmocka_unit_test(falls_back_on_frame_pointers),
		cmocka_unit_test(threads_begin_too),
		cmocka_unit_test(what_has_ended_is_named_as_far_as_it_is_known),
		cmocka_unit_test(a_pid_is_given_again),
		cmocka_unit_test(what_was_unmapped_is_known_until_another_lies_there),
		cmocka_unit_test(what_is_mapped_later_is_seen),
		cmocka_unit_test(what_has_changed_places_is_read_again),
		cmocka_unit_test(tells_where_code_is),
		cmocka_unit_test(forgets_where_code_was),
		cmocka_unit_test(rejects_what_cannot_be),
		cmocka_unit_test(bears_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
