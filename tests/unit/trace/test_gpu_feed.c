// SPDX-License-Identifier: BSD-2-Clause
// Work of GPUs becomes lines, each with its call; what cannot is counted, and memory is bounded.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "trace/function.h"
#include "trace/gpu_feed.h"
#include "trace/gpu_work.h"

#define BOOT 1000000 /* what CUPTI's clock is behind */
#define ALL_KINDS 0xffffffffu

struct seen {
	size_t count, failures;
	struct trace_line last; /* but for what it points to */
	struct trace_gpu_work work;
	char kernel[64], comm[COMM_SIZE];
};

static struct trace_functions *functions;
static const struct trace_process trainer = {
	.number = 3, .pid = 7, .start_ns = 70, .comm = "train"};

static int take_line(const struct trace_line *line, void *arg)
{
	struct seen *seen = arg;

	assert_int_equal(line->kind, LINE_GPU);
	assert_null(line->function);
	seen->count++;
	memcpy(&seen->last, line, offsetof(struct trace_line, fields));
	seen->work = *line->gpu;
	snprintf(seen->kernel, sizeof(seen->kernel), "%s", line->kernel ? line->kernel : "");
	memcpy(seen->comm, line->process->comm, sizeof(seen->comm));
	return 0;
}

static void take_failure(pid_t pid, int64_t code, const char *text, void *arg)
{
	struct seen *seen = arg;

	assert_int_equal(pid, 7);
	assert_int_equal(code, 39);
	assert_string_equal(text, "no");
	seen->failures++;
}

static struct gpu_feed *make(struct seen *seen, unsigned int kinds, bool only_shown)
{
	const struct gpu_feed_options options = {.kinds = kinds,
						 .only_shown = only_shown,
						 .line = take_line,
						 .line_arg = seen,
						 .failed = take_failure,
						 .failed_arg = seen};
	struct gpu_feed *feed = gpu_feed__new(&options);

	*seen = (struct seen){0};
	assert_non_null(feed);
	return feed;
}

static void take_call(struct gpu_feed *feed, enum trace_line_kind kind, const char *symbol,
		      pid_t tid, uint64_t start_ns, uint64_t duration_ns)
{
	struct trace_line line;

	memset(&line, 0, offsetof(struct trace_line, fields));
	line.kind = kind;
	line.depth = !strncmp(symbol, "cu", 2) && symbol[2] != 'd';
	line.function = trace_functions__at(functions, (uint32_t)api__find(symbol, API_NEWEST));
	line.process = &trainer;
	line.tid = tid;
	line.namespace_tid = tid - 100;
	line.start_ns = start_ns + BOOT;
	line.duration_ns = duration_ns;
	gpu_feed__call(feed, &line);
}

static void call(struct gpu_feed *feed, const char *symbol, pid_t tid, uint64_t start_ns,
		 uint64_t duration_ns)
{
	take_call(feed, LINE_CALL, symbol, tid, start_ns, duration_ns);
}

static struct gpu_times_head head(enum gpu_times_function function, int pid)
{
	return (struct gpu_times_head){.function = function, .pid = pid, .start_ns = 10ull * pid};
}

static void clock_of(struct gpu_feed *feed, int pid)
{
	const struct gpu_times_clock clock = {
		.head = head(GPU_TIMES_CLOCK, pid), .cupti_ns = 50, .boot_ns = 50 + BOOT};

	gpu_feed__take(feed, &clock, sizeof(clock));
}

static uint64_t add(struct gpu_feed *feed, int pid, struct gpu_work work)
{
	struct gpu_times_work record = {.head = head(GPU_TIMES_WORK, pid), .count = 1};

	record.work[0] = work;
	return gpu_feed__take(feed, &record, sizeof(record));
}

static uint64_t add_mark(struct gpu_feed *feed, int pid, uint32_t thread, uint64_t at_ns,
			 uint32_t correlation)
{
	return add(feed, pid,
		   (struct gpu_work){.kind = GPU_WORK_CALL,
				     .start_ns = at_ns,
				     .end_ns = at_ns,
				     .thread = thread,
				     .correlation = correlation});
}

static struct gpu_work kernel(uint64_t start_ns, uint32_t correlation)
{
	return (struct gpu_work){.kind = GPU_WORK_KERNEL,
				 .start_ns = start_ns,
				 .end_ns = start_ns + 20,
				 .name = 5,
				 .device = 1,
				 .stream = 13,
				 .correlation = correlation};
}

static void name(struct gpu_feed *feed, int pid, uint64_t number, const char *text)
{
	struct gpu_times_name record = {.head = head(GPU_TIMES_NAME, pid), .name = number};

	snprintf(record.text, sizeof(record.text), "%s", text);
	gpu_feed__take(feed, &record, sizeof(record));
}

static void test_a_kernel_with_its_call(void **state)
{
	struct gpu_feed_counts counts;
	struct seen seen;
	struct gpu_feed *feed = make(&seen, ALL_KINDS, true);

	(void)state;
	call(feed, "cudaLaunchKernel", 117, 100, 50);
	/* Nested in it: it submits the same work. */
	call(feed, "cuLaunchKernel", 117, 110, 20);
	/* Not of work. */
	call(feed, "cudaDeviceSynchronize", 117, 151, 9);
	clock_of(feed, 7);
	name(feed, 7, 5, "_Z4gemmPf");
	assert_int_equal(add_mark(feed, 7, 17, 112, 8), 112 + BOOT);
	assert_int_equal(add(feed, 7, kernel(400, 8)), 0);
	assert_int_equal(seen.count, 0);
	gpu_feed__join(feed);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.kernel, "gemm");
	assert_string_equal(seen.comm, "train");
	assert_int_equal(seen.last.start_ns, 400 + BOOT);
	assert_int_equal(seen.last.duration_ns, 20);
	assert_int_equal(seen.last.tid, 117);
	assert_int_equal(seen.last.device, 1);
	assert_int_equal(seen.work.stream, 13);
	assert_true(seen.work.has_call);
	assert_int_equal(seen.work.called_ns, 100 + BOOT);
	assert_int_equal(trace_gpu_work__delay(&seen.work, seen.last.start_ns), 300);
	gpu_feed__count(feed, &counts);
	assert_int_equal(counts.work, 1);
	assert_int_equal(counts.calls, 1);
	assert_int_equal(counts.unrecorded + counts.uncalled + counts.silent, 0);
	gpu_feed__free(feed);
}

/* A call that has two lines, and one inside it, is one call. */
static void test_a_call_in_progress(void **state)
{
	struct gpu_feed_counts counts;
	struct seen seen;
	struct gpu_feed *feed = make(&seen, ALL_KINDS, true);

	(void)state;
	clock_of(feed, 7);
	take_call(feed, LINE_IN_PROGRESS, "cudaMemcpy", 117, 100, 50);
	take_call(feed, LINE_IN_PROGRESS, "cuMemcpyHtoD_v2", 117, 110, 40);
	add_mark(feed, 7, 17, 112, 8);
	add(feed, 7, kernel(400, 8));
	gpu_feed__join(feed);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.work.called_ns, 100 + BOOT);
	take_call(feed, LINE_RESUMED, "cuMemcpyHtoD_v2", 117, 900, 790);
	take_call(feed, LINE_RESUMED, "cudaMemcpy", 117, 910, 810);
	call(feed, "cudaLaunchKernel", 117, 920, 10);
	gpu_feed__count(feed, &counts);
	assert_int_equal(counts.calls, 2);
	assert_int_equal(counts.unrecorded, 1);
	gpu_feed__free(feed);
}

static void test_without_its_call(void **state)
{
	struct gpu_feed_counts counts;
	struct seen seen;
	struct gpu_feed *feed = make(&seen, ALL_KINDS, false);

	(void)state;
	call(feed, "cudaLaunchKernel", 117, 100, 50);
	clock_of(feed, 7);
	add(feed, 7, kernel(400, 8));
	gpu_feed__join(feed);
	gpu_feed__give_up(feed, false);
	assert_int_equal(seen.count, 0);
	gpu_feed__give_up(feed, false);
	assert_int_equal(seen.count, 1);
	assert_false(seen.work.has_call);
	assert_int_equal(seen.last.tid, 0);
	/* It has no number: it cannot have a call. */
	add(feed, 7, kernel(500, 0));
	assert_int_equal(seen.count, 2);
	add(feed, 7, kernel(600, 9));
	gpu_feed__give_up(feed, true);
	assert_int_equal(seen.count, 3);
	gpu_feed__count(feed, &counts);
	assert_int_equal(counts.uncalled, 3);
	assert_int_equal(counts.unrecorded, 1);
	gpu_feed__free(feed);
}

static void test_what_is_left_out(void **state)
{
	struct gpu_times_failure failure = {
		.head = head(GPU_TIMES_FAILURE, 7), .code = 39, .text = "no"};
	struct gpu_feed_counts counts;
	struct gpu_work odd = kernel(500, 0);
	struct seen seen;
	struct gpu_feed *feed = make(&seen, 1u << GPU_WORK_KERNEL, true);

	(void)state;
	clock_of(feed, 7);
	add(feed, 7, kernel(400, 0)); /* of a process without a line */
	assert_int_equal(seen.count, 0);
	call(feed, "cudaLaunchKernel", 117, 100, 50);
	odd.kind = GPU_WORK_COPY; /* not wanted */
	add(feed, 7, odd);
	assert_int_equal(seen.count, 0);
	odd = kernel(500, 0);
	odd.end_ns = 499;
	add(feed, 7, odd);
	odd.end_ns = 0;
	add(feed, 7, odd);
	odd.kind = 99;
	add(feed, 7, odd);
	gpu_feed__take(feed, &failure, sizeof(failure));
	gpu_feed__take(feed, &failure, sizeof(failure));
	gpu_feed__take(feed, &failure, 3);
	gpu_feed__count(feed, &counts);
	assert_int_equal(counts.refused, 2);
	assert_int_equal(counts.untimed, 1);
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.failures, 1);
	gpu_feed__free(feed);
}

/* A clock is needed to say when it was. */
static void test_without_a_clock(void **state)
{
	struct gpu_feed_counts counts;
	struct seen seen;
	struct gpu_feed *feed = make(&seen, ALL_KINDS, false);

	(void)state;
	add(feed, 7, kernel(400, 8));
	gpu_feed__join(feed);
	gpu_feed__give_up(feed, true);
	gpu_feed__count(feed, &counts);
	assert_int_equal(counts.unplaced, 1);
	assert_int_equal(seen.count, 0);
	gpu_feed__free(feed);
}

/* Pids that no process has: they have ended, so that later ones take their room. */
static void test_many_processes_and_names(void **state)
{
	struct gpu_feed_counts counts;
	struct seen seen;
	struct gpu_feed *feed = make(&seen, ALL_KINDS, false);
	const int first = 1 << 22;

	(void)state;
	for (int i = 0; i < 2 * GPU_FEED_PROCESSES; i++) {
		clock_of(feed, first + i);
		add(feed, first + i, kernel(400, 8));
	}
	for (uint64_t i = 0; i < 5000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "kernel_%d", (int)i);
		name(feed, first, i, text);
	}
	name(feed, first, 6000, "not a kernel");
	gpu_feed__give_up(feed, true);
	gpu_feed__count(feed, &counts);
	assert_int_equal(counts.work + counts.unplaced, 2 * GPU_FEED_PROCESSES);
	assert_int_equal(counts.unplaced, 0);
	assert_int_equal(counts.names, 5001 - 4096);
	gpu_feed__free(feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_kernel_with_its_call),
		cmocka_unit_test(test_a_call_in_progress),
		cmocka_unit_test(test_without_its_call),
		cmocka_unit_test(test_what_is_left_out),
		cmocka_unit_test(test_without_a_clock),
		cmocka_unit_test(test_many_processes_and_names),
	};
	int ret;

	functions = trace_functions__new(false);
	ret = functions ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
	trace_functions__free(functions);
	return ret;
}
