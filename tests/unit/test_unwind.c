// SPDX-License-Identifier: BSD-2-Clause
// Copies of this program's own stack, unwound: the frames must be those that backtrace(3) and the program itself know.
#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stack/unwind.h"
#include "symbol/native_frames.h"
#include "symbol/process_map.h"
#include "symbol/symbol_cache.h"

#define ADDRESSES 400

static struct stack_record *record;
static void *truth[ADDRESSES];
static int truths;

/*
 * What the kernel would take: registers as they are when this has returned, and
 * the stack from there on. Written in assembly as nothing else knows them.
 */
void take_registers(struct stack_registers *registers);
__asm__(".text\n"
	".type take_registers,@function\n"
	"take_registers:\n"
	"	mov (%rsp),%rax\n"
	"	mov %rax,0(%rdi)\n"
	"	lea 8(%rsp),%rax\n"
	"	mov %rax,8(%rdi)\n"
	"	mov %rbp,16(%rdi)\n"
	"	mov %rbx,24(%rdi)\n"
	"	mov %r12,32(%rdi)\n"
	"	mov %r13,40(%rdi)\n"
	"	mov %r14,48(%rdi)\n"
	"	mov %r15,56(%rdi)\n"
	"	ret\n"
	".size take_registers,.-take_registers\n");

/* The stack of this thread ends somewhere: what is read beyond that fails, as it does for the kernel. */
static uint32_t copy_stack(uint64_t from, size_t size)
{
	int pipe_ends[2];
	uint32_t done = 0;

	assert_int_equal(pipe(pipe_ends), 0);
	while (done < size) {
		size_t step = size - done < 4096 ? size - done : 4096;

		if (write(pipe_ends[1], (const void *)(uintptr_t)(from + done), step) != (ssize_t)step)
			break;
		assert_int_equal(read(pipe_ends[0], record->copy + done, step), step);
		done += (uint32_t)step;
	}
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	return done;
}

#define FRAMELESS __attribute__((noinline, noipa, optimize("omit-frame-pointer")))

/* Must not return before what is in the registers has been used: the caller's frame is what counts. */
#define CAPTURE(size) \
	do { \
		take_registers(&record->registers); \
		record->copied = copy_stack(record->registers.sp, size); \
		truths = backtrace(truth, ADDRESSES); \
	} while (0)

struct fixture {
	struct symbol_cache *cache;
	struct process_map *map;
	struct unwinder *unwinder;
	uint64_t addresses[ADDRESSES], interrupted[(ADDRESSES + 63) / 64];
	enum unwind_end end;
	int count;
};

static struct fixture make(void)
{
	struct fixture fixture = {.cache = symbol_cache__new(100), .map = process_map__new(getpid())};

	assert_int_equal(process_map__read(fixture.map, fixture.cache), 0);
	fixture.unwinder = unwinder__new(fixture.map, fixture.cache);
	assert_non_null(fixture.unwinder);
	return fixture;
}

static void clear(struct fixture *fixture)
{
	unwinder__free(fixture->unwinder);
	process_map__free(fixture->map);
	symbol_cache__free(fixture->cache);
}

static void run(struct fixture *fixture, size_t max)
{
	fixture->count = unwinder__run(fixture->unwinder, record, fixture->addresses, fixture->interrupted, max,
				       &fixture->end);
}

static bool is_interrupted(const struct fixture *fixture, int i)
{
	return fixture->interrupted[i / 64] >> i % 64 & 1;
}

/* But for the first, where the two calls are different ones of one function. */
static void assert_truth(const struct fixture *fixture, int count)
{
	assert_int_equal(fixture->addresses[0], record->registers.ip);
	for (int i = 1; i < count; i++)
		assert_int_equal(fixture->addresses[i], (uintptr_t)truth[i]);
}

static void assert_whole(const struct fixture *fixture)
{
	assert_int_equal(fixture->end, UNWIND_WHOLE);
	assert_int_equal(fixture->count, truths);
	assert_truth(fixture, truths);
}

static FRAMELESS int simple(int depth)
{
	volatile char room[40];

	room[0] = (char)depth;
	if (depth)
		return simple(depth - 1) + room[0];
	CAPTURE(STACK_COPY_MAX);
	return room[0];
}

static FRAMELESS int with_alloca(int depth, size_t size)
{
	volatile char *room = alloca(size);

	room[0] = (char)depth;
	if (depth)
		return with_alloca(depth - 1, size * 3 / 2) + room[0];
	simple(2);
	return room[0];
}

static void frames_are_those_that_are(void **state)
{
	struct fixture fixture = make();

	(void)state;
	simple(0);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	simple(20);
	run(&fixture, ADDRESSES);
	assert_true(fixture.count > 20);
	assert_whole(&fixture);
	with_alloca(5, 64);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	for (int i = 0; i < fixture.count; i++)
		assert_false(is_interrupted(&fixture, i));
	clear(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_those_that_are),
	};
	int failed;

	record = malloc(sizeof(*record) + STACK_COPY_MAX);
	memset(record, 0, sizeof(*record));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(record);
	return failed;
}
