// SPDX-License-Identifier: BSD-2-Clause
// Calls that began before gpuprobe attached, in a reading: whether they are in progress, and their
// time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "collect/earlier_calls.h"
#include "collect/tally.h"
#include "model/profile.h"
#include "api/api.h"
#include "model/sites.h"

#define SLOT 3
#define PID 100
#define TID 101
#define BEGAN (5 * NS_PER_S)

/*
 * A process that gpuprobe reads repeatedly; one of its threads has been in a wait since before the
 * attach.
 */
struct scene {
	struct collector collector;
	struct process process;
	struct open_time *time;
	uint32_t index_of[SLOT + 1];
	struct earlier_calls calls;
	struct tally counted; /* calls of `row` */
	uint16_t row;
	bool shows_other; /* the list has a call of this thread whose beginning was seen */
	int32_t other_tid;
};

static uint16_t row_of(const char *name)
{
	return (uint16_t)api__find(name, API_NEWEST);
}

static struct scene *scene__new(const char *row, const char *other)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->collector.options.max_processes = SLOT + 1;
	scene->collector.index_of = scene->index_of;
	memset(scene->index_of, 0xff, sizeof(scene->index_of));
	scene->index_of[SLOT] = 0;
	scene->process.slot = SLOT;
	scene->process.pid = PID;
	scene->process.profile = profile__new();
	scene->collector.model.processes = &scene->process;
	scene->collector.model.process_count = 1;
	scene->time = open_time__new();
	scene->calls = (struct earlier_calls){
		.list = calloc(1, sizeof(*scene->calls.list)), .count = 1, .began_ns = BEGAN};
	assert_non_null(scene->calls.list);
	scene->calls.list[0] = (struct earlier_call){
		.pid = PID,
		.tid = TID,
		.comm = "train",
		.row = row_of(row),
		.other = row_of(other),
		.stood_ns = BEGAN,
	};
	scene->row = row_of("cuEventQuery");
	return scene;
}

static void scene__free(struct scene *scene)
{
	open_time__free(scene->time);
	process__clear(&scene->process);
	free(scene->calls.list);
	free(scene);
}

static void count_others(struct scene *scene)
{
	const struct tally_key key = {
		.slot = SLOT, .row = scene->row, .kind = WAIT_STREAM, .device = DEVICE_UNKNOWN};

	tally__reset(&scene->process);
	assert_int_equal(tally__apply(&scene->process, &key, &scene->counted), 0);
	scene->process.profile->thread_count = scene->process.profile->function_count = 0;
	scene->process.open_count = scene->process.open_listed = 0;
	if (!scene->shows_other)
		return;
	if (!scene->process.open)
		scene->process.open = calloc(OPEN_CALLS_LISTED, sizeof(*scene->process.open));
	scene->process.open[scene->process.open_listed++] =
		(struct open_call){.tid = scene->other_tid, .seen = true};
	scene->process.open_count = 1;
}

/*
 * Makes a reading by which the thread has been in its call for this long. Returns the number of
 * earlier calls in progress.
 */
static size_t scene__read(struct scene *scene, uint64_t stood_ns)
{
	const struct reading reading = {.collector = &scene->collector};
	size_t earlier = 0;

	count_others(scene);
	scene->collector.model.now_ns = BEGAN + NS_PER_S;
	if (scene->calls.count && !scene->calls.list[0].over)
		scene->calls.list[0].stood_ns = BEGAN + stood_ns;
	assert_int_equal(earlier_calls__count(&scene->calls, &reading, scene->time), 0);
	assert_int_equal(open_time__settle(scene->time, &reading), 0);
	for (size_t i = 0; i < scene->process.open_listed; i++)
		earlier += scene->process.open[i].earlier;
	return earlier;
}

static uint64_t function_ns(const struct scene *scene, const char *name)
{
	const struct profile *profile = scene->process.profile;

	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].row == row_of(name))
			return profile_function__ns(&profile->functions[i]);
	return 0;
}

static void its_time_is_everywhere(void **state)
{
	struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");

	(void)state;
	for (uint64_t ns = 100; ns < 300; ns += 100) {
		assert_int_equal(scene__read(scene, ns), 1);
		assert_int_equal(scene->process.open_count, 1);
		assert_int_equal(scene->process.open[0].tid, TID);
		assert_int_equal(scene->process.open[0].start_ns, BEGAN);
		assert_int_equal(scene->process.waits[WAIT_STREAM].ns, ns);
		assert_int_equal(scene->process.waits[WAIT_STREAM].open, 1);
		assert_int_equal(function_ns(scene, "cuStreamSynchronize"), ns);
		assert_int_equal(scene->process.profile->thread_count, 1);
		assert_string_equal(scene->process.profile->threads[0].comm, "train");
		assert_int_equal(scene->process.profile->threads[0].time[TIME_WAIT].ns, ns);
	}
	scene__free(scene);
}

/* The time of later calls is added. */
static void its_time_stays(void **state)
{
	struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");

	(void)state;
	assert_int_equal(scene__read(scene, 200), 1);
	scene->row = row_of("cuStreamSynchronize");
	for (uint64_t calls = 1; calls < 4; calls++) {
		scene->counted = (struct tally){.calls = calls, .ns = 30 * calls};
		assert_int_equal(scene__read(scene, 200), 0);
		assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 200 + 30 * calls);
		assert_int_equal(scene->process.waits[WAIT_STREAM].open, 0);
		assert_int_equal(scene->process.profile->threads[0].time[TIME_WAIT].ns, 200);
	}
	scene__free(scene);
}

/* The thread may be in the call's successor, whichever layer counted the call. */
static void is_over_once_one_was_counted(void **state)
{
	static const char *const functions[] = {"cuStreamSynchronize", "cudaStreamSynchronize"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");

		scene->row = row_of(functions[i / 2]);
		assert_int_equal(scene__read(scene, 100), 1);
		*(i % 2 ? &scene->counted.calls : &scene->counted.failures) = 1;
		assert_int_equal(scene__read(scene, 100), 0);
		assert_true(scene->calls.list[0].over);
		scene__free(scene);
	}
}

static void stays_beside_other_calls(void **state)
{
	struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");

	(void)state;
	scene->counted.calls = 7;
	scene->process.launches = 3;
	assert_int_equal(scene__read(scene, 100), 1);
	assert_int_equal(scene->process.open[0].others, process__calls(&scene->process));
	scene__free(scene);
}

static void a_launch_is_over_with_any_other(void **state)
{
	struct scene *scene = scene__new("cuLaunchKernel", "cudaLaunchKernel");

	(void)state;
	assert_int_equal(scene__read(scene, 100), 1);
	scene->row = row_of("cuGraphLaunch");
	scene->counted.calls = 1;
	assert_int_equal(scene__read(scene, 100), 0);
	scene__free(scene);
}

/* Another thread's call proves nothing, one of its own proves that it has returned. */
static void is_over_when_its_thread_is_in_another(void **state)
{
	struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");

	(void)state;
	scene->shows_other = true;
	scene->other_tid = TID + 1;
	assert_int_equal(scene__read(scene, 100), 1);
	assert_int_equal(scene->process.open_count, 2);
	scene->other_tid = TID;
	assert_int_equal(scene__read(scene, 100), 0);
	assert_int_equal(scene->process.open_count, 1);
	scene__free(scene);
}

static void ends_with_its_process(void **state)
{
	struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");

	(void)state;
	assert_int_equal(scene__read(scene, 100), 1);
	scene->process.ended = true;
	scene->process.ended_ns = BEGAN + NS_PER_S;
	assert_int_equal(scene__read(scene, 200), 0);
	assert_int_equal(scene->process.waits[WAIT_STREAM].ns, 200);
	assert_int_equal(scene->process.profile->thread_count, 1);
	assert_int_equal(scene->process.profile->threads[0].ended_ns, BEGAN + NS_PER_S);
	/* The slot belongs to another process. */
	scene->process.ended = false;
	scene->process.start_ns = 1;
	assert_int_equal(scene__read(scene, 200), 0);
	assert_int_equal(scene->calls.count, 0);
	scene__free(scene);
}

/* The process may be added to the model later. */
static void waits_for_its_process(void **state)
{
	struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");

	(void)state;
	scene->process.pid = PID + 1;
	assert_int_equal(scene__read(scene, 100), 0);
	scene->process.pid = PID;
	assert_int_equal(scene__read(scene, 100), 1);
	scene__free(scene);
}

static void its_stack_is_a_site(void **state)
{
	const struct stack_frame frame = {.function = "cuStreamSynchronize"};
	const struct stack stack = {.count = 1, .frames = &frame};
	struct scene *scene = scene__new("cuStreamSynchronize", "cudaStreamSynchronize");
	struct site_table *table = scene->process.site_table = site_table__new();

	(void)state;
	scene->calls.list[0].stack = &stack;
	assert_int_equal(scene__read(scene, 100), 1);
	assert_int_equal(scene__read(scene, 300), 1);
	assert_ptr_equal(scene->process.open[0].stack, &stack);
	assert_int_equal(site_table__list(table, &scene->process, -1, NULL, NULL), 0);
	assert_int_equal(scene->process.site_count, 1);
	assert_ptr_equal(scene->process.sites[0].stack, &stack);
	assert_int_equal(scene->process.sites[0].kind, SITE_WAIT);
	assert_int_equal(scene->process.sites[0].amount, 300);
	scene__free(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_time_is_everywhere),
		cmocka_unit_test(its_time_stays),
		cmocka_unit_test(is_over_once_one_was_counted),
		cmocka_unit_test(stays_beside_other_calls),
		cmocka_unit_test(a_launch_is_over_with_any_other),
		cmocka_unit_test(is_over_when_its_thread_is_in_another),
		cmocka_unit_test(ends_with_its_process),
		cmocka_unit_test(waits_for_its_process),
		cmocka_unit_test(its_stack_is_a_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
