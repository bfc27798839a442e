// SPDX-License-Identifier: BSD-2-Clause
// Deliberately large input: endless names of kernels, chosen handles. Time must grow with the size,
// not with its square.
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "growth_of_time.h"
#include "base/table.h"
#include "model/kernels.h"
#include "model/model.h"
#include "model/kernel_names.h"
#include "symbol/kernel_name.h"

/* What goes beyond the bounds. Sanitizers, which take twenty times as long, get just that much. */
#ifdef GPUPROBE_SANITIZED
#define PROCESSES 5
#define NAMES 17000
#else
#define PROCESSES 7
#define NAMES 30000
#endif

/* --- names of kernels --- */

static struct launch_key key_of(size_t i)
{
	return (struct launch_key){.kernel = {.handle = 0x7f0000000000ull + i * 64, .slot = 1}};
}

/* The kernels are first found without names, then each gets its name. */
static void name_kernels(size_t size)
{
	struct kernel_table *table = kernel_table__new();
	struct process process = {.pid = 1};
	char name[64];

	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		assert_int_equal(kernel_table__set(table, &key, 1, NULL), 0);
	}
	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		snprintf(name, sizeof(name), "_Z%zuhostile_kernel_%zui",
			 strlen("hostile_kernel_") + 5, 10000 + i % 90000);
		assert_int_equal(kernel_table__set(table, &key, 2, name), 0);
	}
	assert_int_equal(kernel_table__list(table, &process), 0);
	assert_int_equal(process.launches, 2 * size);
	process.kernel_table = table;
	process__clear(&process);
}

/* Growth of the resident memory in bytes; 0 if it shrank, as when a sanitizer releases memory. */
static size_t grown_since(size_t before)
{
	size_t now = resident_bytes();

	return now > before ? now - before : 0;
}

struct name_notice {
	union {
		struct record_name record;
		char bytes[sizeof(struct record_name) + KERNEL_NAME_MAX + 1];
	};
};

static void give_name(struct kernel_names *store, uint32_t slot, size_t i, size_t length)
{
	static struct name_notice notice;

	notice.record = (struct record_name){
		.header = {.type = RECORD_KERNEL_NAME, .slot = slot},
		.handle = 0x7f0000000000ull + i * 64,
		.module = 1 + i,
		.source = NAME_GIVEN,
		.length = (uint16_t)length,
	};
	memset(notice.record.name, 'a', length);
	notice.record.name[length] = '\0';
	snprintf(notice.record.name, 32, "_Z%zu", i);
	notice.record.name[strlen(notice.record.name)] = 'k';
	assert_int_equal(kernel_names__add(store, &notice.record, notice.record.name), 0);
}

/* As many unloads as names, of unknown modules. */
static void unload_modules(size_t size)
{
	struct kernel_names *store = kernel_names__new();

	for (size_t i = 0; i < size; i++)
		give_name(store, 1, i, 40);
	for (size_t i = 0; i < size; i++)
		kernel_names__unload(store, 1, UINT64_MAX - i, (uint32_t)i + 1);
	for (size_t i = 0; i < size; i++)
		kernel_names__forget(store, (uint32_t)i + 2);
	kernel_names__free(store);
}

static void tens_of_thousands_of_kernels(void **state)
{
	(void)state;
	assert_linear("kernels named", name_kernels, 2500);
	assert_linear("modules unloaded", unload_modules, 2500);
}

/*
 * A module is unloaded: each of its kernels is checked for being over, and addresses are looked up.
 */
static void end_kernels(size_t size)
{
	struct kernel_table *table = kernel_table__new();
	const char *label;

	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		assert_int_equal(kernel_table__set(table, &key, 1, NULL), 0);
	}
	for (size_t i = 0; i < size; i++) {
		struct launch_key key = key_of(i);

		assert_false(kernel_table__is_over(table, &key.kernel));
		assert_int_equal(kernel_table__retire(table, &key), 0);
		assert_true(kernel_table__is_over(table, &key.kernel));
		assert_true(kernel_table__knows(table, key.kernel.handle, &label));
	}
	kernel_table__free(table);
}

static void unloads_tens_of_thousands_of_kernels(void **state)
{
	(void)state;
	assert_linear("kernels ended", end_kernels, 2500);
}

/*
 * The same with seven processes that want as much as they can get, 448 MiB, and one that has a few.
 */
static void names_of_all_are_bounded(void **state)
{
	struct kernel_key few = {.handle = 0x7f0000000000ull, .slot = 99};
	size_t before = resident_bytes(), grown;
	struct kernel_names *store = kernel_names__new();

	(void)state;
	for (size_t i = 0; i < 100; i++)
		give_name(store, few.slot, i, 100);
	for (uint32_t slot = 0; slot < PROCESSES; slot++)
		for (size_t i = 0; i < 17000; i++)
			give_name(store, slot, i, KERNEL_NAME_MAX);
	grown = grown_since(before);
	print_message("17,000 names of %d bytes of each of %d: %zu MiB are kept\n", KERNEL_NAME_MAX,
		      PROCESSES, grown >> 20);
	assert_true(grown < SLOWER * (330ull << 20));
	assert_non_null(kernel_names__find(store, &few));
	kernel_names__free(store);
}

/* The same with shown kernels: without a bound it is 470 MiB. */
static void kernels_names_of_all_are_bounded(void **state)
{
	struct kernel_table *tables[PROCESSES + 1];
	size_t before = resident_bytes(), all = 0, grown;
	struct launch_key key = key_of(0);
	char name[KERNEL_NAME_MAX + 1];
	struct kernel_texts texts;

	(void)state;
	memset(name, 'b', KERNEL_NAME_MAX);
	name[KERNEL_NAME_MAX] = '\0';
	for (size_t t = 0; t <= PROCESSES; t++) {
		tables[t] = kernel_table__new();
		kernel_table__share(tables[t], &all);
		for (size_t i = 0; i < (t < PROCESSES ? 6000 : 1); i++) {
			key = key_of(i);
			name[snprintf(name, sizeof(name), "k%zu", i)] = 'b';
			assert_int_equal(kernel_table__set(tables[t], &key, 1, name), 0);
		}
	}
	grown = grown_since(before);
	print_message("6,000 kernels of such names of each of %d: %zu MiB\n", PROCESSES,
		      grown >> 20);
	assert_true(grown < SLOWER * (400ull << 20));
	/* The last process, which has few names, still gets them. */
	assert_true(kernel_table__texts(tables[PROCESSES], &key.kernel, &texts));
	for (size_t t = 0; t <= PROCESSES; t++)
		kernel_table__free(tables[t]);
	assert_int_equal(all, 0);
}

/*
 * A program that keeps requesting kernels by names of the greatest length: 120 MB, and 300 if the
 * kernels are shown.
 */
static void names_are_bounded(void **state)
{
	size_t before = resident_bytes(), grown;
	struct kernel_names *store = kernel_names__new();
	struct kernel_table *table = kernel_table__new();
	char name[KERNEL_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < NAMES; i++)
		give_name(store, 1, i, KERNEL_NAME_MAX);
	grown = grown_since(before);
	print_message("%d names of %d bytes: %zu MiB are kept\n", NAMES, KERNEL_NAME_MAX,
		      grown >> 20);
	assert_true(grown < SLOWER * (100ull << 20));
	kernel_names__free(store);
	for (size_t i = 0; i < NAMES; i++) {
		struct launch_key key = key_of(i);

		memset(name, 'b', KERNEL_NAME_MAX);
		name[KERNEL_NAME_MAX] = '\0';
		name[snprintf(name, sizeof(name), "k%zu", i)] = 'b';
		assert_int_equal(kernel_table__set(table, &key, 1, name), 0);
	}
	grown = grown_since(before);
	print_message("%d kernels of such names: %zu MiB\n", NAMES, grown >> 20);
	assert_true(grown < SLOWER * (200ull << 20));
	kernel_table__free(table);
}

/* "S1_" stands for an earlier type: a pair of two such types is twice as long. */
static void exploding_names(void **state)
{
	struct kernel_table *table = kernel_table__new();
	uint64_t begin = spent();
	size_t before = resident_bytes();
	char name[1024];

	(void)state;
	for (size_t i = 0; i < 10000; i++) {
		struct launch_key key = key_of(i);
		size_t at = (size_t)snprintf(name, sizeof(name), "_Z7k%06zuSt4pairIiiE", i);

		for (int depth = 0; depth < 9; depth++)
			at += (size_t)snprintf(name + at, sizeof(name) - at, "S_IS%d_S%d_E", depth,
					       depth);
		assert_int_equal(kernel_table__set(table, &key, 1, name), 0);
	}
	print_message("10,000 names that explode: %.1f ms, %.0f MiB\n",
		      (double)(spent() - begin) / MS,
		      ((double)resident_bytes() - (double)before) / (1 << 20));
	assert_true(spent() - begin < SLOWER * 3000 * MS);
	assert_true(resident_bytes() < before + SLOWER * (100ull << 20));
	kernel_table__free(table);
}

/* --- tables --- */

struct entry {
	uint64_t key;
	UT_hash_handle hh;
};

/*
 * Keys that uthash's own function, which is the same everywhere, puts into one chain of a table of
 * up to 4,096.
 */
static void choose_keys(uint64_t *keys, size_t count)
{
	uint64_t key = 0x7f0000000000ull;

	for (size_t i = 0; i < count; key += 16) {
		unsigned int hash;

		HASH_JEN(&key, sizeof(key), hash);
		if (!(hash & 0xfff))
			keys[i++] = key;
	}
}

/* Number of key comparisons when each key is looked up once. */
static size_t comparisons_of(const uint64_t *keys, size_t count)
{
	struct entry *entries = calloc(count, sizeof(*entries)), *table = NULL, *found;
	size_t comparisons = 0;

	assert_non_null(entries);
	for (size_t i = 0; i < count; i++) {
		entries[i].key = keys[i];
		HASH_FIND(hh, table, &keys[i], sizeof(keys[i]), found);
		assert_null(found);
		HASH_ADD(hh, table, key, sizeof(keys[i]), &entries[i]);
	}
	for (size_t i = 0; i < table->hh.tbl->num_buckets; i++) {
		size_t chain = table->hh.tbl->buckets[i].count;

		comparisons += chain * (chain + 1) / 2;
	}
	HASH_CLEAR(hh, table);
	free(entries);
	return comparisons;
}

static void chosen_handles(void **state)
{
	enum {
		COUNT = 3000
	};
	static uint64_t keys[COUNT], plain[COUNT];
	size_t chosen, usual;

	(void)state;
	choose_keys(keys, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		plain[i] = 0x7f0000000000ull + 16 * i;
	usual = comparisons_of(plain, COUNT);
	chosen = comparisons_of(keys, COUNT);
	print_message("%d handles: %zu comparisons, chosen to collide: %zu\n", COUNT, usual,
		      chosen);
	assert_true(chosen < 4 * usual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tens_of_thousands_of_kernels),
		cmocka_unit_test(unloads_tens_of_thousands_of_kernels),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(names_of_all_are_bounded),
		cmocka_unit_test(kernels_names_of_all_are_bounded),
		cmocka_unit_test(exploding_names),
		cmocka_unit_test(chosen_handles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
