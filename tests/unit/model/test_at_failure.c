// SPDX-License-Identifier: BSD-2-Clause
// What a process held when an allocation failed, and the report of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/at_failure.h"
#include "model/oom.h"

#define MIB (1ull << 20)
#define FAILED_NS 1000000000ull

static const struct stack first = {.serial = 1}, second = {.serial = 2};

static const struct stack *find(void *arg, uint64_t id)
{
	(void)arg;
	return id == 1 ? &first : id == 2 ? &second : NULL;
}

static struct allocation_record memory(uint64_t mib, uint64_t start_ns, uint64_t stack)
{
	return (struct allocation_record){.size = mib * MIB,
					  .start_ns = start_ns,
					  .kind = MEMORY_DEVICE,
					  .references = 1,
					  .stack = stack};
}

static struct at_failure *begin(void)
{
	struct at_failure *at_failure = at_failure__new();

	assert_non_null(at_failure);
	at_failure__begin(at_failure, FAILED_NS);
	return at_failure;
}

static void add(struct at_failure *at_failure, uint64_t mib, uint64_t start_ns, uint64_t stack)
{
	const struct allocation_record record = memory(mib, start_ns, stack);

	assert_int_equal(at_failure__add(at_failure, &record, stack), 0);
}

static void tensor(struct at_failure *at_failure, uint64_t address, uint64_t start_ns)
{
	const struct allocation made = {
		.address = address, .size = MIB, .start_ns = start_ns, .kind = MEMORY_DEVICE};

	assert_int_equal(at_failure__add_tensor(at_failure, &made, 2, 1), 0);
}

/* What is younger than the failure was not held then, and what was freed since was. */
static void test_sites_of_then(void **state)
{
	struct at_failure *at_failure = begin();

	(void)state;
	add(at_failure, 10, FAILED_NS / 2, 1);
	add(at_failure, 20, FAILED_NS + 1, 1);
	add(at_failure, 30, FAILED_NS / 2, 2);
	add(at_failure, 40, FAILED_NS / 2, 2);
	assert_int_equal(at_failure__list(at_failure, find, NULL), 0);
	assert_int_equal(at_failure->site_count, 2);
	assert_ptr_equal(at_failure->sites[0].stack, &second);
	assert_int_equal(at_failure->sites[0].bytes, 70 * MIB);
	assert_int_equal(at_failure->sites[0].count, 2);
	assert_int_equal(at_failure->sites[1].bytes, 10 * MIB);
	assert_int_equal(at_failure->held_bytes[0], 80 * MIB);
	/* Another reading begins with nothing. */
	at_failure__begin(at_failure, FAILED_NS);
	assert_int_equal(at_failure__list(at_failure, find, NULL), 0);
	assert_int_equal(at_failure->site_count, 0);
	assert_int_equal(at_failure->held_bytes[0], 0);
	at_failure__free(at_failure);
}

static void test_holes_of_then(void **state)
{
	struct at_failure *at_failure = begin();

	(void)state;
	assert_int_equal(at_failure__add_segment(at_failure, 100 * MIB, 4 * MIB, 1, false,
						 SEGMENT_FRAMEWORK),
			 0);
	assert_int_equal(at_failure__add_segment(at_failure, 200 * MIB, 4 * MIB, FAILED_NS + 1,
						 false, SEGMENT_FRAMEWORK),
			 0);
	tensor(at_failure, 100 * MIB, 2);
	tensor(at_failure, 102 * MIB, FAILED_NS + 1);
	assert_int_equal(at_failure__list(at_failure, find, NULL), 0);
	assert_int_equal(at_failure->tensors->live_site_count, 1);
	assert_int_equal(at_failure->tensors->live_sites[0].count, 1);
	assert_int_equal(at_failure->tensors->segments.bytes, 4 * MIB);
	assert_int_equal(at_failure->tensors->segments.largest_hole, 3 * MIB);
	at_failure__free(at_failure);
}

static struct oom describe(struct process *process, uint64_t failed_ns)
{
	struct model model = {.now_ns = FAILED_NS * 2};
	struct site_history *history = site_history__new();
	struct oom oom = {.time_ns = failed_ns, .bytes = MIB};

	assert_non_null(history);
	oom__describe(&oom, &model, process, 0, history);
	site_history__free(history);
	return oom;
}

/* The process has freed all that it held, and has allocated a little anew. */
static void test_report(void **state)
{
	struct at_failure *at_failure = begin();
	struct live_site now = {.stack = &first, .bytes = 5 * MIB, .count = 1};
	struct process process = {.live_sites = &now, .live_site_count = 1};
	struct oom oom;

	(void)state;
	process.memory[MEMORY_DEVICE].live_bytes = 5 * MIB;
	process.at_failure = at_failure;
	add(at_failure, 5, FAILED_NS + 1, 1);
	add(at_failure, 70, FAILED_NS / 2, 2);
	assert_int_equal(at_failure__list(at_failure, find, NULL), 0);
	oom = describe(&process, FAILED_NS);
	assert_int_equal(oom.site_count, 1);
	assert_ptr_equal(oom.sites[0].stack, &second);
	assert_int_equal(oom.tracked, 70 * MIB);
	/* Another failure, much later: what it holds now must do. */
	oom = describe(&process, FAILED_NS + LATE_FREES_NS);
	assert_ptr_equal(oom.sites[0].stack, &first);
	assert_int_equal(oom.tracked, 5 * MIB);
	at_failure__free(at_failure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites_of_then),
		cmocka_unit_test(test_holes_of_then),
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
