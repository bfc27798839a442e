// SPDX-License-Identifier: BSD-2-Clause
// Findings about objects that are never destroyed, and similar healthy cases.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_memory.h"
#include "model/object_sites.h"

static const struct stack making_stack = {.serial = 7};

/* A process that makes objects at one call site. */
struct maker {
	struct run run;
	struct object_site site;
	struct device_totals device;
	struct process_gpu process_gpu;
	struct gpu gpu;
	struct process process;
	double bytes_each;
	uint64_t peak;
};

static void maker__begin(struct maker *m, uint8_t kind, double bytes_each)
{
	*m = (struct maker){
		.site = {.stack = &making_stack, .kind = kind},
		.gpu = {.uuid = "GPU-1",
			.mig = GPU_NONE,
			.total_bytes = 80 * GIB,
			.used_bytes = 10 * GIB},
		.process = PROCESS(NULL),
		.bytes_each = bytes_each,
	};
	m->process.object_sites = &m->site;
	m->process.object_site_count = 1;
	m->process.objects[OBJECT_CONTEXT].live = 1;
	m->process.devices = &m->device;
	m->process.device_count = 1;
	m->process.gpus = &m->process_gpu;
	m->process.gpu_count = 1;
	run__begin(&m->run, &m->process, 1);
	m->run.model.stacks = true;
	m->run.model.gpus = &m->gpu;
	m->run.model.gpu_count = 1;
}

static void maker__sample(struct maker *m, double seconds, uint64_t live)
{
	if (live > m->peak)
		m->peak = live;
	m->site.live = live;
	m->site.made = live;
	m->process.objects[m->site.kind].live = live;
	m->device.objects[m->site.kind] = live;
	m->process_gpu.untracked_bytes = GIB / 2 + (uint64_t)(m->bytes_each * (double)m->peak);
	run__sample(&m->run, seconds);
}

static void leaks(struct maker *m, uint64_t per_second)
{
	for (int t = 0; t <= 100; t++)
		maker__sample(m, t, (uint64_t)t * per_second);
}

static void executable_graphs_leak(void **state)
{
	const struct finding *finding;
	struct maker m;

	(void)state;
	maker__begin(&m, OBJECT_GRAPH_EXEC, 2.0 * MIB);
	leaks(&m, 5);
	finding = run__only(&m.run, "object-leak");
	assert_int_equal(m.run.list.count, 1);
	assert_ptr_equal(finding->stack, &making_stack);
	assert_string_equal(finding->subject, "executable graphs");
	assert_int_equal(finding->severity, SEVERITY_WARNING);
	assert_int_equal(number_of(finding, "live"), 500);
	assert_true(fabs(number_of(finding, "growth_rate") - 5) < 0.1);
	assert_true(fabs(number_of(finding, "bytes_each") - 2.0 * MIB) < 0.05 * MIB);
	/* 70 GiB are left, 10 MiB are taken a second. */
	assert_true(fabs(number_of(finding, "full_in") - 7168e9) < 300e9);
	run__set(&m.run, "object-leak.bytes=100GiB");
	run__finds_nothing(&m.run);
	run__set(&m.run, "object-leak=500");
	run__only(&m.run, "object-leak");
	run__end(&m.run);
}

static void soon_full_is_critical(void **state)
{
	struct maker m;

	(void)state;
	maker__begin(&m, OBJECT_GRAPH_EXEC, 2.0 * MIB);
	leaks(&m, 100);
	assert_int_equal(run__only(&m.run, "object-leak")->severity, SEVERITY_CRITICAL);
	run__end(&m.run);
}

static void events_cost_nothing(void **state)
{
	const struct finding *finding;
	struct maker m;

	(void)state;
	/* Less than the error. */
	maker__begin(&m, OBJECT_EVENT, 1);
	leaks(&m, 100);
	finding = run__only(&m.run, "object-leak");
	assert_int_equal(finding->severity, SEVERITY_INFO);
	assert_non_null(strstr(finding->evidence, "each takes at most "));
	run__end(&m.run);
}

static void a_full_cache_is_sound(void **state)
{
	struct maker m;

	(void)state;
	maker__begin(&m, OBJECT_MODULE, 10485);
	for (int t = 0; t <= 100; t++)
		maker__sample(&m, t, t < 30 ? (uint64_t)t * 300 : 9000);
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

static void few_cheap_objects_are_sound(void **state)
{
	struct maker m;

	(void)state;
	maker__begin(&m, OBJECT_MODULE, 10485);
	leaks(&m, 30);
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

/* Batches return to their low. */
static void spikes_are_sound(void **state)
{
	struct maker m;

	(void)state;
	maker__begin(&m, OBJECT_STREAM, 573571);
	for (int t = 0; t <= 100; t++)
		maker__sample(&m, t, t % 5 ? 2000 + (uint64_t)t * 10 : 100);
	run__finds_nothing(&m.run);
	run__end(&m.run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executable_graphs_leak),
		cmocka_unit_test(soon_full_is_critical),
		cmocka_unit_test(events_cost_nothing),
		cmocka_unit_test(a_full_cache_is_sound),
		cmocka_unit_test(few_cheap_objects_are_sound),
		cmocka_unit_test(spikes_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
