// SPDX-License-Identifier: BSD-2-Clause
// Sums of sizes that programs claim: exact if they fit, otherwise the largest number; none
// decreases or goes below 0.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/saturate.h"
#include "collect/context_ends.h"
#include "collect/count_table.h"
#include "collect/inflight.h"
#include "collect/tally.h"
#include "api/api.h"
#include "model/sites.h"
#include "output/report/totals.h"

#define QUARTER (1ull << 62)

static void test_arithmetic(void **state)
{
	uint64_t sum = UINT64_MAX - 1;

	(void)state;
	saturate__add(&sum, 1);
	assert_true(sum == UINT64_MAX);
	saturate__add(&sum, 1);
	assert_true(sum == UINT64_MAX);
	assert_true(saturate__sum(3 * QUARTER, QUARTER - 1) == UINT64_MAX);
	assert_true(saturate__sum(2 * QUARTER, QUARTER) == 3 * QUARTER);
	assert_true(saturate__difference(5, 6) == 0);
	assert_true(saturate__difference(6, 5) == 1);
	assert_true(saturate__product(QUARTER, 3) == 3 * QUARTER);
	assert_true(saturate__product(QUARTER, 4) == UINT64_MAX);
	assert_true(saturate__product(0, UINT64_MAX) == 0 && saturate__product(UINT64_MAX, 0) == 0);
	assert_true(saturate__wide((__int128)QUARTER * 4) == UINT64_MAX);
	assert_true(saturate__wide(-(__int128)QUARTER * 4) == 0);
	assert_true(saturate__wide((__int128)QUARTER * 3) == 3 * QUARTER);
	assert_true(saturate__double(1e30) == UINT64_MAX && saturate__double(-1.0) == 0);
	assert_true(saturate__double(0.0 / 0.0) == 0 && saturate__double(12.7) == 12);
}

static uint16_t row_of(const char *symbol)
{
	for (size_t row = 0; row < api_function_count; row++)
		if (!strcmp(api_functions[row].symbol, symbol))
			return (uint16_t)row;
	fail_msg("no function %s", symbol);
	return 0;
}

/* `calls` calls of `bytes` each: a sum as BPF keeps it. */
static struct tally tally_of(uint64_t calls, uint64_t bytes)
{
	const __int128 sum = (__int128)calls * bytes;

	return (struct tally){
		.calls = calls, .bytes = (uint64_t)sum, .carries = (uint64_t)(sum >> 64)};
}

static void apply(struct process *process, const char *symbol, uint8_t kind, uint16_t flags,
		  uint64_t calls, uint64_t bytes)
{
	const struct tally_key key = {
		.row = row_of(symbol), .kind = kind, .flags = flags, .device = 0};
	const struct tally tally = tally_of(calls, bytes);

	assert_int_equal(tally__apply(process, &key, &tally), 0);
}

static void test_live_memory(void **state)
{
	struct process process = {0};

	(void)state;
	apply(&process, "cuMemAlloc_v2", MEMORY_DEVICE, 0, 4, QUARTER);
	tally__finish(&process);
	assert_true(process.memory[MEMORY_DEVICE].live_bytes == UINT64_MAX);
	assert_true(process.devices[0].live_bytes == UINT64_MAX);
	assert_true(process.functions[0].bytes == UINT64_MAX);
	/* One is freed, and one goes with its context: the rest fits. */
	apply(&process, "cuMemFree_v2", MEMORY_DEVICE, 0, 1, QUARTER);
	assert_int_equal(context_ends__add(&process, MEMORY_DEVICE, 0, QUARTER), 0);
	assert_int_equal(context_ends__apply(&process), 0);
	tally__finish(&process);
	assert_true(process.memory[MEMORY_DEVICE].live_bytes == 2 * QUARTER);
	assert_true(process.devices[0].live_bytes == 2 * QUARTER);
	assert_int_equal(process.memory[MEMORY_DEVICE].live_count, 2);
	/* A free is counted before its allocation. */
	apply(&process, "cuMemFree_v2", MEMORY_DEVICE, 0, 3, QUARTER);
	tally__finish(&process);
	assert_true(process.memory[MEMORY_DEVICE].live_bytes == 0 &&
		    process.devices[0].live_bytes == 0);
	process__clear(&process);
}

static void test_live_at_exit_over_kinds(void **state)
{
	struct process process = {.ended = true};

	(void)state;
	apply(&process, "cuMemAlloc_v2", MEMORY_DEVICE, 0, 3, QUARTER);
	apply(&process, "cuMemAllocManaged", MEMORY_MANAGED, 0, 3, QUARTER);
	tally__finish(&process);
	assert_true(process.live_at_exit_bytes == UINT64_MAX);
	process__clear(&process);
}

static void test_copies(void **state)
{
	struct process process = {0};

	(void)state;
	apply(&process, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED, 3, QUARTER);
	apply(&process, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED, 2, QUARTER);
	apply(&process, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PAGEABLE, 7, QUARTER);
	assert_true(process.copies[COPY_H2D][0].bytes == UINT64_MAX);
	assert_true(process.copies[COPY_H2D][0].pinned_bytes == UINT64_MAX);
	assert_true(process.copies[COPY_H2D][0].pageable_bytes == UINT64_MAX);
	assert_true(process.devices[0].copy_bytes == UINT64_MAX);
	process__clear(&process);
}

static int see(const void *key, const struct tally *sum, bool living, void *arg)
{
	(void)key;
	(void)living;
	*(struct tally *)arg = *sum;
	return 0;
}

/* A value read between the addition and its carry is lower than before, and is not reported. */
static void test_counters_carry(void **state)
{
	struct count_table *table = count_table__new(sizeof(struct tally_key));
	const struct tally_key key = {.row = 1};
	const struct tally most = tally_of(3, QUARTER), some = tally_of(2, QUARTER),
			   between = {.calls = 5, .bytes = QUARTER};
	struct tally sum;

	(void)state;
	assert_non_null(table);
	count_table__begin(table);
	assert_int_equal(count_table__add(table, COUNT_MAP, &key, &most), 0);
	assert_int_equal(count_table__add(table, COUNT_LIVING, &key, &some), 0);
	assert_int_equal(count_table__each(table, see, &sum), 0);
	assert_true(sum.calls == 5 && sum.carries == 1 && sum.bytes == QUARTER);
	count_table__begin(table);
	assert_int_equal(count_table__add(table, COUNT_MAP, &key, &between), 0);
	assert_int_equal(count_table__each(table, see, &sum), 0);
	assert_true(sum.calls == 5 && sum.carries == 1 && sum.bytes == QUARTER);
	count_table__free(table);
}

static void test_copies_in_flight(void **state)
{
	struct stream_record stream = {.context = 1};
	struct process process = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		stream.segments[i].epoch = 5;
		stream.segments[i].calls[COPY_H2D] = 1;
		stream.segments[i].bytes[COPY_H2D] = 2 * QUARTER;
		stream.segments[i].oldest_ns[COPY_H2D] = 1;
	}
	inflight__add(&process, &stream, NULL, 10, 0);
	assert_true(process.inflight[COPY_H2D].calls == 3 &&
		    process.inflight[COPY_H2D].bytes == UINT64_MAX);
}

/* A wait for the legacy default stream covers only blocking streams. */
static void test_what_covers_blocking_streams(void **state)
{
	struct stream_record stream = {.context = 1, .covered = 2, .covered_ns = 50};
	const struct context_record context = {
		.covered = 3, .covered_ns = 60, .blocking_covered = 6, .blocking_covered_ns = 90};
	struct process process = {0};

	(void)state;
	stream.segments[0].epoch = 5;
	stream.segments[0].calls[COPY_H2D] = 1;
	stream.segments[0].bytes[COPY_H2D] = 8;
	stream.segments[0].oldest_ns[COPY_H2D] = 10;
	inflight__add(&process, &stream, &context, 100, 0);
	assert_true(process.inflight[COPY_H2D].calls == 1 &&
		    process.inflight[COPY_H2D].oldest_ns == 90);
	stream.blocking = 1;
	memset(process.inflight, 0, sizeof(process.inflight));
	inflight__add(&process, &stream, &context, 100, 0);
	assert_int_equal(process.inflight[COPY_H2D].calls, 0);
	assert_true(process.covered[COPY_H2D].calls == 1 && process.covered[COPY_H2D].ns == 80);
}

static void test_pools(void **state)
{
	struct pool_record pool = {.used = 3 * QUARTER};

	(void)state;
	assert_true(pool_record__used(&pool) == 3 * QUARTER);
	pool.beyond = pool_record__beyond(&pool, 3 * QUARTER + 5);
	assert_true(pool_record__used(&pool) == 3 * QUARTER + 5);
	pool.beyond = pool_record__beyond(&pool, 2 * QUARTER + 1);
	assert_true(pool_record__used(&pool) == 2 * QUARTER + 1);
	pool = (struct pool_record){.used = 1};
	pool.beyond = pool_record__beyond(&pool, UINT64_MAX);
	assert_true(pool_record__used(&pool) == 2 * QUARTER);
	pool = (struct pool_record){.used = UINT64_MAX, .beyond = 7};
	assert_true(pool_record__used(&pool) == UINT64_MAX);
	pool = (struct pool_record){.used = 3, .beyond = -7};
	assert_true(pool_record__used(&pool) == 0);
	pool = (struct pool_record){.used = 3, .carries = 1};
	assert_true(pool_record__used(&pool) == UINT64_MAX);
	pool = (struct pool_record){.used = -3ull, .carries = -1};
	assert_true(pool_record__used(&pool) == 0);
}

static void test_totals_of_a_report(void **state)
{
	struct process processes[2] = {{.pid = 1}, {.pid = 2, .ended = true}};
	struct model model = {.processes = processes, .process_count = 2};
	struct report_totals totals;

	(void)state;
	processes[0].memory[MEMORY_DEVICE].live_bytes = 3 * QUARTER;
	processes[0].memory[MEMORY_POOL].live_bytes = 3 * QUARTER;
	processes[0].memory[MEMORY_HOST].live_bytes = 7;
	processes[1].live_at_exit_bytes = UINT64_MAX;
	report_totals__sum(&model, &totals);
	assert_true(totals.device.live_bytes == UINT64_MAX);
	assert_true(totals.host.live_bytes == 7);
	processes[0].ended = true;
	processes[0].live_at_exit_bytes = 1;
	report_totals__sum(&model, &totals);
	assert_true(totals.live_at_exit_bytes == UINT64_MAX);
}

static const struct stack *no_stack(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
	return NULL;
}

static void test_call_sites(void **state)
{
	struct site_table *table = site_table__new();
	const struct call_site_key keys[] = {{.stack = 1, .kind = SITE_ALLOCATION},
					     {.stack = 2, .kind = SITE_ALLOCATION}};
	const struct call_site_record record = {.calls = 1, .amount = 3 * QUARTER};
	struct process process = {0};

	(void)state;
	assert_non_null(table);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(site_table__set(table, &keys[i], &record), 0);
		assert_int_equal(site_table__add_live(table, 1 + i, 1, 3 * QUARTER, 1), 0);
	}
	assert_int_equal(site_table__list(table, &process, -1, no_stack, NULL), 0);
	/* Neither has a known stack: they are one site. */
	assert_true(process.site_count == 1 && process.sites[0].calls == 2 &&
		    process.sites[0].amount == UINT64_MAX);
	assert_true(process.live_site_count == 1 && process.live_sites[0].bytes == UINT64_MAX);
	site_table__free(table);
	process__clear(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_live_memory),
		cmocka_unit_test(test_live_at_exit_over_kinds),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_counters_carry),
		cmocka_unit_test(test_copies_in_flight),
		cmocka_unit_test(test_what_covers_blocking_streams),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_totals_of_a_report),
		cmocka_unit_test(test_call_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
