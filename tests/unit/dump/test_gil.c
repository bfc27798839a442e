// SPDX-License-Identifier: BSD-2-Clause
// The lock of Python's interpreter, forged in this process's memory with CPython's layout, and
// memory that only resembles it.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/gil.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define SIGNALS 40 /* an offset in glibc's pthread_cond_t, up to 2.41 */
#define SIGNALS_NEW 32

/* CPython's Include/internal/pycore_gil.h. */
struct python_gil {
	unsigned long interval;
	uint64_t last_holder;
	int locked;
	unsigned long switch_number;
	pthread_cond_t cond;
	pthread_mutex_t mutex;
	pthread_cond_t switch_cond;
	pthread_mutex_t switch_mutex;
};

static struct {
	/* The part of _PyRuntime, or of an interpreter's state, before the lock. */
	char before[256];
	struct python_gil gil;
} runtime;

static const uint64_t states[] = {0x7f0000001000, 0, 0x7f0000002000};

static void forge(uint64_t holder, int locked)
{
	memset(&runtime, 0, sizeof(runtime));
	runtime.gil = (struct python_gil){
		.interval = 5000, .last_holder = holder, .locked = locked, .switch_number = 77};
}

static bool find(const void *futex, struct gil *gil)
{
	return gil__find(NULL, getpid(), (uint64_t)(uintptr_t)futex, states, COUNT(states), gil);
}

/* The lock is found by each word of the structure that a thread may sleep on. */
static void found_by_what_is_slept_on(void **state)
{
	struct python_gil *forged = &runtime.gil;
	const char *words[] = {(char *)&forged->cond + SIGNALS,
			       (char *)&forged->cond + SIGNALS + 4,
			       (char *)&forged->cond + SIGNALS_NEW,
			       (char *)&forged->cond + SIGNALS_NEW + 4,
			       (char *)&forged->mutex,
			       (char *)&forged->switch_cond + SIGNALS,
			       (char *)&forged->switch_cond + SIGNALS + 4};
	struct gil gil;

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		forge(states[2], 1);
		assert_true(find(words[i], &gil));
		assert_true(gil.locked);
		assert_int_equal(gil.holder, states[2]);
		forge(states[0], 0);
		assert_true(find(words[i], &gil));
		assert_false(gil.locked);
	}
}

static void nothing_is_believed_that_does_not_fit(void **state)
{
	static const struct {
		uint64_t holder;
		int locked;
	} wrong[] = {{0x7f0000003000, 1}, {0, 0}, {0, 1}, {0x7f0000001000, 2}, {0x7f0000001000, -1},
		     {0x7f0000001008, 1}};
	struct gil gil;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		forge(wrong[i].holder, wrong[i].locked);
		assert_false(find((char *)&runtime.gil.cond + SIGNALS, &gil));
	}
	forge(states[0], 1);
	for (size_t offset = 0; offset < sizeof(runtime.gil.cond); offset += 4)
		if (offset < SIGNALS_NEW)
			assert_false(find((char *)&runtime.gil.cond + offset, &gil));
}

/* A futex at the start of a mapping, and invalid addresses. */
static void memory_may_be_missing(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gil gil;

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages, (size_t)page, PROT_NONE), 0);
	assert_false(find(pages + page, &gil));
	assert_false(find(NULL, &gil));
	assert_false(find((void *)8, &gil));
	assert_false(find((void *)UINTPTR_MAX, &gil));
	assert_int_equal(munmap(pages, 2 * (size_t)page), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_what_is_slept_on),
		cmocka_unit_test(nothing_is_believed_that_does_not_fit),
		cmocka_unit_test(memory_may_be_missing),
	};

	_Static_assert(offsetof(struct python_gil, cond) == 32, "as in CPython");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
