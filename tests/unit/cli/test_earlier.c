// SPDX-License-Identifier: BSD-2-Clause
// Calls that began before gpuprobe came: when they are in progress, and when not any more. Dumps are played.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/earlier.h"
#include "dump/choice.h"
#include "model/api.h"

#define PID 100
#define TID 101

static const struct stack_frame frames[] = {
	{.function = "cuStreamSynchronize", .object = "libcuda.so.1", .offset = 9},
	{.function = "cudaStreamSynchronize", .object = "libcudart.so.13", .offset = 8},
	{.function = "step", .object = "train", .offset = 7},
	{.function = "other_step", .object = "train", .offset = 7},
};

/* What the looker finds: one process with one thread. */
static struct {
	struct process process;
	struct dump_thread thread;
	struct dump_process dumped;
	struct dump dump;
	unsigned int looks;
} played;

struct dump *looker__look(struct looker *looker, const pid_t *pids, size_t count)
{
	(void)looker;
	assert_int_equal(count, 1);
	assert_int_equal(pids[0], PID);
	played.looks++;
	/* The first is kept: a copy, which nobody frees before the test ends. */
	struct dump *dump = test_malloc(sizeof(*dump) + sizeof(played.dumped) + sizeof(played.thread));
	struct dump_process *process = (void *)(dump + 1);
	struct dump_thread *thread = (void *)(process + 1);

	*dump = played.dump;
	*process = played.dumped;
	*thread = played.thread;
	dump->processes = process;
	process->threads = thread;
	return dump;
}

void dump__free(struct dump *dump)
{
	if (dump)
		test_free(dump);
}

int dump_choice__make(const pid_t *asked, size_t count, struct pid_list *pids)
{
	assert_int_equal(count, 1);
	pids->pids = malloc(sizeof(*pids->pids));
	assert_non_null(pids->pids);
	pids->pids[0] = asked[0];
	pids->count = 1;
	return 0;
}

static void play(const char *call, const char *inner)
{
	memset(&played, 0, sizeof(played));
	played.process = (struct process){.pid = PID, .start_ns = 5};
	played.thread = (struct dump_thread){
		.tid = TID,
		.comm = "train",
		.call = call,
		.inner = inner,
		.beyond = 2,
		.stack = {.count = 3, .frames = frames},
	};
	played.dumped = (struct dump_process){.process = &played.process, .thread_count = 1, .in_cuda = 1};
	played.dump = (struct dump){.processes = &played.dumped, .count = 1};
}

struct scene {
	struct earlier_calls *calls;
	struct process process;
	struct model model;
};

static void begin(struct scene *scene, const char *call, const char *inner)
{
	const pid_t pid = PID;

	play(call, inner);
	*scene = (struct scene){.process = {.pid = PID}};
	scene->model = (struct model){.processes = &scene->process, .process_count = 1};
	scene->calls = earlier_calls__new((struct looker *)&played);
	assert_non_null(scene->calls);
	earlier_calls__begin(scene->calls, &pid, 1);
}

static void end(struct scene *scene)
{
	earlier_calls__free(scene->calls);
	free(scene->process.open);
}

/* A reading begins with what BPF knows: nothing. Returns how many calls from before are in progress. */
static size_t tell(struct scene *scene)
{
	scene->process.open_listed = scene->process.open_count = 0;
	earlier_calls__tell(scene->calls, &scene->model, true);
	assert_int_equal(scene->process.open_count, scene->process.open_listed);
	return scene->process.open_listed;
}

static const char *told_function(const struct scene *scene)
{
	return api_functions[scene->process.open[0].row].symbol;
}

static void stays_as_long_as_its_thread_stands(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "cudaStreamSynchronize", "cuStreamSynchronize");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tell(&scene), 1);
		assert_string_equal(told_function(&scene), "cuStreamSynchronize");
		assert_int_equal(scene.process.open[0].tid, TID);
		assert_true(scene.process.open[0].earlier);
	}
	played.thread.stack.frames = frames + 1; /* called from elsewhere */
	assert_int_equal(tell(&scene), 0);
	played.thread.stack.frames = frames;
	assert_int_equal(tell(&scene), 0);
	end(&scene);
}

static void goes_with_its_thread(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "cuStreamSynchronize", "cuStreamSynchronize");
	played.dumped.thread_count = 0;
	assert_int_equal(tell(&scene), 0);
	end(&scene);
	begin(&scene, "cuStreamSynchronize", "cuStreamSynchronize");
	played.thread.call = NULL;
	assert_int_equal(tell(&scene), 0);
	end(&scene);
}

/* It may be that call's successor that the thread stands in, whichever layer it was counted at. */
static void goes_with_a_call_that_was_counted(void **state)
{
	static const char *const functions[] = {"cuStreamSynchronize", "cudaStreamSynchronize"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct function_totals totals = {.row = (uint16_t)api__find(functions[i / 2], API_NEWEST)};
		struct scene scene;

		begin(&scene, "cudaStreamSynchronize", "cuStreamSynchronize");
		scene.process.functions = &totals;
		scene.process.function_count = 1;
		assert_int_equal(tell(&scene), 1);
		*(i % 2 ? &totals.calls : &totals.failures) = 1;
		assert_int_equal(tell(&scene), 0);
		end(&scene);
	}
}

static void stays_beside_other_calls(void **state)
{
	struct function_totals totals = {.row = (uint16_t)api__find("cuEventQuery", API_NEWEST), .calls = 7};
	struct scene scene;

	(void)state;
	begin(&scene, "cudaStreamSynchronize", "cuStreamSynchronize");
	scene.process.functions = &totals;
	scene.process.function_count = 1;
	scene.process.launches = 3;
	assert_int_equal(tell(&scene), 1);
	assert_int_equal(scene.process.open[0].others, 10);
	end(&scene);
}

static void launches_and_allocations(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "cudaMalloc", "cuMemAlloc_v2");
	assert_int_equal(tell(&scene), 1);
	assert_string_equal(told_function(&scene), "cudaMalloc");
	end(&scene);
	begin(&scene, "cudaLaunchKernel", "cuLaunchKernel");
	assert_int_equal(tell(&scene), 1);
	scene.process.launches = 1;
	assert_int_equal(tell(&scene), 0);
	end(&scene);
	begin(&scene, "cudaOfTheFuture", "cudaOfTheFuture");
	assert_int_equal(tell(&scene), 0);
	end(&scene);
}

/* Of another thread's call nothing follows, of its own that it has returned. */
static void goes_when_its_thread_is_in_another(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "cudaStreamSynchronize", "cuStreamSynchronize");
	assert_int_equal(tell(&scene), 1);
	scene.process.open[0] = (struct open_call){.tid = TID + 1};
	earlier_calls__tell(scene.calls, &scene.model, true);
	assert_int_equal(scene.process.open_listed, 2);
	assert_true(scene.process.open[0].earlier);
	scene.process.open_listed = scene.process.open_count = 1;
	scene.process.open[0] = (struct open_call){.tid = TID};
	earlier_calls__tell(scene.calls, &scene.model, true);
	assert_int_equal(scene.process.open_listed, 1);
	assert_false(scene.process.open[0].earlier);
	end(&scene);
}

/* A reading that was broken off leaves the list as it was. */
static void is_listed_once(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "cudaStreamSynchronize", "cuStreamSynchronize");
	assert_int_equal(tell(&scene), 1);
	earlier_calls__tell(scene.calls, &scene.model, true);
	assert_int_equal(scene.process.open_listed, 1);
	assert_int_equal(scene.process.open_count, 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_as_long_as_its_thread_stands),
		cmocka_unit_test(goes_with_its_thread),
		cmocka_unit_test(goes_with_a_call_that_was_counted),
		cmocka_unit_test(stays_beside_other_calls),
		cmocka_unit_test(launches_and_allocations),
		cmocka_unit_test(goes_when_its_thread_is_in_another),
		cmocka_unit_test(is_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
