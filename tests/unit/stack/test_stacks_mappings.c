// SPDX-License-Identifier: BSD-2-Clause
// Stacks of processes that end, of code that is mapped, unmapped and changed, and the locations of
// code that the BPF programs get.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "growth_of_time.h"
#include "no_valgrind.h"
#include "stack_records.h"

/*
 * How often mappings have been read; the duration of each of those readings, by the thread's clock
 * if that is faked.
 */
static unsigned int readings;
static uint64_t reading_ns;

/* In place of libc's. */
int open(const char *path, int flags, ...)
{
	size_t length = strlen(path);

	if (length > 5 && !strcmp(path + length - 5, "/maps")) {
		readings++;
		fake_thread_ns += reading_ns;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

/* A copy of this process, which ends with it; the caller ends it. */
static pid_t start_copy(void)
{
	pid_t pid = fork();

	if (pid) {
		assert_true(pid > 0);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	_exit(0);
}

static void end_copy(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_has_ended_is_named_as_far_as_it_is_known(void **state)
{
	struct stack_record *record;
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	const struct stack *stack;
	pid_t known = start_copy(), unknown = start_copy();

	(void)state;
	stacks__look_at(stacks, known, false);
	record = record_of(known);
	outer_with_chain(record);
	end_copy(known);
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_chain");
	free(record);

	record = record_of(unknown);
	outer_with_chain(record);
	record->id = 2;
	record->pythons = 1;
	record->python[0].code = 0x5550;
	end_copy(unknown);
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

/* A record of a process whose pid now belongs to another: its addresses are not looked up there. */
static void a_pid_is_given_again(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	const struct stack *stack;

	(void)state;
	stacks__look_at(stacks, getpid(), false);
	outer_with_chain(record);
	record->start_ns -= 1000000000;
	stack = take(stacks, record);
	assert_null(stack->frames[2].function);
	assert_true(stack->broken);
	/* The id now belongs to another process. */
	record->start_ns += 1000000000;
	stack = take(stacks, record);
	assert_function(stack, 2, "outer_with_chain");
	stacks__free(stacks);
	free(record);
}

/* Code mapped from a file whose name has this prefix, and called. */
static void *map_code(const char *name)
{
	static const uint8_t code[4096] = {0xc3};
	char path[64];
	void *mapped;
	int fd;

	snprintf(path, sizeof(path), "/tmp/%s.XXXXXX", name);
	fd = mkostemp(path, O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, code, sizeof(code)), sizeof(code));
	mapped = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	close(fd);
	unlink(path);
	return mapped;
}

static const struct stack *take_at(struct stacks *stacks, struct stack_record *record,
				   void *address)
{
	record->natives = 1;
	record->native[0] = (uintptr_t)address + 8;
	record->id++;
	return take(stacks, record);
}

/*
 * A record may be read after the library that it refers to was closed, and then another may be at
 * its address.
 */
static void what_was_unmapped_is_known_until_another_lies_there(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	const struct stack *stack;
	void *code = map_code("test_stacks_code");

	(void)state;
	record->code_version = 100;
	stack = take_at(stacks, record, code);
	assert_non_null(stack->frames[1].object);
	assert_non_null(strstr(stack->frames[1].object, "test_stacks_code"));
	munmap(code, 4096);
	stacks__look_at(stacks, getpid(), false);
	stack = take_at(stacks, record, code);
	assert_non_null(strstr(stack->frames[1].object, "test_stacks_code"));
	assert_ptr_equal(mmap(code, 4096, PROT_READ | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 code);
	stacks__look_at(stacks, getpid(), false);
	stack = take_at(stacks, record, code);
	assert_null(stack->frames[1].object);
	assert_int_equal(stack->frames[1].offset, (uintptr_t)code + 8);
	munmap(code, 4096);
	/* After exec nothing of the previous program counts. */
	code = map_code("test_stacks_code");
	stacks__look_at(stacks, getpid(), false);
	munmap(code, 4096);
	stacks__look_at(stacks, getpid(), true);
	stack = take_at(stacks, record, code);
	assert_int_equal(stack->count, 2);
	assert_ends(stack, "[callers not found]");
	stacks__free(stacks);
	free(record);
}

/* New code is detected by the number of pages in a record, without help from the loader. */
static void what_is_mapped_later_is_seen(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	void *code;

	(void)state;
	record->code_version = 100;
	take_at(stacks, record, (void *)what_is_mapped_later_is_seen);
	code = map_code("test_stacks_code");
	record->code_version = 101;
	assert_non_null(take_at(stacks, record, code)->frames[1].object);
	munmap(code, 4096);
	stacks__free(stacks);
	free(record);
}

/* Other code at the same address: only the number of pages shows it. */
static void what_has_changed_places_is_read_again(void **state)
{
	struct stack_record *record = record_of(getpid());
	struct reported reported;
	struct stacks *stacks = make(STACK_FP, &reported);
	void *code = map_code("test_stacks_one"), *other = map_code("test_stacks_two");

	(void)state;
	record->code_version = 100;
	assert_non_null(strstr(take_at(stacks, record, code)->frames[1].object, "one"));
	assert_ptr_equal(mremap(other, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, code), code);
	pass_ms(20);
	assert_non_null(strstr(take_at(stacks, record, code)->frames[1].object, "one"));
	record->code_version = 99;
	assert_non_null(strstr(take_at(stacks, record, code)->frames[1].object, "two"));
	munmap(code, 4096);
	stacks__free(stacks);
	free(record);
}

static bool has_code(const struct reported *reported, const void *address)
{
	uint32_t bit = code_map_bit((uintptr_t)address);

	return reported->code.bits[bit / 64] >> bit % 64 & 1;
}

static void reports_where_code_is(void **state)
{
	struct reported reported;
	struct stacks *stacks = make(STACK_AUTO, &reported);
	unsigned int set = 0, before;
	void *made;

	(void)state;
	stacks__look_at(stacks, getpid(), false);
	assert_int_equal(reported.codes, 1);
	assert_true(has_code(&reported, (void *)reports_where_code_is));
	assert_true(has_code(&reported, (void *)malloc));
	for (size_t i = 0; i < CODE_MAP_BITS / 64; i++)
		set += (unsigned int)__builtin_popcountll(reported.code.bits[i]);
	assert_in_range(set, 2, 100);
	stacks__look_at(stacks, getpid(), false);
	assert_int_equal(reported.codes, 1); /* nothing new */
	/* Code that is not from a file counts, too. */
	made = mmap((void *)0x300000000000, 4096, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(made, MAP_FAILED);
	before = reported.codes;
	stacks__look_at(stacks, getpid(), false);
	assert_int_equal(reported.codes, before + 1);
	assert_true(has_code(&reported, made));
	munmap(made, 4096);
	/* After exec it is reported in any case. */
	stacks__look_at(stacks, getpid(), true);
	before = reported.codes;
	stacks__look_at(stacks, getpid(), true);
	assert_int_equal(reported.codes, before + 1);
	assert_int_equal(reported.pythons, 0);
	stacks__free(stacks);
}

static int wait_for_the_end(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pause())
		;
	return 0;
}

/*
 * A process that shares this one's memory: what a sanitizer has mapped need not be copied. The
 * caller ends it.
 */
static pid_t start_sharer(void)
{
	static _Alignas(16) char stack[1 << 16];
	pid_t pid = clone(wait_for_the_end, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	assert_true(pid > 0);
	return pid;
}

/* The code locations of processes that come and go are not kept for ever. */
static void forgets_where_code_was(void **state)
{
	const unsigned int many = 1100, known = 1024;
	struct reported reported;
	struct stacks *stacks = make(STACK_AUTO, &reported);

	(void)state;
	for (unsigned int i = 0; i < many; i++) {
		pid_t child = start_sharer();

		stacks__look_at(stacks, child, false);
		end_copy(child);
	}
	assert_int_equal(reported.codes, many);
	assert_int_equal(reported.codes_gone, many - known);
	stacks__free(stacks);
}

#define MANY_BYTES (64000 * 4096l)

/* About as many mappings as the kernel permits a process; the caller unmaps them. */
static char *map_many(void)
{
	int fd = memfd_create("mapped", MFD_CLOEXEC);
	char *pieces;

	assert_true(fd >= 0 && !ftruncate(fd, MANY_BYTES));
	pieces = mmap(NULL, MANY_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(pieces, MAP_FAILED);
	for (long at = 0; at + 4096 < MANY_BYTES; at += 8192)
		assert_int_equal(mprotect(pieces + at, 4096, PROT_READ | PROT_EXEC), 0);
	close(fd);
	return pieces;
}

/* Each record says that the code has changed. */
static void many_mappings_are_not_read_all_the_time(void **state)
{
	struct stack_record *record;
	struct stacks *stacks;
	struct reported reported;
	uint64_t begin, took;
	char *pieces;

	(void)state;
	not_under_valgrind();
	record = record_of(getpid());
	stacks = make(STACK_FP, &reported);
	pieces = map_many();
	outer_with_chain(record);
	fake_thread_ns = readings = 0;
	begin = spent();
	for (int i = 0; i < 30; i++) {
		record->code_version = (uint64_t)i + 1;
		record->id = (uint64_t)i + 1;
		take(stacks, record);
	}
	took = spent() - begin;
	fake_thread_ns = 1;
	print_message("30 records among 64,000 mappings: %.1f ms, %u readings\n", (double)took / MS,
		      readings);
	assert_true(took < SLOWER * 1500 * MS);
	/* A slow reading is only noticed once a second; fast ones are not delayed. */
	assert_true(readings <= 2 || took / readings < 20 * MS);
	munmap(pieces, MANY_BYTES);
	stacks__free(stacks);
	free(record);
}

#define COPIES 6
#define TAKES_NS (25 * NS_PER_MS) /* longer than readings that are not delayed */

/* The same with several processes, each of which would get a tenth of the time. */
static void many_mappings_of_several_wait_for_each_other(void **state)
{
	const uint64_t wait_ns = 10 * TAKES_NS;
	struct stack_record *records[COPIES];
	struct stacks *stacks;
	struct reported reported;
	uint64_t version = 1;

	(void)state;
	stacks = make(STACK_FP, &reported);
	reading_ns = TAKES_NS;
	/* A slow reading is only noticed once a second. */
	for (; version <= 2ul * COPIES; version++) {
		size_t i = version % COPIES;

		if (version <= COPIES) {
			records[i] = record_of(start_copy());
			outer_with_chain(records[i]);
		}
		records[i]->code_version = records[i]->id = version;
		pass_ns(wait_ns);
		take(stacks, records[i]);
	}
	readings = 0;
	for (uint64_t passed = 0; passed < 24 * wait_ns; passed += NS_PER_MS, version++) {
		pass_ns(NS_PER_MS);
		records[version % COPIES]->code_version = records[version % COPIES]->id = version;
		take(stacks, records[version % COPIES]);
	}
	print_message("%d processes: %u readings\n", COPIES, readings);
	assert_in_range(readings, 20, 24);
	reading_ns = 0;
	for (int i = 0; i < COPIES; i++) {
		end_copy(records[i]->pid);
		free(records[i]);
	}
	stacks__free(stacks);
}

#define JITS 7

static void write_jit(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (int i = 0; i < 1 << 20; i++)
		fprintf(file, "%08x 10 function_%09d\n", i * 16, i);
	fclose(file);
}

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/*
 * Each lists a million functions, a file of 31 MB that takes 56 MB in memory: not all are kept, and
 * a dropped one is read again.
 */
static void what_many_processes_list_is_bounded(void **state)
{
	char first_path[64] = "", path[64];
	struct stack_record *record;
	struct stacks *stacks;
	size_t before, kept;
	pid_t pids[JITS];
	struct reported reported;

	(void)state;
	not_under_valgrind();
	/* strchr() scans all of the remaining text for each of its million lines. */
	if (SLOWER > 1)
		skip();
	stacks = make(STACK_FP, &reported);
	before = allocated();
	for (int i = 0; i < JITS; i++) {
		pids[i] = start_copy();
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pids[i]);
		unlink(path); /* of another process that had this pid */
		if (i)
			assert_int_equal(link(first_path, path), 0);
		else
			write_jit(strcpy(first_path, path));
		stacks__look_at(stacks, pids[i], false);
	}
	kept = allocated() - before;
	print_message("what %d processes list: %zu MiB kept\n", JITS, kept >> 20);
	assert_in_range(kept, 0, 330u << 20);
	record = record_of(pids[0]);
	outer_with_chain(record);
	assert_function(take(stacks, record), 2, "outer_with_chain");
	free(record);
	stacks__free(stacks);
	for (int i = 0; i < JITS; i++) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pids[i]);
		unlink(path);
		end_copy(pids[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_ended_is_named_as_far_as_it_is_known),
		cmocka_unit_test(a_pid_is_given_again),
		cmocka_unit_test(what_was_unmapped_is_known_until_another_lies_there),
		cmocka_unit_test(what_is_mapped_later_is_seen),
		cmocka_unit_test(what_has_changed_places_is_read_again),
		cmocka_unit_test(reports_where_code_is),
		cmocka_unit_test(forgets_where_code_was),
		cmocka_unit_test(many_mappings_are_not_read_all_the_time),
		cmocka_unit_test(many_mappings_of_several_wait_for_each_other),
		cmocka_unit_test(what_many_processes_list_is_bounded),
	};

	fake_thread_ns = 1; /* nothing takes long */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
