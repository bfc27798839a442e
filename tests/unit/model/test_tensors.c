// SPDX-License-Identifier: BSD-2-Clause
// How tensors fill their segments, and their counts by device and call site.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/tensors.h"

#define MIB (1ull << 20)

static struct tensors *make(void)
{
	struct tensors *tensors = tensors__new();

	assert_non_null(tensors);
	tensors__begin(tensors, true);
	return tensors;
}

static void segment(struct tensors *tensors, uint64_t address, uint64_t bytes)
{
	assert_int_equal(tensors__add_segment(tensors, address, bytes, false, SEGMENT_UNKNOWN), 0);
}

static void place(struct tensors *tensors, uint64_t address, uint64_t bytes)
{
	assert_int_equal(tensors__place(tensors, address, bytes), 0);
}

static void unused_and_pinned(void **state)
{
	struct tensors *tensors = make();
	const struct tensor_segments *sums = &tensors->segments;

	(void)state;
	/* One is full, one has a hole between two tensors, one is empty; not in order. */
	segment(tensors, 30 * MIB, 4 * MIB);
	segment(tensors, 10 * MIB, 2 * MIB);
	segment(tensors, 20 * MIB, 2 * MIB);
	place(tensors, 21 * MIB, 512);
	place(tensors, 20 * MIB, 1000); /* 1,024 of them */
	place(tensors, 10 * MIB, 2 * MIB);
	assert_int_equal(tensors__sum_segments(tensors), 0);
	assert_int_equal(sums->count, 3);
	assert_int_equal(sums->bytes, 8 * MIB);
	assert_int_equal(sums->tensors, 3);
	assert_int_equal(sums->tensor_bytes, 2 * MIB + 1024 + 512);
	assert_int_equal(sums->unused_bytes, 6 * MIB - 1536);
	assert_int_equal(sums->pinned_bytes, 2 * MIB - 1536);
	assert_int_equal(sums->pinning, 2);
	assert_int_equal(sums->largest_hole, 4 * MIB);
	tensors__free(tensors);
}

/* A tensor of expandable segments reaches over several mappings. */
static void tensors_over_several_mappings(void **state)
{
	struct tensors *tensors = make();
	const struct tensor_segments *sums = &tensors->segments;

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(tensors__add_segment(tensors, (100 + 2 * i) * MIB, 2 * MIB, true,
						      SEGMENT_UNKNOWN),
				 0);
	/* another library's, or another pool's */
	assert_int_equal(tensors__add_segment(tensors, 200 * MIB, 2 * MIB, true, SEGMENT_UNKNOWN),
			 0);
	place(tensors, 101 * MIB, 4 * MIB);
	place(tensors, 105 * MIB + 1024, 512); /* any rest is split off */
	assert_int_equal(tensors__sum_segments(tensors), 0);
	assert_int_equal(sums->count, 1);
	assert_int_equal(sums->bytes, 8 * MIB);
	assert_int_equal(sums->tensor_bytes, 4 * MIB + 512);
	assert_int_equal(sums->unused_bytes, 4 * MIB - 512);
	assert_int_equal(sums->pinned_bytes, 4 * MIB - 512);
	assert_int_equal(sums->pinning, 2);
	tensors__free(tensors);
}

/* The rest of a large block is split off only if it is more than 1 MiB. */
static void rests_of_large_blocks(void **state)
{
	struct tensors *tensors = make();
	const struct tensor_segments *sums = &tensors->segments;

	(void)state;
	segment(tensors, 100 * MIB, 20 * MIB);
	place(tensors, 100 * MIB, 3 * MIB);	       /* has 1 MiB more */
	place(tensors, 104 * MIB, 2 * MIB);	       /* 1.5 MiB are a block */
	place(tensors, 107 * MIB + MIB / 2, 12 * MIB); /* has the rest of the segment */
	segment(tensors, 200 * MIB, 2 * MIB);
	place(tensors, 200 * MIB, MIB); /* small blocks are split */
	assert_int_equal(tensors__sum_segments(tensors), 0);
	assert_int_equal(sums->tensor_bytes, 20 * MIB - 3 * MIB / 2 + MIB);
	assert_int_equal(sums->largest_hole, 3 * MIB / 2);
	tensors__free(tensors);
}

static void memory_of_other_libraries(void **state)
{
	static const enum segment_owner owners[] = {SEGMENT_UNKNOWN, SEGMENT_FRAMEWORK,
						    SEGMENT_OTHER};
	struct tensors *tensors = make();
	const struct tensor_segments *sums = &tensors->segments;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(tensors__add_segment(tensors, (10 + 10 * i) * MIB, MIB << i, false,
						      owners[i]),
				 0);
	assert_int_equal(tensors__sum_segments(tensors), 0);
	assert_int_equal(sums->count, 2);
	assert_int_equal(sums->bytes, 3 * MIB);
	tensors__free(tensors);
}

/* What a program may make up: sums stay within bounds. */
static void hostile_addresses(void **state)
{
	struct tensors *tensors = make();
	const struct tensor_segments *sums = &tensors->segments;

	(void)state;
	segment(tensors, UINT64_MAX - 10, UINT64_MAX);
	segment(tensors, 0, UINT64_MAX);
	segment(tensors, 5, 0);
	place(tensors, 0, UINT64_MAX);
	place(tensors, 3, 0);
	place(tensors, 3, UINT64_MAX);
	place(tensors, UINT64_MAX, 1);
	assert_int_equal(tensors__sum_segments(tensors), 0);
	assert_true(sums->unused_bytes <= sums->bytes);
	assert_true(sums->pinned_bytes <= sums->unused_bytes);
	tensors__free(tensors);
}

static void counts_of_devices(void **state)
{
	const struct tensor_device_record first = {.made = 10,
						   .made_bytes = 1000,
						   .freed = 4,
						   .freed_bytes = 400,
						   .replaced = 1,
						   .replaced_bytes = 100,
						   .untracked = 2,
						   .untracked_bytes = 200,
						   .peak_bytes = 700},
					  second = {.made = 1, .made_bytes = 5, .peak_bytes = 5},
					  unknown = {.unknown_frees = 7};
	struct tensors *tensors = make();

	(void)state;
	assert_int_equal(tensors__add_device(tensors, 1, &second), 0);
	assert_int_equal(tensors__add_device(tensors, 0, &first), 0);
	assert_int_equal(tensors__add_device(tensors, TENSOR_DEVICE_UNKNOWN, &unknown), 0);
	assert_int_equal(tensors->device_count, 3);
	assert_int_equal(tensors->devices[0].device, TENSOR_DEVICE_UNKNOWN);
	assert_int_equal(tensors->devices[2].device, 1);
	assert_int_equal(tensors->total.made, 11);
	assert_int_equal(tensors->total.unknown_frees, 7);
	assert_int_equal(tensors->total.peak_bytes, 700);
	assert_int_equal(tensors->live_count, 4);
	assert_int_equal(tensors->live_bytes, 305);
	/* The next reading counts anew. */
	tensors__begin(tensors, false);
	assert_int_equal(tensors__add_device(tensors, 0, &second), 0);
	assert_int_equal(tensors->total.made, 1);
	assert_int_equal(tensors->device_count, 1);
	tensors__free(tensors);
	tensors__free(NULL);
}

static const struct stack stacks[] = {{.serial = 0}, {.serial = 1}};

/* Ids 10 and 11 have the same stack, 20 has another one. */
static const struct stack *find(void *arg, uint64_t id)
{
	(void)arg;
	return id < 20 ? &stacks[0] : &stacks[1];
}

static void counts_of_sites(void **state)
{
	const struct tensor_site_record record = {
		.made = 5, .made_bytes = 500, .freed = 3, .freed_bytes = 300, .peak_bytes = 400};
	struct tensors *tensors = make();
	const struct allocation tensor = {.address = 1, .size = 100, .start_ns = 7, .stack_id = 10};
	const struct tensor_site *site;

	(void)state;
	assert_int_equal(tensors__set_site(tensors, 10, &record), 0);
	assert_int_equal(tensors__set_site(tensors, 11, &record), 0);
	assert_int_equal(tensors__set_site(tensors, 20, &record), 0);
	assert_int_equal(tensors__set_site(tensors, 20, &record), 0);
	assert_int_equal(tensors__add_live(tensors, &tensor, 10, 1, true), 0);
	/* One counts as four; the call site of another one is left out. */
	assert_int_equal(tensors__add_live(tensors, &tensor, 11, 4, true), 0);
	assert_int_equal(tensors__add_live(tensors, &tensor, 0, 0, true), 0);
	assert_int_equal(tensors__list(tensors, find, NULL), 0);
	site = tensors__site(tensors, &stacks[0]);
	assert_non_null(site);
	assert_int_equal(site->counts.made, 10);
	assert_int_equal(site->counts.freed_bytes, 600);
	assert_int_equal(tensors__site(tensors, &stacks[1])->counts.made, 5);
	assert_int_equal(tensors->live_site_count, 1);
	assert_ptr_equal(tensors->live_sites[0].stack, &stacks[0]);
	assert_int_equal(tensors->live_sites[0].count, 5);
	assert_int_equal(tensors->live_sites[0].bytes, 500);
	assert_int_equal(tensors->live_listed, 3);
	assert_ptr_equal(tensors->live[0].stack, &stacks[0]);
	tensors__forget_stacks(tensors);
	assert_null(tensors__site(tensors, &stacks[0]));
	assert_null(tensors->live[0].stack);
	tensors__forget_stacks(NULL);
	tensors__free(tensors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unused_and_pinned),
		cmocka_unit_test(tensors_over_several_mappings),
		cmocka_unit_test(rests_of_large_blocks),
		cmocka_unit_test(memory_of_other_libraries),
		cmocka_unit_test(hostile_addresses),
		cmocka_unit_test(counts_of_devices),
		cmocka_unit_test(counts_of_sites),
	};

	return cmocka_run_group_tests_name("tensors", tests, NULL, NULL);
}
