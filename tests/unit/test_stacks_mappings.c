// SPDX-License-Identifier: BSD-2-Clause
// Stacks of processes that end, of code that is mapped, unmapped and changed, and where the BPF programs are told
// that code is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "growth_of_time.h"
#include "no_valgrind.h"
#include "stack_records.h"

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

/* Each record tells that the code has changed, and there are as many mappings as the kernel lets a process have. */
static void many_mappings_are_not_read_all_the_time(void **state)
{
	int fd = memfd_create("mapped", MFD_CLOEXEC);
	struct stack_record *record;
	struct stacks *stacks;
	struct told told;
	uint64_t begin;
	char *pieces;

	(void)state;
	not_under_valgrind();
	record = record_of(getpid());
	stacks = make(STACK_FP, &told);
	assert_true(fd >= 0 && !ftruncate(fd, 64000 * 4096));
	pieces = mmap(NULL, 64000 * 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(pieces, MAP_FAILED);
	for (int i = 0; i + 1 < 64000; i += 2)
		assert_int_equal(mprotect(pieces + i * 4096l, 4096, PROT_READ | PROT_EXEC), 0);
	outer_with_chain(record);
	begin = spent();
	for (int i = 0; i < 30; i++) {
		record->code_version = (uint64_t)i + 1;
		record->id = (uint64_t)i + 1;
		take(stacks, record);
	}
	print_message("30 records among 64,000 mappings: %.1f ms\n", (double)(spent() - begin) / MS);
	assert_true(spent() - begin < SLOWER * 1500 * MS);
	munmap(pieces, 64000 * 4096);
	close(fd);
	stacks__free(stacks);
	free(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_ended_is_named_as_far_as_it_is_known),
		cmocka_unit_test(a_pid_is_given_again),
		cmocka_unit_test(what_was_unmapped_is_known_until_another_lies_there),
		cmocka_unit_test(what_is_mapped_later_is_seen),
		cmocka_unit_test(what_has_changed_places_is_read_again),
		cmocka_unit_test(tells_where_code_is),
		cmocka_unit_test(forgets_where_code_was),
		cmocka_unit_test(many_mappings_are_not_read_all_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
