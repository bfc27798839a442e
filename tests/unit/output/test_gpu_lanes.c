// SPDX-License-Identifier: BSD-2-Clause
// Slices that fit on a lane do not overlap, in whichever order they come; and few do not fit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "output/timeline/gpu_lanes.h"
#include "rounds.h"

static void test_order(void **state)
{
	struct gpu_lane lane = {0};

	(void)state;
	assert_true(gpu_lane__take(&lane, 100, 200));
	assert_true(gpu_lane__take(&lane, 200, 300));
	assert_true(gpu_lane__take(&lane, 500, 600));
	/* What was written later must end before what follows. */
	assert_false(gpu_lane__take(&lane, 400, 500));
	assert_true(gpu_lane__take(&lane, 300, 499));
	assert_false(gpu_lane__take(&lane, 499, 500));
	assert_true(gpu_lane__take(&lane, 0, 99));
	assert_false(gpu_lane__take(&lane, 150, 150));
	assert_false(gpu_lane__take(&lane, 550, 700));
	assert_true(gpu_lane__take(&lane, 600, 600));
	assert_true(gpu_lane__take(&lane, 600, 700));
}

static void test_many_in_a_row(void **state)
{
	struct gpu_lane lane = {0};

	(void)state;
	for (uint64_t i = 0; i < 10ul * GPU_LANE_SLICES; i++)
		assert_true(gpu_lane__take(&lane, i * 10, i * 10 + 10));
	assert_true(lane.count <= GPU_LANE_SLICES);
	assert_false(gpu_lane__take(&lane, 5, 6));
}

/* Buffers of some hundred slices that come in another order. */
static void test_buffers_out_of_order(void **state)
{
	struct gpu_lane lane = {0};

	(void)state;
	for (uint64_t pair = 0; pair < 20; pair++)
		for (uint64_t half = 2; half-- > 0;)
			for (uint64_t i = 0; i < GPU_LANE_SLICES / 4; i++) {
				uint64_t at = ((pair * 2 + half) * GPU_LANE_SLICES / 4 + i) * 10;

				assert_true(gpu_lane__take(&lane, at + 1, at + 9));
			}
}

static void test_any(void **state)
{
	enum {
		SLICES = 2000
	};
	static struct gpu_lane_slice taken[SLICES];

	(void)state;
	for (int round = 0; round < ROUNDS(50); round++) {
		struct gpu_lane lane = {0};
		size_t count = 0;

		for (int i = 0; i < SLICES; i++) {
			uint64_t begin = (uint64_t)(rand() % 20000);
			uint64_t end = begin + (uint64_t)(rand() % 20);

			if (!gpu_lane__take(&lane, begin, end))
				continue;
			for (size_t j = 0; j < count; j++)
				assert_true(taken[j].end_ns <= begin || taken[j].begin_ns > end);
			taken[count++] = (struct gpu_lane_slice){begin, end};
		}
		assert_true(count > 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_many_in_a_row),
		cmocka_unit_test(test_buffers_out_of_order),
		cmocka_unit_test(test_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
