// SPDX-License-Identifier: BSD-2-Clause
// Copies of this program's own stack, unwound: the frames must match those of libgcc's unwinder and
// of the program itself.
#include <alloca.h>
#include <dlfcn.h>
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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "forged_program.h"
#include "own_backtrace.h"
#include "stack/unwind.h"
#include "symbol/process_map.h"
#include "symbol/symbol_cache.h"

#define ADDRESSES 400

static struct stack_record *record;
static void *truth[ADDRESSES];
static int truths;

/*
 * What the kernel would take: the registers as they are after this function has returned, and the
 * stack from there on. Written in assembly, since nothing else knows them.
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

/* This thread's stack has an end: reading beyond it fails, as it does for the kernel. */
static __attribute__((noinline)) uint32_t copy_stack(uint64_t from, size_t size)
{
	int pipe_ends[2];
	uint32_t done = 0;

	assert_int_equal(pipe(pipe_ends), 0);
	while (done < size) {
		/* As the BPF programs do: the next page may not be mapped. */
		size_t page = 4096 - ((from + done) & 4095);
		size_t step = size - done < page ? size - done : page;

		if (syscall(SYS_write, pipe_ends[1], from + done, step) != (long)step)
			break;
		assert_int_equal(read(pipe_ends[0], record->copy + done, step), step);
		done += (uint32_t)step;
	}
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	return done;
}

/*
 * As large as a program's frames usually are. clang leaves out frame pointers only for whole files:
 * the plain build tests functions without them.
 */
#ifdef __clang__
#define FRAMELESS __attribute__((noinline, disable_tail_calls, no_sanitize("address")))
#else
#define FRAMELESS \
	__attribute__((noinline, noipa, no_sanitize_address, optimize("omit-frame-pointer")))
#endif

static FRAMELESS void capture(void)
{
	take_registers(&record->registers);
	record->copied = copy_stack(record->registers.sp, STACK_COPY_MAX);
	truths = own_backtrace(truth, ADDRESSES);
}

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
	struct fixture fixture = {.cache = symbol_cache__new(100),
				  .map = process_map__new(getpid())};

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
	fixture->count = unwinder__run(fixture->unwinder, record, fixture->addresses,
				       fixture->interrupted, max, &fixture->end);
}

static bool is_interrupted(const struct fixture *fixture, int i)
{
	return fixture->interrupted[i / 64] >> i % 64 & 1;
}

/* The first frame may differ: its two calls are different calls of one function. */
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
	volatile char room[4];

	room[0] = (char)depth;
	if (depth)
		return simple(depth - 1) + room[0];
	capture();
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

static void deep_recursion_as_far_as_the_copy_goes(void **state)
{
	struct fixture fixture = make();

	(void)state;
	simple(300);
	run(&fixture, ADDRESSES);
	assert_true(fixture.count > 300);
	assert_whole(&fixture);
	record->copied = 8192;
	run(&fixture, ADDRESSES);
	assert_int_equal(fixture.end, UNWIND_TRUNCATED);
	assert_in_range(fixture.count, 60, 290);
	assert_truth(&fixture, fixture.count);
	record->copied = 0;
	run(&fixture, ADDRESSES);
	assert_int_equal(fixture.end, UNWIND_TRUNCATED);
	assert_int_equal(fixture.count, 1);
	clear(&fixture);
}

static void no_more_than_asked_for(void **state)
{
	struct fixture fixture = make();

	(void)state;
	simple(20);
	fixture.addresses[10] = 0x1234;
	run(&fixture, 10);
	assert_int_equal(fixture.end, UNWIND_FULL);
	assert_int_equal(fixture.count, 10);
	assert_truth(&fixture, 10);
	assert_int_equal(fixture.addresses[10], 0x1234);
	run(&fixture, (size_t)truths); /* exactly as many as there are */
	assert_whole(&fixture);
	clear(&fixture);
}

/*
 * A function's very first instruction is interrupted: the one before belongs to another function.
 */
void faulting(void);
extern char behind_fault[];
__asm__(".text\n"
	"	.skip 16, 0x90\n"
	".type faulting,@function\n"
	"faulting:\n"
	"	.cfi_startproc\n"
	"	ud2\n"
	".globl behind_fault\n"
	"behind_fault:\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size faulting,.-faulting\n");

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	simple(3);
	interrupted->uc_mcontext.gregs[REG_RIP] += 2;
}

static void signals_are_reported_apart(void **state)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before;
	struct fixture fixture = make();
	int at = 0;

	(void)state;
	sigaction(SIGILL, &action, &before);
	faulting();
	sigaction(SIGILL, &before, NULL);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	while (at < fixture.count && fixture.addresses[at] != (uintptr_t)faulting)
		at++;
	assert_in_range(at, 6, fixture.count - 2);
	for (int i = 0; i < fixture.count; i++)
		assert_int_equal(is_interrupted(&fixture, i), i == at || i == at - 1);
	clear(&fixture);
}

static void *in_thread(void *arg)
{
	simple(*(int *)arg);
	return NULL;
}

static void threads_have_stacks_of_their_own(void **state)
{
	struct fixture fixture = make();
	int depth = 12;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, in_thread, &depth), 0);
	pthread_join(thread, NULL);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	assert_in_range(fixture.count, 14, 20);
	clear(&fixture);
}

/* The kernel's trampoline replaces a return address. */
static void calls_in_progress_are_known(void **state)
{
	struct fixture fixture = make();
	size_t replaced = 0;
	const uint64_t trampoline = 0x7fffffffe000;

	(void)state;
	simple(10);
	for (size_t at = 0; at + 8 <= record->copied && replaced < 3; at += 8) {
		uint64_t word;

		memcpy(&word, record->copy + at, sizeof(word));
		if (word != (uintptr_t)truth[2]) /* of all the recursion's frames */
			continue;
		record->caller[replaced++] = (struct stack_caller){record->registers.sp + at, word};
		memcpy(record->copy + at, &trampoline, sizeof(trampoline));
	}
	assert_int_equal(replaced, 3);
	run(&fixture, ADDRESSES);
	assert_int_equal(fixture.end, UNWIND_BROKEN);
	assert_int_equal(fixture.count, 3);
	assert_int_equal(fixture.addresses[2], trampoline);
	record->callers = 3;
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	record->callers = 0;
	clear(&fixture);
}

static void nothing_is_guessed(void **state)
{
	struct fixture fixture = make();

	(void)state;
	simple(3);
	record->registers.ip = 0x1000;
	run(&fixture, ADDRESSES);
	assert_int_equal(fixture.end, UNWIND_BROKEN);
	assert_int_equal(fixture.count, 1);
	assert_int_equal(fixture.addresses[0], 0x1000);
	simple(3);
	record->registers.sp += 1 << 20; /* then everything is below, by either register */
	record->registers.bp += 1 << 20;
	record->registers.ip = (uintptr_t)truth[1];
	record->copied = 0;
	run(&fixture, ADDRESSES);
	assert_int_equal(fixture.end, UNWIND_TRUNCATED);
	clear(&fixture);
}

static uint64_t seed = 88172645463325252ull;

static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Values as on stacks, but not in their order. */
static uint64_t draw_word(void)
{
	switch (draw() % 8) {
	case 0: return draw();
	case 1: return 0;
	case 2:
	case 3: return record->registers.sp + draw() % STACK_COPY_MAX;
	default:
		return (uintptr_t)truth[draw() % (uint64_t)truths] +
		       (draw() % 16 ? 0 : draw() % 64);
	}
}

static void any_stack_ends(void **state)
{
	struct fixture fixture = make();
	uint64_t frames = 0;

	(void)state;
	simple(30);
	for (int i = 0; i < 3000; i++) {
		uint64_t *registers = (uint64_t *)&record->registers;

		record->copied = (uint32_t)(draw() % 2048);
		record->callers = (uint8_t)(draw() % 256);
		for (size_t k = 0; k + 8 <= record->copied; k += 8) {
			uint64_t word = draw_word();

			memcpy(record->copy + k, &word, sizeof(word));
		}
		for (size_t k = 0; k < sizeof(record->registers) / sizeof(*registers); k++)
			registers[k] = k != 1 || draw() % 16 == 0 ? draw_word() : registers[k];
		run(&fixture, ADDRESSES);
		assert_in_range(fixture.count, 1, ADDRESSES);
		frames += (uint64_t)fixture.count;
	}
	assert_true(frames > 5000); /* otherwise nothing has been tested */
	record->callers = 0;
	clear(&fixture);
}

/*
 * The program's own functions in a copy of its file, with a few bytes of the frame information
 * changed.
 */
static void damaged_frame_information_does_no_harm(void **state)
{
	struct forged forged = copy_program();
	unsigned int believed = 0;
	Dl_info info;

	(void)state;
	assert_true(dladdr((void *)(uintptr_t)simple, &info));
	for (int round = 0; round < 300; round++) {
		struct fixture fixture;
		uint8_t kept[4];
		uint64_t at[4];

		for (int i = 0; i < 4; i++) {
			at[i] = forged.frames + draw() % forged.frames_size;
			kept[i] = forged.bytes[at[i]];
			forged.bytes[at[i]] = (uint8_t)draw();
		}
		write_forged(&forged);
		believed += is_believed(&forged);
		simple(30);
		for (size_t k = 0; k + 8 <= record->copied; k += 8) {
			uint64_t word;

			memcpy(&word, record->copy + k, sizeof(word));
			if (word - (uintptr_t)info.dli_fbase < forged.size)
				word += (uintptr_t)forged.mapped - (uintptr_t)info.dli_fbase;
			memcpy(record->copy + k, &word, sizeof(word));
		}
		record->registers.ip += (uintptr_t)forged.mapped - (uintptr_t)info.dli_fbase;
		fixture = make();
		run(&fixture, ADDRESSES);
		clear(&fixture);
		drop_forged(&forged);
		for (int i = 3; i >= 0; i--)
			forged.bytes[at[i]] = kept[i];
	}
	assert_in_range(believed, 10, 290);
	free(forged.bytes);
}

/* Libraries come and go: earlier knowledge about an address must not be used. */
static void mappings_change(void **state)
{
	struct fixture fixture = make();
	struct forged forged = copy_program();
	Dl_info info;
	void *page;

	(void)state;
	assert_true(dladdr((void *)(uintptr_t)simple, &info));
	simple(3);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	write_forged(&forged);
	record->registers.ip += (uintptr_t)forged.mapped - (uintptr_t)info.dli_fbase;
	run(&fixture, ADDRESSES);
	assert_int_equal(fixture.count, 1);
	process_map__read(fixture.map, fixture.cache);
	unwinder__changed(fixture.unwinder);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	/* The copy may have been made before, as long as nothing else is there. */
	drop_forged(&forged);
	process_map__read(fixture.map, fixture.cache);
	unwinder__changed(fixture.unwinder);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	page = (void *)(uintptr_t)(record->registers.ip & ~4095ull);
	assert_ptr_equal(mmap(page, 4096, PROT_READ | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 page);
	process_map__read(fixture.map, fixture.cache);
	unwinder__changed(fixture.unwinder);
	run(&fixture, ADDRESSES);
	assert_int_equal(fixture.count, 1);
	munmap(page, 4096);
	free(forged.bytes);
	clear(&fixture);
}

/* A handle outlives its file's cache entry, but does not read from the closed descriptor. */
static void files_leave_the_cache(void **state)
{
	struct fixture fixture = make();
	struct symbol_cache *small = symbol_cache__new(1);
	struct unwinder *unwinder = unwinder__new(fixture.map, small);

	(void)state;
	unwinder__free(fixture.unwinder);
	fixture.unwinder = unwinder;
	simple(5);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	run(&fixture, ADDRESSES);
	assert_whole(&fixture);
	symbol_cache__free(fixture.cache);
	fixture.cache = small;
	clear(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_those_that_are),
		cmocka_unit_test(deep_recursion_as_far_as_the_copy_goes),
		cmocka_unit_test(no_more_than_asked_for),
		cmocka_unit_test(signals_are_reported_apart),
		cmocka_unit_test(threads_have_stacks_of_their_own),
		cmocka_unit_test(calls_in_progress_are_known),
		cmocka_unit_test(nothing_is_guessed),
		cmocka_unit_test(any_stack_ends),
		cmocka_unit_test(damaged_frame_information_does_no_harm),
		cmocka_unit_test(mappings_change),
		cmocka_unit_test(files_leave_the_cache),
	};
	int failed;

	record = malloc(sizeof(*record) + STACK_COPY_MAX);
	memset(record, 0, sizeof(*record));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(record);
	return failed;
}
