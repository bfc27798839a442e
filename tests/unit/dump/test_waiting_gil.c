// SPDX-License-Identifier: BSD-2-Clause
// Threads that wait for Python's lock, and arguments of system calls that mean nothing.
#include <asm/unistd_64.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "dump/waiting_scene.h"

static struct {
	char before[256];
	unsigned long interval;
	uint64_t last_holder;
	int locked;
	unsigned long switch_number;
	char cond[48];
} gil = {.last_holder = 0x7f0000002000, .locked = 1};

static void wait_for_gil(void)
{
	syscall(SYS_futex, gil.cond + 40, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* Two threads of one process: one waits for the lock, the other holds it and sleeps. */
struct pair {
	pid_t pid;
	struct thread_look *waits, *holds;
	struct dump_thread threads[2];
};

static void find_pair(struct pair *pair)
{
	const struct thread_look *looks[] = {pair->waits, pair->holds};

	waiting__find(NULL, pair->pid, looks, pair->threads, 2);
}

static void start_pair(struct pair *pair, uint64_t waits_state, uint64_t holds_state)
{
	*pair = (struct pair){.pid = start_child(wait_for_gil)};
	pair->waits = look_at(pair->pid, __NR_futex);
	pair->holds = calloc(1, sizeof(*pair->holds));
	assert_non_null(pair->holds);
	*pair->holds = (struct thread_look){
		.taken = 1, .state = TASK_SLEEPS, .system_call = __NR_nanosleep};
	pair->waits->python_state = waits_state;
	pair->holds->python_state = holds_state;
	pair->threads[0] = (struct dump_thread){.tid = pair->pid, .comm = "waits"};
	pair->threads[1] = (struct dump_thread){.tid = 4711, .comm = "holds"};
	find_pair(pair);
}

static void end_pair(struct pair *pair)
{
	end_child(pair->pid);
	free(pair->waits);
	free(pair->holds);
}

static void holder_of_the_gil_is_reported(void **state)
{
	struct pair pair;

	(void)state;
	start_pair(&pair, 0x7f0000001000, gil.last_holder);
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_GIL);
	assert_int_equal(pair.threads[0].waiting.other, 4711);
	assert_string_equal(pair.threads[0].waiting.other_comm, "holds");
	assert_int_equal(pair.threads[1].waiting.kind, DUMP_WAIT_SLEEP);
	assert_int_equal(pair.threads[1].waiting.other, 0);
	end_pair(&pair);
}

static void a_free_gil_has_no_holder(void **state)
{
	struct pair pair;

	(void)state;
	gil.locked = 0;
	start_pair(&pair, 0x7f0000001000, gil.last_holder);
	gil.locked = 1;
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_GIL);
	assert_int_equal(pair.threads[0].waiting.other, 0);
	assert_string_equal(pair.threads[0].waiting.other_comm, "");
	end_pair(&pair);
}

/*
 * The waiting thread has no thread state, the holder is none of the threads, or the holder is the
 * waiting thread itself.
 */
static void what_is_no_gil_is_a_lock(void **state)
{
	struct pair pair;

	(void)state;
	start_pair(&pair, 0, gil.last_holder);
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_LOCK);
	assert_int_equal(pair.threads[0].waiting.other, 0);
	pair.waits->python_state = 0x7f0000001000;
	pair.holds->python_state = 0x7f0000003000;
	find_pair(&pair);
	assert_int_equal(pair.threads[0].waiting.kind, DUMP_WAIT_LOCK);
	pair.waits->python_state = gil.last_holder;
	find_pair(&pair);
	assert_int_equal(pair.threads[0].waiting.other, 0);
	end_pair(&pair);
}

static uint64_t random_number(void)
{
	static const uint64_t odd[] = {0,	   1,	       3,	   64,	      1024,
				       0x7fffffff, 0x80000000, UINT32_MAX, INT64_MAX, UINT64_MAX};
	long choice = random();

	return choice % 3 ? odd[(size_t)choice % COUNT(odd)] :
			    (uint64_t)(uintptr_t)&gil + (uint64_t)(choice % 4096);
}

static void any_arguments_are_withstood(void **state)
{
	pid_t pid = start_child(wait_forever);
	struct thread_look *look = look_at(pid, __NR_pause);

	(void)state;
	srandom(1);
	for (int i = 0; i < 5000; i++) {
		struct dump_waiting waiting;

		look->system_call = (uint64_t)(i % 500);
		look->python_state = gil.last_holder;
		look->stack.registers.ip = random_number();
		for (size_t k = 0; k < COUNT(look->argument); k++)
			look->argument[k] = random_number();
		waiting = find_by(pid, look);
		assert_in_range(waiting.kind, DUMP_WAIT_LOCK, DUMP_WAIT_OTHER);
		assert_non_null(memchr(waiting.object, '\0', sizeof(waiting.object)));
		assert_non_null(memchr(waiting.other_comm, '\0', sizeof(waiting.other_comm)));
	}
	free(look);
	end_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holder_of_the_gil_is_reported),
		cmocka_unit_test(a_free_gil_has_no_holder),
		cmocka_unit_test(what_is_no_gil_is_a_lock),
		cmocka_unit_test(any_arguments_are_withstood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
