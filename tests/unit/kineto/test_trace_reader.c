// SPDX-License-Identifier: BSD-2-Clause
// Kernels, copies and sets are found in traces of old and new versions of Kineto, in pieces.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kineto/trace_reader.h"

#define WORK_MAX 8192

struct found {
	struct gpu_work work[WORK_MAX];
	size_t count;
	char names[16][GPU_TIMES_NAME_SIZE]; /* the first ones, by number */
	size_t name_count;
	struct trace_summary summary;
};

static void take_work(const struct gpu_work *work, void *arg)
{
	struct found *found = arg;

	assert_true(found->count < WORK_MAX);
	found->work[found->count++] = *work;
}

static void take_name(uint64_t number, const char *text, void *arg)
{
	struct found *found = arg;

	assert_int_equal(number, ++found->name_count);
	if (number < 16)
		snprintf(found->names[number], sizeof(found->names[number]), "%s", text);
}

/* The caller frees the result. */
static struct found *read_in(const char *text, size_t piece, int expected)
{
	struct found *found = calloc(1, sizeof(*found));
	const struct trace_reader_hooks hooks = {take_work, take_name, found};
	struct trace_reader *reader = trace_reader__new(&hooks);
	size_t length = strlen(text);
	int ret = 0;

	for (size_t at = 0; at < length && !ret; at += piece)
		ret = trace_reader__push(reader, text + at,
					 length - at < piece ? length - at : piece);
	assert_int_equal(ret, expected);
	found->summary = trace_reader__summary(reader);
	trace_reader__free(reader);
	return found;
}

static void expect_work(const struct gpu_work *work, unsigned int kind, uint32_t device,
			uint64_t start_ns, uint64_t ns)
{
	assert_int_equal(work->kind, kind);
	assert_int_equal(work->device, device);
	assert_int_equal(work->start_ns, start_ns);
	assert_int_equal(work->end_ns, start_ns + ns);
}

static const char newer[] =
	"{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"traceEvents\"}],"
	" \"baseTimeNanoseconds\": 1700000000123456789, \"traceEvents\": ["
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm<float>\", \"pid\": 0, \"tid\": 7,"
	" \"ts\": 1000.001, \"dur\": 20.5, \"args\": {\"device\": 1, \"grid\": [1, 2, 3],"
	" \"inner\": {\"device\": 9}}},"
	"{\"cat\": \"kernel\", \"args\": {\"graph node id\": 5, \"device\": 0}, \"dur\": 1,"
	" \"ts\": 1100, \"name\": \"gemm<float>\"},"
	"{\"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 7, \"ts\": 1, \"dur\": 900},"
	"{\"cat\": \"gpu_memcpy\", \"name\": \"Memcpy PtoP (Device -> Device)\", \"ts\": 2,"
	" \"dur\": 0.001, \"args\": {\"device\": 0, \"bytes\": 4096}},"
	"{\"cat\": \"gpu_memset\", \"name\": \"Memset (Device)\", \"ts\": 3, \"dur\": 4,"
	" \"args\": {\"device\": 0, \"bytes\": 16}},"
	"{\"cat\": \"overhead\", \"name\": \"Buffer Flush\", \"ts\": 3, \"dur\": 10},"
	"{\"cat\": \"overhead\", \"name\": \"Resource\", \"ts\": 3, \"dur\": 0.5},"
	"{\"cat\": \"overhead\", \"name\": \"Lazy Function Loading\", \"ts\": 3, \"dur\": 70},"
	"{\"ph\": \"i\", \"name\": \"Record Window End\", \"ts\": 9}],"
	"\"kernel\": {\"cat\": \"kernel\", \"name\": \"x\"}, \"traceName\": \"x\"}";

static void test_newer(void **state)
{
	const uint64_t base_ns = 1700000000123456789;

	(void)state;
	for (size_t piece = 1; piece < sizeof(newer); piece += 37) {
		struct found *found = read_in(newer, piece, 0);

		assert_int_equal(found->count, 4);
		expect_work(&found->work[0], GPU_WORK_KERNEL, 1, base_ns + 1000001, 20500);
		expect_work(&found->work[1], GPU_WORK_GRAPH_KERNEL, 0, base_ns + 1100000, 1000);
		expect_work(&found->work[2], GPU_WORK_COPY, 0, base_ns + 2000, 1);
		expect_work(&found->work[3], GPU_WORK_SET, 0, base_ns + 3000, 4000);
		assert_int_equal(found->work[0].name, 1);
		assert_int_equal(found->work[1].name, 1);
		assert_int_equal(found->work[2].copy, GPU_COPY_P2P);
		assert_int_equal(found->work[2].bytes, 4096);
		assert_int_equal(found->work[3].bytes, 16);
		assert_int_equal(found->name_count, 1);
		assert_string_equal(found->names[1], "gemm<float>");
		assert_int_equal(found->summary.events, 9);
		assert_int_equal(found->summary.overhead_ns, 10500);
		assert_true(found->summary.whole && found->summary.has_events);
		assert_int_equal(found->summary.offset, sizeof(newer) - 1);
		free(found);
	}
}

/* Other categories, times since 1970 in whole microseconds, the device as the pid. */
static void test_older(void **state)
{
	struct found *found = read_in(
		"{\"traceEvents\": [{\"cat\": \"Kernel\", \"name\": \"k\", \"pid\": 3,"
		" \"ts\": 1650000000123456, \"dur\": 7},"
		"{\"cat\": \"Memcpy\", \"name\": \"Memcpy HtoD\", \"pid\": 2, \"ts\": 5, \"dur\": "
		"1},"
		"{\"cat\": \"Memset\", \"name\": \"Memset\", \"pid\": 2, \"ts\": 5, \"dur\": 1}]}",
		1000, 0);

	(void)state;
	assert_int_equal(found->count, 3);
	expect_work(&found->work[0], GPU_WORK_KERNEL, 3, 1650000000123456000, 7000);
	expect_work(&found->work[1], GPU_WORK_COPY, 2, 5000, 1000);
	assert_int_equal(found->work[1].copy, GPU_COPY_H2D);
	expect_work(&found->work[2], GPU_WORK_SET, 2, 5000, 1000);
	free(found);
}

/* Work without usable values counts, and has no time or no known device. */
static void test_odd_values(void **state)
{
	static const char *const times[] = {"-1",   "\"5\"", "1e3", "99999999999999999999",
					    "nan",  "1.2.3", "[5]", "{\"ts\": 5}",
					    "null", "+5",    "5us"};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct found *found;

		snprintf(text, sizeof(text),
			 "{\"traceEvents\": [{\"cat\": \"kernel\", \"name\": \"k\", \"ts\": %s,"
			 " \"dur\": 1, \"args\": {\"device\": -1}}]}",
			 times[i]);
		found = read_in(text, 11, 0);
		assert_int_equal(found->count, 1);
		assert_int_equal(found->work[0].start_ns, 0);
		assert_int_equal(found->work[0].end_ns, 0);
		assert_int_equal(found->work[0].device, UINT32_MAX);
		free(found);
	}
}

/* Work before the damage has been told. */
static void test_damage(void **state)
{
	static const char text[] =
		"{\"traceEvents\": [{\"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, \"dur\": 1},"
		"{\"cat\": \"kernel\", \"name\": \"a \"quoted\" name\"}]}";
	struct found *found = read_in(text, 5, -EINVAL);

	(void)state;
	assert_int_equal(found->count, 1);
	assert_int_equal(found->summary.offset, strstr(text, "quoted") - text);
	assert_false(found->summary.whole);
	free(found);
}

static void test_no_trace(void **state)
{
	static const char *const texts[] = {"[]", "{}", "{\"traceEvents\": 5}", "{\"x\": []}",
					    "[{\"traceEvents\": [{\"cat\": \"kernel\"}]}]"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct found *found = read_in(texts[i], 3, 0);

		assert_int_equal(found->count, 0);
		assert_true(found->summary.whole);
		assert_false(found->summary.has_events);
		free(found);
	}
}

/* Beyond so many names, kernels have none. */
static void test_names(void **state)
{
	const size_t count = TRACE_READER_NAMES + 3, room = 64 * count;
	char *text = malloc(room);
	size_t length = (size_t)snprintf(text, room, "{\"traceEvents\": [");
	struct found *found;

	(void)state;
	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(text + length, room - length,
					   "%s{\"cat\": \"kernel\", \"name\": \"k%zu\"}",
					   i ? "," : "", i);
	snprintf(text + length, room - length, "]}");
	found = read_in(text, 65536, 0);
	assert_int_equal(found->count, count);
	assert_int_equal(found->name_count, TRACE_READER_NAMES);
	assert_int_equal(found->work[TRACE_READER_NAMES - 1].name, TRACE_READER_NAMES);
	assert_int_equal(found->work[TRACE_READER_NAMES].name, 0);
	free(found);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newer),	   cmocka_unit_test(test_older),
		cmocka_unit_test(test_odd_values), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_no_trace),   cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
