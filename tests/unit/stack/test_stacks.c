// SPDX-License-Identifier: BSD-2-Clause
// Stacks of this very process from records as BPF programs would send them: by frame pointers, by
// copies, by both; and from records that they would never send.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "stack_records.h"

static void names_a_chain(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	const struct stack *stack;
	struct stacks_counts counts;

	(void)state;
	outer_with_chain(record);
	stack = take(stacks, record);
	assert_function(stack, 0, "the_function");
	assert_int_equal(stack->frames[0].offset, 0);
	assert_function(stack, 1, "chain_own_stack");
	assert_function(stack, 2, "outer_with_chain");
	assert_non_null(strstr(stack->frames[2].file, "stack_records.h"));
	assert_in_range(stack->frames[2].line, OUTER_WITH_CHAIN_LINE, OUTER_WITH_CHAIN_LINE + 6);
	assert_function(stack, 3, __func__);
	assert_ends(stack, "_start");
	assert_int_equal(stack->count, record->natives + 1);
	assert_false(stack->broken);
	assert_false(stack->truncated);
	assert_int_equal(reported.codes, 0);
	assert_int_equal(reported.wholes, 0);
	stacks__count(stacks, &counts);
	assert_int_equal(counts.kept, 1);
	assert_int_equal(counts.unwound, 0);
	/* The same frames under another id; known frames are not named again. */
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
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
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
	/* A first frame that does not count, no function, and nothing at all. */
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

/* What the kernel takes for return addresses if there is no frame pointer. */
static void addresses_that_cannot_be_are_left_out(void **state)
{
	static uint64_t data;
	const uint64_t others[] = {1, 0xffff, 0xcf5bbdc21d80171a, 1ull << 47, (uintptr_t)&data};
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
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
	/* It leads to the thread's entry, whatever is read after that. */
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
	struct reported reported;
	struct stacks *stacks = make(STACK_DWARF, &reported);
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
	assert_true(reported.codes >= 1);
	/* The copy has less than the whole stack. */
	record->copied = 512;
	record->id++;
	stack = take(stacks, record);
	assert_function(stack, 1, "copy_own_stack");
	assert_true(stack->truncated);
	assert_ends(stack, "[truncated]");
	stacks__free(stacks);
	free(record);
}

/*
 * A followed thread with STACK_FP: where the short copy ends, frame pointers continue, if they pass
 * that point.
 */
static void goes_on_where_a_copy_ends(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	const struct stack *stack;
	uint32_t gone_on = 0;

	(void)state;
	outer_with_chain(record);
	outer_with_copy(record, STACK_COPY_MAX);
	for (uint32_t bytes = record->copied & ~255u; bytes >= 256; bytes -= 256) {
		record->copied = bytes;
		record->flags = 0;
		record->id++;
		stack = take(stacks, record);
		if (!stack->truncated)
			continue;
		record->flags = STACK_INTERRUPTED;
		record->id++;
		stack = take(stacks, record);
		assert_function(stack, 1, "copy_own_stack");
		if (stack->truncated)
			continue;
		assert_function(stack, 2, "outer_with_copy");
		assert_function(stack, 3, __func__);
		assert_ends(stack, "_start");
		gone_on++;
	}
	assert_true(gone_on);
	stacks__free(stacks);
	free(record);
}

/* Frame pointers are believed if they lead to the thread's entry. */
static void auto_takes_what_is_whole(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_AUTO, &reported);
	const struct stack *stack;
	struct stacks_counts counts;

	(void)state;
	outer_with_chain(record);
	outer_with_copy(record, STACK_COPY_MAX);
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_chain");
	assert_int_equal(reported.wholes, 1);
	assert_int_equal(reported.chain, 77);
	record->natives = 2;
	record->id++;
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_copy");
	assert_ends(stack, "_start");
	assert_false(stack->broken);
	assert_int_equal(reported.wholes, 1);
	stacks__count(stacks, &counts);
	assert_int_equal(counts.unwound, 1);
	stacks__free(stacks);
	free(record);
}

/* A copy that cannot be unwound, where frame pointers can. */
static void falls_back_on_frame_pointers(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_DWARF, &reported);
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
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
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

static void rejects_what_cannot_be(void **state)
{
	struct reported reported;
	struct stacks *stacks = make(STACK_AUTO, &reported);
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

/* Stacks that a list refers to stay, however many arrive while it is made. */
static void stays_while_others_are_looked_up(void **state)
{
	const uint64_t code = (uintptr_t)stays_while_others_are_looked_up;
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	const struct stack *first;
	struct stacks_counts counts;

	(void)state;
	record->natives = 1;
	record->native[0] = code + 1;
	first = take(stacks, record);
	for (uint64_t i = 2; i < 2 * STACKS_MAX; i++) {
		record->id = i;
		record->native[0] = code + i;
		assert_int_equal(stacks__take(stacks, record, size_of(record)), 0);
		assert_null(stacks__find(stacks, i));
	}
	assert_ptr_equal(stacks__find(stacks, 1), first);
	stacks__count(stacks, &counts);
	assert_int_equal(counts.evicted, 0);
	stacks__catch_up(stacks);
	assert_null(stacks__find(stacks, 1));
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

/* A random record, with the fields without which it would be rejected immediately. */
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
	struct reported reported;

	(void)state;
	outer_with_copy(own, STACK_COPY_MAX);
	for (size_t m = 0; m < 3; m++) {
		struct stacks *stacks = make(modes[m], &reported);
		struct stacks_counts counts;
		uint64_t taken = 0;

		for (int i = 0; i < 2000; i++) {
			uint64_t cut = next_random(&seed) % 8 ? 0 : next_random(&seed) % 1000;
			int ret;

			fill(record, &seed, own);
			ret = stacks__take(stacks, record, RECORD_MAX - cut);
			assert_true(!ret || ret == -EINVAL);
			taken += !ret;
			if (ret)
				continue;
			stacks__catch_up(stacks);
			assert_non_null(stacks__find(stacks, record->id));
		}
		stacks__count(stacks, &counts);
		assert_true(taken > 500);
		assert_int_equal(counts.malformed, 2000 - taken);
		assert_true(counts.kept <= STACKS_MAX);
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
		cmocka_unit_test(goes_on_where_a_copy_ends),
		cmocka_unit_test(auto_takes_what_is_whole),
		cmocka_unit_test(falls_back_on_frame_pointers),
		cmocka_unit_test(threads_begin_too),
		cmocka_unit_test(rejects_what_cannot_be),
		cmocka_unit_test(stays_while_others_are_looked_up),
		cmocka_unit_test(bears_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
