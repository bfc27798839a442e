// SPDX-License-Identifier: BSD-2-Clause
// A call that does not return: when it becomes a finding, its severity, and what the text says
// about the rest of the process.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_case.h"

#define MINUTE (60 * NS_PER_S)

/* A case of two hours, with a call that began `seconds` ago and has not returned. */
static struct finding_case *stuck_for(struct open_call *calls, size_t count, uint64_t ns)
{
	struct finding_case *c = case__new();

	c->model.now_ns = BEGAN + 120 * MINUTE;
	for (size_t i = 0; i < count; i++)
		calls[i] = (struct open_call){
			.row = (uint16_t)api__find("cudaDeviceSynchronize", API_NEWEST),
			.tid = 100 + (int32_t)i,
			.start_ns = c->model.now_ns - ns + i,
		};
	c->process.open = calls;
	c->process.open_listed = count;
	return c;
}

static void test_below_a_minute(void **state)
{
	struct open_call call;
	struct finding_case *c = stuck_for(&call, 1, MINUTE - 1);

	(void)state;
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

static void test_a_long_wait(void **state)
{
	struct open_call call;
	struct finding_case *c = stuck_for(&call, 1, MINUTE);
	const struct finding *finding;

	(void)state;
	assert_int_equal(case__detect(c), 1);
	finding = case__find(c, "stuck");
	assert_non_null(finding);
	assert_int_equal(finding->severity, SEVERITY_INFO);
	assert_int_equal(finding->tid, 100);
	assert_string_equal(finding->subject, "cudaDeviceSynchronize");
	assert_string_equal(
		finding->evidence,
		"in progress for 60.0 s; no other call of the process has been seen meanwhile");
	assert_true(finding__value(finding, "lasted") == 60e9 &&
		    finding__value(finding, "threads") == 1);
	case__free(c);
}

/* A healthy kernel may take minutes. From ten on, if nothing else happens, it is a warning. */
static void test_silence(void **state)
{
	struct open_call call;
	struct finding_case *c = stuck_for(&call, 1, 10 * MINUTE);

	(void)state;
	case__detect(c);
	assert_int_equal(case__find(c, "stuck")->severity, SEVERITY_WARNING);
	call.start_ns++;
	case__detect(c);
	assert_int_equal(case__find(c, "stuck")->severity, SEVERITY_INFO);
	case__free(c);
}

static void test_others_go_on(void **state)
{
	struct open_call call;
	struct finding_case *c = stuck_for(&call, 1, 60 * MINUTE);

	(void)state;
	call.others = 1;
	case__detect(c);
	assert_int_equal(case__find(c, "stuck")->severity, SEVERITY_INFO);
	assert_string_equal(
		case__find(c, "stuck")->evidence,
		"in progress for 1 h 0 min; the process's other threads still make calls");
	case__free(c);
}

/* Calls that were not watched do not count as silence. */
static void test_sampled(void **state)
{
	struct open_call call;
	struct finding_case *c = stuck_for(&call, 1, 60 * MINUTE);

	(void)state;
	c->process.family_calls[RATE_LAUNCH].sampled = true;
	case__detect(c);
	assert_int_equal(case__find(c, "stuck")->severity, SEVERITY_INFO);
	case__free(c);
}

/* One finding per process, about its longest call. */
static void test_threads(void **state)
{
	struct open_call calls[3];
	struct finding_case *c = stuck_for(calls, 3, 2 * MINUTE);

	(void)state;
	calls[1].start_ns -= MINUTE;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(case__find(c, "stuck")->tid, 101);
	assert_true(finding__value(case__find(c, "stuck"), "threads") == 3);
	assert_non_null(
		strstr(case__find(c, "stuck")->evidence, "; 2 more threads are in such a call"));
	case__free(c);
}

static void test_ended_inside(void **state)
{
	struct open_call call;
	struct finding_case *c = stuck_for(&call, 1, 60 * MINUTE);

	(void)state;
	c->process.ended = true;
	call.ended_ns = call.start_ns + 2 * MINUTE;
	case__detect(c);
	assert_int_equal(case__find(c, "stuck")->severity, SEVERITY_INFO);
	assert_string_equal(case__find(c, "stuck")->evidence,
			    "had not returned when the process ended, after 2 min 0 s");
	case__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_below_a_minute), cmocka_unit_test(test_a_long_wait),
		cmocka_unit_test(test_silence),	       cmocka_unit_test(test_others_go_on),
		cmocka_unit_test(test_sampled),	       cmocka_unit_test(test_threads),
		cmocka_unit_test(test_ended_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
