// SPDX-License-Identifier: BSD-2-Clause
// Payloads of NVTX as text: places of members, types, enumerations, and what there is no room for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nvtx_payload.h"

#define ENTRIES_AND_TYPE (1 << 1 | 1 << 2 | 1 << 4 | 1 << 5)
#define WITH_ID (1 << 8)
#define ENUM_VALUES (1 << 2 | 1 << 3 | 1 << 4)

static uint64_t add(const void *domain, const char *name, const struct schema_entry *entries,
		    size_t count)
{
	const struct schema_attributes schema = {.mask = ENTRIES_AND_TYPE,
						 .name = name,
						 .type = 1,
						 .entries = entries,
						 .count = count};

	return nvtx_payload__add_schema(domain, &schema);
}

static void expect(const void *domain, uint64_t schema, const void *payload, size_t size,
		   const char *expected)
{
	const struct payload_data data = {schema, size, payload};
	char text[NVTX_PAYLOAD_SIZE];

	nvtx_payload__describe(domain, &data, 1, text);
	assert_string_equal(text, expected);
}

/* Members without offsets are aligned by their size. */
static void test_numbers(void **state)
{
	const struct {
		int8_t small;
		uint64_t large;
		int32_t negative;
		float real;
		double other;
		void *pointer;
	} payload = {-3, UINT64_MAX, -70000, 1.5f, -0.25, (void *)0x1f};
	const struct schema_entry entries[] = {
		{.type = 11, .name = "small"},
		{.type = 18, .name = "large"},
		{.type = 15, .name = "negative"},
		{.type = 19, .name = "real"},
		{.type = 20, .name = "other"},
		{.type = 23, .name = "pointer"},
		{.type = 18, .flags = 0x200, .name = "hidden"},
	};
	uint64_t schema = add(NULL, "numbers", entries, 7);
	const struct payload_data data = {schema, sizeof(payload), &payload};

	(void)state;
	assert_true(schema > UINT32_MAX);
	expect(NULL, schema, &payload, sizeof(payload),
	       "small=-3, large=18446744073709551615, negative=-70000, real=1.5, other=-0.25, "
	       "pointer=0x1f");
	expect(NULL, schema, &payload, SIZE_MAX,
	       "small=-3, large=18446744073709551615, negative=-70000, real=1.5, other=-0.25, "
	       "pointer=0x1f");
	expect(NULL, schema, &payload, 16, "small=-3, large=18446744073709551615");
	expect(NULL, schema, &payload, 0, "");
	expect(NULL, schema, NULL, 100, "");
	assert_string_equal(nvtx_payload__name(NULL, &data, 1), "numbers");
	assert_string_equal(nvtx_payload__name("another domain", &data, 1), "");
	expect("another domain", schema, &payload, sizeof(payload), "");
}

/* What is no number has no text; a member after it is told if its place is. */
static void test_others(void **state)
{
	const int32_t payload[4] = {1, 2, 3, 4};
	const struct schema_entry entries[] = {
		{.type = 15, .name = "first"},
		{.type = 15, .flags = 2, .name = "pointer"},
		{.type = 15, .name = "placed", .offset = 12},
		{.type = 75, .name = "text"},
		{.type = 15, .name = "unplaced"},
	};

	(void)state;
	expect(NULL, add(NULL, "others", entries, 5), payload, sizeof(payload),
	       "first=1, placed=4");
}

static void test_enumerations(void **state)
{
	const struct enum_entry values[] = {{"Sum", 0, 0}, {"Max", 2, 0}};
	const struct enum_attributes attributes = {
		.mask = ENUM_VALUES, .entries = values, .count = 2, .size = 4};
	const struct schema_entry entry = {.type = nvtx_payload__add_enum(NULL, &attributes),
					   .name = "operation"};
	uint64_t schema = add(NULL, "enumeration", &entry, 1);
	int32_t operation = 2;

	(void)state;
	expect(NULL, schema, &operation, sizeof(operation), "operation=Max");
	operation = 1;
	expect(NULL, schema, &operation, sizeof(operation), "operation=1");
}

static void test_own_ids(void **state)
{
	const struct schema_entry entry = {.type = 16, .name = "x"};
	struct schema_attributes schema = {.mask = ENTRIES_AND_TYPE | WITH_ID,
					   .type = 1,
					   .entries = &entry,
					   .count = 1,
					   .id = 77};
	uint32_t x = 5;

	(void)state;
	assert_int_equal(nvtx_payload__add_schema("d", &schema), 77);
	expect("d", 77, &x, sizeof(x), "x=5");
	schema.type = 3; /* a union */
	schema.id = 78;
	assert_int_equal(nvtx_payload__add_schema("d", &schema), 78);
	expect("d", 78, &x, sizeof(x), "");
}

/* A text is cut; of several payloads all are told. */
static void test_long(void **state)
{
	struct schema_entry entries[20] = {0};
	uint64_t numbers[20], schema;
	struct payload_data data[2];
	char text[NVTX_PAYLOAD_SIZE];

	(void)state;
	for (int i = 0; i < 20; i++) {
		entries[i] = (struct schema_entry){.type = 18, .name = "a number of the payload"};
		numbers[i] = UINT64_MAX;
	}
	schema = add(NULL, "long", entries, 20);
	data[0] = data[1] = (struct payload_data){schema, sizeof(numbers), numbers};
	nvtx_payload__describe(NULL, data, 2, text);
	assert_int_equal(strlen(text), NVTX_PAYLOAD_SIZE - 1);
	schema = add(NULL, "short", entries, 1);
	data[0] = data[1] = (struct payload_data){schema, 8, numbers};
	nvtx_payload__describe(NULL, data, 2, text);
	assert_string_equal(text, "a number of the payload=18446744073709551615, "
				  "a number of the payload=18446744073709551615");
}

static void test_room(void **state)
{
	const struct schema_entry entry = {.type = 16, .name = "x"};
	const struct enum_attributes none = {0};
	size_t schemas = 0, enums = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		schemas += add(NULL, "x", &entry, 1) != 0;
	for (int i = 0; i < 1000; i++)
		enums += nvtx_payload__add_enum(NULL, &none) != 0;
	assert_in_range(schemas, 1, 127);
	assert_in_range(enums, 1, 31);
	assert_int_equal(nvtx_payload__add_schema(NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	     cmocka_unit_test(test_others),
		cmocka_unit_test(test_enumerations), cmocka_unit_test(test_own_ids),
		cmocka_unit_test(test_long),	     cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
