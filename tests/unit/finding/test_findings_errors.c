// SPDX-License-Identifier: BSD-2-Clause
// Findings about failed calls and missing waits: each with similar healthy cases, which give none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "finding_case.h"

static const struct stack somewhere = {.serial = 7}, elsewhere = {.serial = 8};

static uint16_t row_of(const char *symbol)
{
	return (uint16_t)api__find(symbol, API_NEWEST);
}

/* --- unchecked errors --- */

static void unchecked_errors(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	c->ignored[0] = (struct profile_ignored){
		.key = {.row = row_of("cuMemcpyHtoD_v2"), .code = 1},
		.record = {.calls = 3, .launches = 40, .stack = 5},
	};
	/* Nothing was launched after it; or the table does not have the function. */
	c->ignored[1] = (struct profile_ignored){.key = {.row = row_of("cuMemAlloc_v2"), .code = 2},
						 .record = {.calls = 9}};
	c->ignored[2] =
		(struct profile_ignored){.key = {.row = row_of("cuLaunchKernel"), .code = 12345},
					 .record = {.calls = 1, .launches = 1}};
	c->profile.ignored_count = 3;
	c->stacks[0] = (struct profile_stack){.id = 5, .stack = &somewhere};
	c->profile.stack_count = 1;
	c->sites[0] = (struct call_site){
		.stack = &elsewhere,
		.kind = SITE_FAILURE,
		.calls = 1,
		.code = 12345,
		.row = row_of("cuLaunchKernel"),
	};
	c->process.site_count = 1;
	assert_int_equal(case__detect(c), 2);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "unchecked-errors");
	assert_string_equal(finding->subject, "cuMemcpyHtoD_v2: CUDA_ERROR_INVALID_VALUE");
	assert_true(finding__value(finding, "calls") == 3);
	assert_true(finding__value(finding, "launches_after") == 40);
	assert_string_equal(finding->evidence,
			    "3 calls of cuMemcpyHtoD_v2 returned CUDA_ERROR_INVALID_VALUE; 40 "
			    "launches followed in the same "
			    "thread, and no call asked for the error meanwhile; gpuprobe cannot "
			    "see whether the program "
			    "checked the result");
	assert_non_null(strstr(finding->kind->advice, "cannot see whether the program checked"));
	assert_false(finding->has_cost);
	assert_ptr_equal(finding->stack, &somewhere);
	assert_string_equal(c->list.items[1].subject, "cuLaunchKernel: error 12345");
	assert_ptr_equal(c->list.items[1].stack, &elsewhere);
	case__free(c);
}

static void add_failure(struct finding_case *c, const char *function, int code, uint64_t count,
			uint64_t first_ns, uint64_t last_ns)
{
	c->failures[c->process.failure_count++] = (struct failure){
		.function = function,
		.code = code,
		.layer = LAYER_DRIVER,
		.count = count,
		.error = api__error_name(LAYER_DRIVER, code),
		.first_ns = BEGAN + first_ns,
		.last_ns = BEGAN + last_ns,
	};
}

/* --- no driver, no device --- */

static struct finding_case *unavailable_case(void)
{
	struct finding_case *c = case__new();

	/*
	 * The program ignores the error and retries again and again, which would be two more
	 * findings.
	 */
	add_failure(c, "cuMemAlloc_v2", 3, 900, 2 * NS_PER_S, 9 * NS_PER_S);
	add_failure(c, "cuInit", 100, 1, NS_PER_S, NS_PER_S);
	c->ignored[0] = (struct profile_ignored){
		.key = {.row = row_of("cuMemAlloc_v2"), .code = 3},
		.record = {.calls = 3, .launches = 40},
	};
	c->profile.ignored_count = 1;
	c->totals[0] = (struct function_totals){.row = row_of("cuMemAlloc_v2"), .failures = 900};
	c->process.function_count = 1;
	return c;
}

static void no_device(void **state)
{
	struct finding_case *c = unavailable_case();
	const struct finding *finding;

	(void)state;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "cuda-unavailable");
	assert_string_equal(finding->subject, "cuInit: CUDA_ERROR_NO_DEVICE");
	assert_string_equal(
		finding->evidence,
		"901 calls failed and none succeeded: the driver sees no device; look at "
		"nvidia-smi, at "
		"CUDA_VISIBLE_DEVICES, and in a container at its device nodes /dev/nvidia*");
	assert_true(finding__value(finding, "calls") == 901);
	assert_true(finding__value(finding, "code") == 100);
	case__free(c);
}

/* Each code has its own cause. */
static void causes_by_code(void **state)
{
	static const struct {
		int code;
		const char *words;
	} causes[] = {
		{3, "not initialised"}, {34, "stub"},
		{35, "older than"},	{46, "busy"},
		{100, "no device"},	{102, "licence"},
		{802, "fabric"},	{803, "different versions"},
		{804, "compat"},	{805, "MPS"},
		{807, "MPS"},		{999, "gives no reason"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		struct finding_case *c = case__new();

		add_failure(c, "cudaMalloc", causes[i].code, 1, NS_PER_S, NS_PER_S);
		assert_int_equal(case__detect(c), 1);
		assert_string_equal(c->list.items[0].kind->id, "cuda-unavailable");
		assert_non_null(strstr(c->list.items[0].evidence, causes[i].words));
		case__free(c);
	}
}

/*
 * A successful call had a driver; an error of another kind, or an earlier one, says nothing about
 * it.
 */
static void available(void **state)
{
	struct finding_case *c = unavailable_case();

	(void)state;
	c->totals[0].calls = 1;
	case__detect(c);
	assert_null(case__find(c, "cuda-unavailable"));
	assert_non_null(case__find(c, "error-storm"));
	assert_non_null(case__find(c, "unchecked-errors"));
	c->totals[0].calls = 0;
	c->failures[1].code = 1;
	case__detect(c);
	assert_null(case__find(c, "cuda-unavailable"));
	case__free(c);
}

/* Without a profile, launches are not checked for success. */
static void launches_without_an_profile(void **state)
{
	struct finding_case *c = unavailable_case();

	(void)state;
	c->totals[1] = (struct function_totals){.row = row_of("cuLaunchKernel"), .calls = 40};
	c->process.function_count = 2;
	case__detect(c);
	assert_null(case__find(c, "cuda-unavailable"));
	c->process.profile = NULL;
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].kind->id, "cuda-unavailable");
	case__free(c);
}

/* --- sticky errors --- */

static void sticky_error(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	c->process.profile = NULL;
	add_failure(c, "cuMemFree_v2", 700, 800, 3 * NS_PER_S, 9 * NS_PER_S);
	add_failure(c, "cuStreamSynchronize", 700, 1, 2 * NS_PER_S, 2 * NS_PER_S);
	add_failure(c, "cuMemcpyHtoD_v2", 1, 1, NS_PER_S, NS_PER_S);
	c->process.sticky = (struct sticky_error){
		.code = 700, .ns = BEGAN + 2 * NS_PER_S, .same = 800, .others = 3};
	c->sites[0] = (struct call_site){
		.stack = &elsewhere,
		.kind = SITE_FAILURE,
		.calls = 800,
		.code = 700,
		.row = row_of("cuMemFree_v2"),
	};
	c->sites[1] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_FAILURE,
		.calls = 1,
		.code = 700,
		.row = row_of("cuStreamSynchronize"),
	};
	c->process.site_count = 2;
	/* Its consequences are not a storm of their own. */
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "sticky-error");
	assert_int_equal(finding->severity, SEVERITY_CRITICAL);
	assert_string_equal(finding->subject, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS");
	assert_true(finding__value(finding, "calls") == 801);
	assert_true(finding__value(finding, "since") == 8e9);
	assert_ptr_equal(finding->stack, &somewhere);
	/* It failed at two call sites: which was first is unknown. */
	c->sites[2] = (struct call_site){
		.stack = &elsewhere,
		.kind = SITE_FAILURE,
		.calls = 1,
		.code = 700,
		.row = row_of("cuStreamSynchronize"),
	};
	c->process.site_count = 3;
	assert_int_equal(case__detect(c), 1);
	assert_null(c->list.items[0].stack);
	c->process.sticky.code = 0;
	c->process.failure_count = 0;
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

/* --- storms --- */

static void error_storm(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	c->process.profile = NULL;
	add_failure(c, "cuMemcpyHtoD_v2", 1, 900, NS_PER_S, 9 * NS_PER_S);
	add_failure(c, "cuMemFree_v2", 1, 100, NS_PER_S, 6 * NS_PER_S);
	c->totals[0] = (struct function_totals){
		.row = row_of("cuMemcpyHtoD_v2"), .calls = 2700, .failures = 900};
	c->totals[1] = (struct function_totals){.row = row_of("cuMemFree_v2"), .calls = 99};
	c->totals[2] = (struct function_totals){
		.row = row_of("cuMemcpyHtoD_v2"), .calls = 5, .flags = TALLY_ENDED};
	c->process.function_count = 3;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "error-storm");
	assert_string_equal(finding->subject, "cuMemcpyHtoD_v2: CUDA_ERROR_INVALID_VALUE");
	assert_true(finding__value(finding, "calls") == 1000);
	assert_true(finding__value(finding, "rate") == 125);
	assert_true(finding__value(finding, "most_share") == 0.25);
	assert_string_equal(
		finding->evidence,
		"1,000 calls failed within 8.0 s, 125/s; most of them cuMemcpyHtoD_v2 with "
		"CUDA_ERROR_INVALID_VALUE, 900 times (25.0 % of its calls)");
	/* Half is not most. The counts leave out frees of a null address. */
	c->failures[0].count = 450;
	c->failures[1].count = 550;
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].evidence,
			    "1,000 calls failed within 8.0 s, 125/s; most of them cuMemFree_v2 "
			    "with CUDA_ERROR_INVALID_VALUE, 550 times");
	add_failure(c, "cuMemAlloc_v2", 1, 200, NS_PER_S, 9 * NS_PER_S);
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].evidence,
			    "1,200 calls failed within 8.0 s, 150/s; the most frequent: "
			    "cuMemFree_v2 with CUDA_ERROR_INVALID_VALUE, 550 times");
	/* The profile has all calls of both. */
	c->process.profile = &c->profile;
	case__add_durations(&c->functions[0], "cuMemFree_v2", 2200, US);
	c->profile.function_count = 1;
	assert_int_equal(case__detect(c), 1);
	assert_true(finding__value(&c->list.items[0], "most_share") == 0.25);
	c->process.profile = NULL;
	c->process.failure_count = 2;
	/* Few, however fast; or many, but slowly. */
	c->failures[0].count = 60;
	c->failures[1].count = 39;
	assert_int_equal(case__detect(c), 0);
	c->failures[0].count = 100;
	c->failures[1].count = 0;
	c->failures[0].last_ns = c->failures[0].first_ns + 11 * NS_PER_S;
	assert_int_equal(case__detect(c), 0);
	/* All at one moment. */
	c->failures[0].last_ns = c->failures[0].first_ns;
	assert_int_equal(case__detect(c), 1);
	case__free(c);
}

/* --- missing waits --- */

static void missing_sync(void **state)
{
	struct finding_case *c = case__new();
	struct process_profile *totals = &c->profile.totals;
	const struct finding *finding;

	(void)state;
	totals->freed_busy = 2;
	totals->freed_busy_bytes = 2 << 20;
	totals->unrecorded_waits = 1;
	totals->unrecorded_queries = 3;
	totals->destroyed_busy = 1;
	totals->missing_row = row_of("cuEventSynchronize");
	totals->missing_stack = 5;
	c->profile.inflight_at_exit[0] = 1;
	c->profile.inflight_at_exit[1] = 4096;
	c->stacks[0] = (struct profile_stack){.id = 5, .stack = &somewhere};
	c->profile.stack_count = 1;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "missing-sync");
	assert_string_equal(finding->subject,
			    "of several kinds, the latest call cuEventSynchronize");
	assert_string_equal(
		finding->evidence,
		"2 frees of host memory with a copy to it in flight (2.0 MiB); "
		"1 copy to the host that no wait had covered when the process ended (4.0 KiB); "
		"1 wait for an event that was never recorded, which waits for nothing; "
		"3 queries of events that were never recorded, which answer that all is done; "
		"1 stream destroyed with work on it that no wait had covered");
	assert_true(finding__value(finding, "calls") == 8);
	assert_true(finding__value(finding, "freed_in_flight") == 2);
	assert_true(finding__value(finding, "in_flight_at_exit") == 1);
	assert_ptr_equal(finding->stack, &somewhere);
	/* If all are of one kind, the finding names that call. */
	totals->freed_busy = totals->unrecorded_queries = totals->destroyed_busy =
		c->profile.inflight_at_exit[0] = 0;
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].subject, "cuEventSynchronize");
	case__free(c);
}

static const struct stack_frame in_nccl[] = {
	{.function = "cuStreamDestroy_v2", .object = "libcuda.so.1"},
	{.function = "ncclStrongStreamDestruct", .object = "libnccl.so.2"},
	{.function = "main", .object = "train"},
};
static const struct stack_frame in_framework[] = {
	{.function = "cuStreamDestroy_v2", .object = "libcuda.so.1"},
	{.function = "pncclCommAbort", .object = "libtorch_cuda.so"},
};
static const struct stack_frame in_program[] = {
	{.function = "cuStreamDestroy_v2", .object = "libcuda.so.1"},
	{.function = "nccl_free_all", .object = "train"},
};
static const struct stack nccl = {.serial = 11, .count = 3, .frames = in_nccl},
			  framework = {.serial = 12, .count = 2, .frames = in_framework},
			  program = {.serial = 13, .count = 2, .frames = in_program};

static void add_missing_site(struct finding_case *c, const char *function, uint64_t stack,
			     uint64_t calls, uint64_t number)
{
	struct missing_site *site = c->profile.totals.missing_sites;

	while (site->used)
		site++;
	*site = (struct missing_site){
		.used = MISSING_SITE_READY,
		.row = row_of(function),
		.stack = stack,
		.calls = calls,
		.bytes = calls << 20,
		.number = number,
	};
}

/*
 * NCCL destroys its streams and frees its memory; the program has waited for the results that it
 * needs.
 */
static void teardown_of_nccl_misses_nothing(void **state)
{
	struct finding_case *c = case__new();
	struct process_profile *totals = &c->profile.totals;
	const struct finding *finding;

	(void)state;
	c->stacks[0] = (struct profile_stack){.id = 5, .stack = &nccl};
	c->stacks[1] = (struct profile_stack){.id = 6, .stack = &framework};
	c->stacks[2] = (struct profile_stack){.id = 7, .stack = &program};
	c->profile.stack_count = 3;
	totals->destroyed_busy = 5;
	totals->freed_busy = 2;
	totals->freed_busy_bytes = 2 << 20;
	totals->missing_row = row_of("cuStreamDestroy_v2");
	totals->missing_stack = 5;
	add_missing_site(c, "cuStreamDestroy_v2", 5, 3, 10);
	add_missing_site(c, "cuStreamDestroy_v2", 6, 2, 9);
	add_missing_site(c, "cuMemFreeHost", 5, 2, 8);
	assert_int_equal(case__detect(c), 0);
	/* The program's own omissions beside that are found, with their call sites. */
	totals->destroyed_busy++;
	totals->freed_busy++;
	totals->freed_busy_bytes += 4096;
	add_missing_site(c, "cuMemFreeHost", 0, 1, 6);
	add_missing_site(c, "cuStreamDestroy_v2", 7, 1, 7);
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->subject,
			    "of several kinds, the latest call cuStreamDestroy_v2");
	assert_ptr_equal(finding->stack, &program);
	assert_true(finding__value(finding, "calls") == 2);
	assert_true(finding__value(finding, "destroyed_busy") == 1);
	assert_true(finding__value(finding, "freed_in_flight") == 1);
	assert_true(finding__value(finding, "freed_in_flight_bytes") == 4096);
	/* Without stacks the two cannot be distinguished. */
	c->profile.stack_count = 0;
	assert_int_equal(case__detect(c), 1);
	assert_true(finding__value(&c->list.items[0], "calls") == 9);
	case__free(c);
}

/* NCCL waits for and asks about events of its own before it records them. */
static void waits_of_nccl_are_its_own(void **state)
{
	struct finding_case *c = case__new();
	struct process_profile *totals = &c->profile.totals;

	(void)state;
	c->stacks[0] = (struct profile_stack){.id = 5, .stack = &nccl};
	c->stacks[1] = (struct profile_stack){.id = 7, .stack = &program};
	c->profile.stack_count = 2;
	totals->unrecorded_waits = 35;
	totals->unrecorded_queries = 4;
	totals->missing_row = row_of("cuStreamWaitEvent");
	totals->missing_stack = 5;
	add_missing_site(c, "cuStreamWaitEvent", 5, 33, 39);
	add_missing_site(c, "cudaEventSynchronize", 5, 2, 38);
	add_missing_site(c, "cuEventQuery", 5, 4, 37);
	assert_int_equal(case__detect(c), 0);
	/* The program's own are a mistake. */
	totals->unrecorded_waits++;
	add_missing_site(c, "cuStreamWaitEvent", 7, 1, 1);
	assert_int_equal(case__detect(c), 1);
	assert_true(finding__value(&c->list.items[0], "unrecorded_waits") == 1);
	assert_true(finding__value(&c->list.items[0], "unrecorded_queries") == 0);
	assert_ptr_equal(c->list.items[0].stack, &program);
	case__free(c);
}

/* Each is a finding alone; the text does not mention absent ones. */
static void each_missing_wait_is_a_finding(void **state)
{
	struct finding_case *c = case__new();
	struct process_profile *totals = &c->profile.totals;
	__u64 *const counts[] = {&totals->freed_busy, &totals->unrecorded_waits,
				 &totals->unrecorded_queries, &totals->destroyed_busy};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		*counts[i] = 1;
		assert_int_equal(case__detect(c), 1);
		assert_null(strchr(c->list.items[0].evidence, ';'));
		*counts[i] = 0;
		assert_int_equal(case__detect(c), 0);
	}
	c->profile.inflight_at_exit[0] = 1;
	assert_int_equal(case__detect(c), 1);
	/* No call: the process ended. */
	assert_null(c->list.items[0].subject);
	case__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unchecked_errors),
		cmocka_unit_test(no_device),
		cmocka_unit_test(causes_by_code),
		cmocka_unit_test(available),
		cmocka_unit_test(launches_without_an_profile),
		cmocka_unit_test(sticky_error),
		cmocka_unit_test(error_storm),
		cmocka_unit_test(missing_sync),
		cmocka_unit_test(each_missing_wait_is_a_finding),
		cmocka_unit_test(teardown_of_nccl_misses_nothing),
		cmocka_unit_test(waits_of_nccl_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
