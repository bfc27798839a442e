// SPDX-License-Identifier: BSD-2-Clause
// The summary of a trace: sums by hand, percentiles against sorted values, formats to the letter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/trace/histogram.h"
#include "output/trace/summary.h"
#include "random_numbers.h"
#include "trace_lines.h"

#define VALUES 5000

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Values of at most `bits` bits: every percentile is within 1.6 % of the exact one. */
static void expect_percentiles(unsigned int bits, size_t count)
{
	struct trace_histogram *histogram = calloc(1, sizeof(*histogram));
	uint64_t values[VALUES];

	assert_non_null(histogram);
	for (size_t i = 0; i < count; i++) {
		values[i] = next_random() >> (64 - bits) >> next_random() % bits;
		trace_histogram__add(histogram, values[i]);
	}
	qsort(values, count, sizeof(values[0]), compare);
	for (unsigned int percent = 1; percent <= 100; percent++) {
		uint64_t exact = values[(count * percent + 99) / 100 - 1];
		uint64_t reported = trace_histogram__percentile(histogram, percent);
		uint64_t off = reported > exact ? reported - exact : exact - reported;

		assert_true(off <= exact / 64);
	}
	free(histogram);
}

static void percentiles_are_near(void **unused)
{
	(void)unused;
	for (unsigned int bits = 1; bits <= 64; bits++)
		expect_percentiles(bits, VALUES);
	for (size_t count = 1; count < 300; count++)
		expect_percentiles(20, count);
}

static void an_empty_histogram_and_the_largest_value(void **unused)
{
	struct trace_histogram *histogram = calloc(1, sizeof(*histogram));

	(void)unused;
	assert_non_null(histogram);
	assert_int_equal(trace_histogram__percentile(histogram, 50), 0);
	trace_histogram__add(histogram, UINT64_MAX);
	assert_true(trace_histogram__percentile(histogram, 50) > UINT64_MAX - (UINT64_MAX >> 6));
	free(histogram);
}

static void add(struct trace_summary *summary, struct trace_line line)
{
	assert_int_equal(trace_summary__add(summary, &line), 0);
}

/*
 * 100 mallocs of 1 to 100 us, one that failed, copies of 2 s, launches inside other calls, and
 * lines that do not count.
 */
static struct trace_summary *make_summary(void)
{
	struct trace_summary *summary = trace_summary__new();

	assert_non_null(summary);
	for (unsigned int i = 1; i <= 100; i++)
		add(summary, (struct trace_line){CALL(cuda_malloc, application, 0, i * 1000),
						 .failed = i == 1});
	add(summary, (struct trace_line){CALL(cuda_memcpy, application, 0, 2000000000)});
	add(summary, (struct trace_line){CALL(synchronize, application, 0, 0), .kind = LINE_ENTRY});
	add(summary,
	    (struct trace_line){CALL(synchronize, application, 0, 500), .kind = LINE_RETURN});
	add(summary,
	    (struct trace_line){CALL(synchronize, application, 0, 1), .kind = LINE_IN_PROGRESS});
	add(summary,
	    (struct trace_line){CALL(synchronize, application, 0, 1500), .kind = LINE_RESUMED});
	add(summary, (struct trace_line){CALL(synchronize, application, 0, 3000000000),
					 .kind = LINE_UNFINISHED});
	add(summary,
	    (struct trace_line){CALL(query, application, 0, 500000000), .kind = LINE_UNFINISHED});
	add(summary,
	    (struct trace_line){CALL(synchronize, application, 0, 0), .kind = LINE_BEFORE});
	add(summary, (struct trace_line){.kind = LINE_LOST, .lost = 7});
	return summary;
}

static void expect_in(struct trace_summary *summary, struct trace_missing missing,
		      enum trace_format format, unsigned int width, enum quantity_form form,
		      const char *expected)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	trace_summary__print(summary, &missing, format, width, form, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void expect_wide(struct trace_summary *summary, struct trace_missing missing,
			enum trace_format format, unsigned int width, const char *expected)
{
	expect_in(summary, missing, format, width, QUANTITY_ROUNDED, expected);
}

static void expect_form(struct trace_summary *summary, struct trace_missing missing,
			enum trace_format format, const char *expected)
{
	expect_wide(summary, missing, format, 0, expected);
}

/* Times that matter less go first; then names are cut. */
static void a_narrow_terminal(void **unused)
{
	struct trace_summary *summary = make_summary();

	(void)unused;
	expect_wide(summary, (struct trace_missing){0}, TRACE_TABLE, 80,
		    "% time     seconds      calls   errors   average       max function\n"
		    "------ ----------- ---------- -------- --------- --------- "
		    "--------------------\n"
		    " 99.75    2.000000          1        0     2.0 s     2.0 s cudaMemcpy\n"
		    "  0.25    0.005050        100        1   50.5 us    100 us cudaMalloc\n"
		    "  0.00    0.000002          3        0    1.0 us    1.5 us "
		    "cudaStreamSynchronize\n"
		    "  0.00    0.000000          1        0         -         - cudaEventQuery\n"
		    "------ ----------- ---------- -------- --------- --------- "
		    "--------------------\n"
		    "100.00    2.005052        105        1   19.5 ms     2.0 s total\n"
		    "2 of the calls did not return: 3.5 s so far, not in the times above\n");
	expect_wide(summary, (struct trace_missing){0}, TRACE_TABLE, 59,
		    "% time     seconds      calls   errors function\n"
		    "------ ----------- ---------- -------- --------------------\n"
		    " 99.75    2.000000          1        0 cudaMemcpy\n"
		    "  0.25    0.005050        100        1 cudaMalloc\n"
		    "  0.00    0.000002          3        0 cudaStream…nchronize\n"
		    "  0.00    0.000000          1        0 cudaEventQuery\n"
		    "------ ----------- ---------- -------- --------------------\n"
		    "100.00    2.005052        105        1 total\n"
		    "2 of the calls did not return: 3.5 s so far, not in the times above\n");
	trace_summary__free(summary);
}

/* Whole nanoseconds need more room, so that fewer times have it. */
static void exact_times(void **unused)
{
	struct trace_summary *summary = make_summary();

	(void)unused;
	expect_in(summary, (struct trace_missing){0}, TRACE_TABLE, 100, QUANTITY_EXACT,
		  "% time     seconds      calls   errors          average              max "
		  "function\n"
		  "------ ----------- ---------- -------- ---------------- ---------------- "
		  "--------------------\n"
		  " 99.75    2.000000          1        0 2,000,000,000 ns 2,000,000,000 ns "
		  "cudaMemcpy\n"
		  "  0.25    0.005050        100        1        50,500 ns       100,000 ns "
		  "cudaMalloc\n"
		  "  0.00    0.000002          3        0         1,000 ns         1,500 ns "
		  "cudaStreamSynchronize\n"
		  "  0.00    0.000000          1        0                -                - "
		  "cudaEventQuery\n"
		  "------ ----------- ---------- -------- ---------------- ---------------- "
		  "--------------------\n"
		  "100.00    2.005052        105        1    19,466,524 ns 2,000,000,000 ns total\n"
		  "2 of the calls did not return: 3,500,000,000 ns so far, not in the times "
		  "above\n");
	trace_summary__free(summary);
}

static void the_table(void **unused)
{
	struct trace_summary *summary = make_summary();

	(void)unused;
	expect_form(
		summary, (struct trace_missing){.calls = 7}, TRACE_TABLE,
		"% time     seconds      calls   errors   average       p50       p99       max "
		"function\n"
		"------ ----------- ---------- -------- --------- --------- --------- --------- "
		"--------------------\n"
		" 99.75    2.000000          1        0     2.0 s     2.0 s     2.0 s     2.0 s "
		"cudaMemcpy\n"
		"  0.25    0.005050        100        1   50.5 us   49.7 us   99.3 us    100 us "
		"cudaMalloc\n"
		"  0.00    0.000002          3        0    1.0 us    500 ns    1.5 us    1.5 us "
		"cudaStreamSynchronize\n"
		"  0.00    0.000000          1        0         -         -         -         - "
		"cudaEventQuery\n"
		"------ ----------- ---------- -------- --------- --------- --------- --------- "
		"--------------------\n"
		"100.00    2.005052        105        1   19.5 ms         -         -     2.0 s "
		"total\n"
		"2 of the calls did not return: 3.5 s so far, not in the times above\n"
		"7 calls were lost, not in the table\n");
	add(summary, (struct trace_line){CALL(query, application, 0, 4000000000), .depth = 1});
	expect_form(
		summary, (struct trace_missing){.calls = 1, .libraries = 2}, TRACE_TABLE,
		"% time     seconds      calls   errors   average       p50       p99       max "
		"function\n"
		"------ ----------- ---------- -------- --------- --------- --------- --------- "
		"--------------------\n"
		" 66.61    4.000000          2        0     4.0 s     4.0 s     4.0 s     4.0 s "
		"cudaEventQuery\n"
		" 33.31    2.000000          1        0     2.0 s     2.0 s     2.0 s     2.0 s "
		"cudaMemcpy\n"
		"  0.08    0.005050        100        1   50.5 us   49.7 us   99.3 us    100 us "
		"cudaMalloc\n"
		"  0.00    0.000002          3        0    1.0 us    500 ns    1.5 us    1.5 us "
		"cudaStreamSynchronize\n"
		"------ ----------- ---------- -------- --------- --------- --------- --------- "
		"--------------------\n"
		"100.00    6.005052        106        1   57.7 ms         -         -     4.0 s "
		"total\n"
		"2 of the calls did not return: 3.5 s so far, not in the times above\n"
		"the time of a call within another is in both\n"
		"1 call was lost, not in the table\n"
		"2 files that may be CUDA libraries got no probes: their calls are not in the "
		"table\n");
	trace_summary__free(summary);
}

static void forms_for_programs(void **unused)
{
	struct trace_summary *summary = make_summary();

	(void)unused;
	expect_form(
		summary, (struct trace_missing){.calls = 7, .libraries = 1}, TRACE_TSV,
		"event\tcalls\terrors\tunfinished\ttime\taverage\tp50\tp99\tmax\n"
		"cudaMemcpy\t1\t0\t0\t2000000000\t2000000000\t2000000000\t2000000000\t2000000000\n"
		"cudaMalloc\t100\t1\t0\t5050000\t50500\t49664\t99328\t100000\n"
		"cudaStreamSynchronize\t3\t0\t1\t2000\t1000\t500\t1488\t1500\n"
		"cudaEventQuery\t1\t0\t1\t0\t-\t-\t-\t-\n"
		"# lost 7\n# library_skipped 1\n");
	expect_form(
		summary, (struct trace_missing){.calls = 7, .libraries = 1}, TRACE_JSON,
		"{\"schema\":1,\"summary\":{\"calls\":105,\"errors\":1,\"unfinished\":2,"
		"\"unfinished_time\":3500000000,\"time\":2005052000,\"lost\":7,\"library_skipped\":"
		"1,\"nested\":false,\"functions\":["
		"{\"event\":\"cudaMemcpy\",\"calls\":1,\"errors\":0,\"unfinished\":0,\"unfinished_"
		"time\":0,"
		"\"time\":2000000000,\"average\":2000000000,\"p50\":2000000000,\"p99\":2000000000,"
		"\"max\":2000000000},"
		"{\"event\":\"cudaMalloc\",\"calls\":100,\"errors\":1,\"unfinished\":0,"
		"\"unfinished_time\":0,"
		"\"time\":5050000,\"average\":50500,\"p50\":49664,\"p99\":99328,\"max\":100000},"
		"{\"event\":\"cudaStreamSynchronize\",\"calls\":3,\"errors\":0,\"unfinished\":1,"
		"\"unfinished_time\":3000000000,\"time\":2000,\"average\":1000,\"p50\":500,\"p99\":"
		"1488,"
		"\"max\":1500},"
		"{\"event\":\"cudaEventQuery\",\"calls\":1,\"errors\":0,\"unfinished\":1,"
		"\"unfinished_time\":500000000,\"time\":0}]}}\n");
	trace_summary__free(summary);
}

/*
 * The middle of a bucket may be above or below all values in it. Percentiles are bounded by minimum
 * and maximum: for a single call they are its time.
 */
static void no_percentile_is_outside_of_minimum_and_maximum(void **unused)
{
	struct trace_summary *summary = trace_summary__new();

	(void)unused;
	assert_non_null(summary);
	add(summary, (struct trace_line){CALL(cuda_malloc, application, 0, 32768)});
	expect_form(summary, (struct trace_missing){.calls = 0}, TRACE_TSV,
		    "event\tcalls\terrors\tunfinished\ttime\taverage\tp50\tp99\tmax\n"
		    "cudaMalloc\t1\t0\t0\t32768\t32768\t32768\t32768\t32768\n");
	add(summary, (struct trace_line){CALL(cuda_memcpy, application, 0, 33791)});
	add(summary, (struct trace_line){CALL(query, application, 0, 0)});
	expect_form(summary, (struct trace_missing){.calls = 0}, TRACE_TSV,
		    "event\tcalls\terrors\tunfinished\ttime\taverage\tp50\tp99\tmax\n"
		    "cudaMemcpy\t1\t0\t0\t33791\t33791\t33791\t33791\t33791\n"
		    "cudaMalloc\t1\t0\t0\t32768\t32768\t32768\t32768\t32768\n"
		    "cudaEventQuery\t1\t0\t0\t0\t0\t0\t0\t0\n");
	trace_summary__free(summary);
}

static void a_trace_without_calls(void **unused)
{
	struct trace_summary *summary = trace_summary__new();

	(void)unused;
	assert_non_null(summary);
	expect_form(summary, (struct trace_missing){.calls = 0}, TRACE_JSON,
		    "{\"schema\":1,\"summary\":{\"calls\":0,\"errors\":0,\"unfinished\":0,"
		    "\"unfinished_time\":0,"
		    "\"time\":0,\"lost\":0,\"library_skipped\":0,\"nested\":false,\"functions\":[]}"
		    "}\n");
	expect_form(summary, (struct trace_missing){.calls = 0}, TRACE_TSV,
		    "event\tcalls\terrors\tunfinished\ttime\taverage\tp50\tp99\tmax\n");
	trace_summary__free(summary);
	trace_summary__free(NULL);
}

/* They are in no row and no sum, and are reported separately. */
static void calls_from_before(void **unused)
{
	struct trace_summary *summary = trace_summary__new();

	(void)unused;
	assert_non_null(summary);
	add(summary,
	    (struct trace_line){CALL(synchronize, application, 0, 0), .kind = LINE_BEFORE});
	expect_form(summary, (struct trace_missing){.before = 1}, TRACE_JSON,
		    "{\"schema\":1,\"summary\":{\"calls\":0,\"errors\":0,\"unfinished\":0,"
		    "\"unfinished_time\":0,"
		    "\"time\":0,\"lost\":0,\"before_attach\":1,\"library_skipped\":0,\"nested\":"
		    "false,\"functions\":[]}}\n");
	expect_form(summary, (struct trace_missing){.before = 2}, TRACE_TSV,
		    "event\tcalls\terrors\tunfinished\ttime\taverage\tp50\tp99\tmax\n# "
		    "before_attach 2\n");
	expect_form(
		summary, (struct trace_missing){.before = 1}, TRACE_TABLE,
		"% time     seconds      calls   errors   average       p50       p99       max "
		"function\n"
		"------ ----------- ---------- -------- --------- --------- --------- --------- "
		"--------------------\n"
		"------ ----------- ---------- -------- --------- --------- --------- --------- "
		"--------------------\n"
		"  0.00    0.000000          0        0         -         -         -         - "
		"total\n"
		"1 call had begun before attach, not in the table\n");
	trace_summary__free(summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_near),
		cmocka_unit_test(an_empty_histogram_and_the_largest_value),
		cmocka_unit_test(exact_times),
		cmocka_unit_test(the_table),
		cmocka_unit_test(a_narrow_terminal),
		cmocka_unit_test(forms_for_programs),
		cmocka_unit_test(no_percentile_is_outside_of_minimum_and_maximum),
		cmocka_unit_test(a_trace_without_calls),
		cmocka_unit_test(calls_from_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
