// SPDX-License-Identifier: BSD-2-Clause
// Xids as findings: whom they name, and what follows from an Xid without a process.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_case.h"
#include "model/launch_marks.h"
#include "model/xids.h"

/* A machine with one GPU and a process on it, whose kernel runs. */
struct scene {
	struct model model;
	struct process processes[2];
	struct process_gpu uses[2];
	struct kernel kernel;
	struct gpu gpu;
	struct xids *xids;
	struct launch_marks *marks;
	struct findings *findings;
	struct finding_list list;
};

static void scene__begin(struct scene *s)
{
	const struct findings_options options = {.needs = NEEDS_XIDS,
						 .window_ns = GROWTH_WINDOW_NS};

	memset(s, 0, sizeof(*s));
	s->xids = calloc(1, sizeof(*s->xids));
	s->marks = launch_marks__new();
	s->findings = findings__new(&options);
	assert_true(s->xids && s->marks && s->findings);
	s->gpu = (struct gpu){.index = 3, .mig = GPU_NONE, .bus_id = "00000000:41:00.0"};
	s->kernel = (struct kernel){.label = (char *)"gemm", .launches = 5};
	for (int i = 0; i < 2; i++) {
		s->uses[i] = (struct process_gpu){.gpu = 0, .used_bytes = 1};
		s->processes[i] = (struct process){.serial = (uint64_t)i,
						   .pid = 100 + i,
						   .start_ns = 1,
						   .comm = "python",
						   .user = "alice",
						   .gpus = &s->uses[i],
						   .gpu_count = 1};
	}
	s->processes[0].kernels = &s->kernel;
	s->processes[0].kernel_count = 1;
	s->model = (struct model){.now_ns = BEGAN,
				  .processes = s->processes,
				  .process_count = 2,
				  .gpus = &s->gpu,
				  .gpu_count = 1,
				  .xids = s->xids};
	findings__begin(s->findings, BEGAN);
	launch_marks__take(s->marks, &s->model);
}

static void scene__end(struct scene *s)
{
	finding_list__clear(&s->list);
	findings__free(s->findings);
	launch_marks__free(s->marks);
	free(s->xids);
}

/* The only finding after an Xid of that number; `pid` is the one that the driver names. */
static const struct finding *after(struct scene *s, uint32_t number, int32_t pid)
{
	struct xid_report report = {.address = {0, 0x41, 0}, .number = number, .pid = pid};
	const struct finding *found = NULL;

	strcpy(report.text, "Ch 8");
	s->model.now_ns += NS_PER_S;
	s->kernel.launches++;
	xids__add(s->xids, &report, s->model.now_ns - 1);
	xids__judge(s->xids, &s->model, true, s->marks);
	assert_int_equal(findings__detect(s->findings, &s->model, &s->list), 0);
	for (size_t i = 0; i < s->list.count; i++) {
		if (strcmp(s->list.items[i].kind->id, "xid") != 0)
			continue;
		assert_null(found);
		found = &s->list.items[i];
	}
	assert_non_null(found);
	return found;
}

static void test_named(void **state)
{
	struct scene s;
	const struct finding *finding;

	(void)state;
	scene__begin(&s);
	finding = after(&s, 31, 100);
	assert_string_equal(finding->kind->id, "xid");
	assert_int_equal(finding->severity, SEVERITY_CRITICAL);
	assert_int_equal(finding->pid, 100);
	assert_string_equal(finding->subject, "Xid 31 of GPU 3 (0000:41:00)");
	assert_string_equal(
		finding->evidence,
		"a kernel used an address that has no memory, 1 time; the driver names process 100 "
		"(python), user alice, whose latest launches were of gemm; its message: Ch 8; what "
		"helps: "
		"run the program under compute-sanitizer");
	scene__end(&s);
}

/* A pid that is not watched does not put the blame on another process. */
static void test_stranger(void **state)
{
	struct scene s;
	const struct finding *finding;

	(void)state;
	scene__begin(&s);
	finding = after(&s, 13, 999);
	assert_int_equal(finding->pid, 0);
	assert_non_null(strstr(finding->evidence, "the driver names process 999 (unknown), which "
						  "gpuprobe does not watch"));
	assert_null(strstr(finding->evidence, "python"));
	scene__end(&s);
}

static void test_whose_calls_fail(void **state)
{
	struct scene s;
	const struct finding *finding;

	(void)state;
	scene__begin(&s);
	s.processes[1].sticky = (struct sticky_error){.code = 700, .ns = BEGAN + NS_PER_S};
	finding = after(&s, 31, 0);
	assert_int_equal(finding->pid, 101);
	assert_non_null(
		strstr(finding->evidence, "calls began to fail for good in process 101 (python)"));
	scene__end(&s);
}

static void test_candidates(void **state)
{
	struct scene s;
	const struct finding *finding;

	(void)state;
	scene__begin(&s);
	finding = after(&s, 79, 0);
	assert_int_equal(finding->pid, 0);
	assert_non_null(strstr(finding->evidence, "the GPU is used by process 100 (python), user "
						  "alice, whose latest launches were of gemm; and "
						  "process 101 (python), user alice"));
	scene__end(&s);
}

static void test_other_gpu(void **state)
{
	struct scene s;

	(void)state;
	scene__begin(&s);
	strcpy(s.gpu.bus_id, "00000000:42:00.0");
	assert_non_null(strstr(after(&s, 31, 0)->evidence, "who caused it is unknown"));
	scene__end(&s);
}

static void test_counts_and_age(void **state)
{
	struct scene s;

	(void)state;
	scene__begin(&s);
	after(&s, 31, 100);
	assert_non_null(strstr(after(&s, 31, 100)->evidence, "2 times"));
	assert_int_equal(s.xids->counts[0].count, 2);
	s.model.now_ns += 3601 * NS_PER_S;
	assert_int_equal(findings__detect(s.findings, &s.model, &s.list), 0);
	assert_int_equal(s.list.count, 0);
	scene__end(&s);
}

/* However many GPUs and numbers there are, memory is bounded and none is lost from the sum. */
static void test_bounds(void **state)
{
	struct xids *xids = calloc(1, sizeof(*xids));
	uint64_t sum;

	(void)state;
	assert_non_null(xids);
	for (uint32_t i = 0; i < 2 * XID_COUNTS; i++)
		xids__add(xids, &(struct xid_report){.number = i}, i + 1);
	sum = xids->other;
	for (size_t i = 0; i < xids->count_count; i++)
		sum += xids->counts[i].count;
	assert_int_equal(sum, 2 * XID_COUNTS);
	assert_int_equal(xids->event_count, XID_EVENTS);
	assert_int_equal(xids->events[XID_EVENTS - 1].report.number, 2 * XID_COUNTS - 1);
	assert_null(xids__latest(xids, &xids->counts[0]));
	free(xids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named),	   cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_candidates), cmocka_unit_test(test_whose_calls_fail),
		cmocka_unit_test(test_other_gpu),  cmocka_unit_test(test_counts_and_age),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
