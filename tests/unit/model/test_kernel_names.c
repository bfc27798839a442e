// SPDX-License-Identifier: BSD-2-Clause
/*
 * The store of kernel names: which name a launch gets when handles are reused for other kernels and
 * the notices about it arrive in any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/kernel_names.h"

#define SLOT 3
#define HANDLE 0x7f0000001000u
#define MODULE 0x7f0000002000u

static struct kernel_key key_of(uint32_t generation)
{
	return (struct kernel_key){.handle = HANDLE, .slot = SLOT, .generation = generation};
}

static int add(struct kernel_names *store, enum name_source source, uint32_t generation,
	       const char *name)
{
	struct record_name record = {
		.header = {.type = RECORD_KERNEL_NAME, .slot = SLOT},
		.handle = HANDLE,
		.module = MODULE,
		.generation = generation,
		.source = (uint16_t)source,
	};

	return kernel_names__add(store, &record, name);
}

static const char *find(const struct kernel_names *store, uint32_t generation)
{
	struct kernel_key key = key_of(generation);

	return kernel_names__find(store, &key);
}

static int set_up(void **state)
{
	*state = kernel_names__new();
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	kernel_names__free(*state);
	return 0;
}

static void read_names_are_of_their_generation(void **state)
{
	struct kernel_names *store = *state;

	assert_null(find(store, 0));
	assert_int_equal(add(store, NAME_FROM_HANDLE, 0, "first"), 0);
	assert_int_equal(add(store, NAME_FROM_HANDLE, 2, "second"), 0);
	assert_string_equal(find(store, 0), "first");
	assert_null(find(store, 1));
	assert_string_equal(find(store, 2), "second");
}

static void given_names_outlive_unloads_elsewhere(void **state)
{
	struct kernel_names *store = *state;

	add(store, NAME_GIVEN, 0, "given");
	kernel_names__unload(store, SLOT, MODULE + 1, 1);
	kernel_names__unload(store, SLOT, MODULE + 2, 2);
	assert_string_equal(find(store, 0), "given");
	assert_string_equal(find(store, 2), "given");
}

static void given_names_end_with_their_module(void **state)
{
	struct kernel_names *store = *state;

	add(store, NAME_GIVEN, 0, "given");
	kernel_names__unload(store, SLOT, MODULE, 1);
	assert_string_equal(find(store, 0), "given");
	assert_null(find(store, 1));
}

/* A launch of a later generation is in the maps before the unload's notice is read. */
static void given_names_wait_for_notices_under_way(void **state)
{
	struct kernel_names *store = *state;

	add(store, NAME_GIVEN, 0, "before");
	assert_null(find(store, 1));
	kernel_names__unload(store, SLOT, MODULE, 1);
	assert_null(find(store, 1));
	add(store, NAME_GIVEN, 1, "after");
	assert_string_equal(find(store, 1), "after");
}

/* A lost notice never comes: no name is better than a wrong one. */
static void given_names_are_not_trusted_past_a_lost_notice(void **state)
{
	struct kernel_names *store = *state;

	add(store, NAME_GIVEN, 0, "given");
	kernel_names__unload(store, SLOT, MODULE + 1, 2);
	assert_string_equal(find(store, 1), "given");
	assert_null(find(store, 2));
	/* The name read at the launch itself still is. */
	add(store, NAME_FROM_HANDLE, 2, "read");
	assert_string_equal(find(store, 2), "read");
}

static void processes_are_apart(void **state)
{
	struct kernel_names *store = *state;
	struct kernel_key other = {.handle = HANDLE, .slot = SLOT + 1};

	add(store, NAME_GIVEN, 0, "given");
	add(store, NAME_FROM_HANDLE, 0, "given");
	assert_null(kernel_names__find(store, &other));
	kernel_names__unload(store, SLOT + 1, MODULE, 1);
	assert_string_equal(find(store, 0), "given");
	kernel_names__forget(store, SLOT);
	assert_null(find(store, 0));
}

/* The slot's next process begins with generation 0 and no unloads. */
static void a_slot_begins_anew(void **state)
{
	struct kernel_names *store = *state;

	kernel_names__unload(store, SLOT, MODULE, 1);
	kernel_names__forget(store, SLOT);
	add(store, NAME_GIVEN, 0, "given");
	assert_null(find(store, 1));
}

static void dropped_names_are_gone(void **state)
{
	struct kernel_names *store = *state;
	struct kernel_key first = key_of(0), unknown = key_of(7);

	add(store, NAME_FROM_HANDLE, 0, "first");
	add(store, NAME_FROM_HANDLE, 1, "second");
	kernel_names__drop(store, &first);
	kernel_names__drop(store, &unknown);
	assert_null(find(store, 0));
	assert_string_equal(find(store, 1), "second");
}

static void a_contradiction_ends_the_trust(void **state)
{
	struct kernel_names *store = *state;

	assert_int_equal(add(store, NAME_FROM_HANDLE, 0, "read"), 0);
	assert_true(kernel_names__trusts_handles(store));
	assert_int_equal(add(store, NAME_GIVEN, 0, "given"), 1);
	assert_false(kernel_names__trusts_handles(store));
	assert_int_equal(add(store, NAME_GIVEN, 0, "given"), 0); /* reported once */
	assert_string_equal(find(store, 0), "given");
	/* Names read at other launches are no longer believed. */
	assert_int_equal(add(store, NAME_FROM_HANDLE, 5, "read"), 0);
	assert_null(find(store, 5));
}

static void names_of_two_generations_do_not_contradict(void **state)
{
	struct kernel_names *store = *state;

	add(store, NAME_FROM_HANDLE, 0, "old");
	kernel_names__unload(store, SLOT, MODULE, 1);
	assert_int_equal(add(store, NAME_GIVEN, 1, "new"), 0);
	assert_int_equal(add(store, NAME_FROM_HANDLE, 1, "new"), 0);
	assert_true(kernel_names__trusts_handles(store));
}

static void hostile_names_are_dropped(void **state)
{
	struct kernel_names *store = *state;

	assert_int_equal(add(store, NAME_FROM_HANDLE, 0, ""), 0);
	assert_int_equal(add(store, NAME_GIVEN, 0, "\033[2J"), 0);
	assert_null(find(store, 0));
	assert_true(kernel_names__trusts_handles(store));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(read_names_are_of_their_generation, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(given_names_outlive_unloads_elsewhere, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(given_names_end_with_their_module, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(given_names_wait_for_notices_under_way, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(given_names_are_not_trusted_past_a_lost_notice,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_are_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_slot_begins_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dropped_names_are_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_contradiction_ends_the_trust, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_of_two_generations_do_not_contradict, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(hostile_names_are_dropped, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
