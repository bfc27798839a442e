// SPDX-License-Identifier: BSD-2-Clause
// Calls that began before gpuprobe attached: what the collector gets about them, and how long their
// threads stay in them. The test plays the dumps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/session/earlier.h"
#include "collect/collector.h"
#include "dump/dump.h"
#include "api/api.h"

#define PID 100
#define TID 101

static const struct stack_frame frames[] = {
	{.function = "cuStreamSynchronize", .object = "libcuda.so.1", .offset = 9},
	{.function = "cudaStreamSynchronize", .object = "libcudart.so.13", .offset = 8},
	{.function = "step", .object = "train", .offset = 7},
	{.function = "other_step", .object = "train", .offset = 7},
};

/* The result of the dump: one process with one thread. */
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
	/* The first dump is kept: a copy, which nobody frees before the test ends. */
	struct dump *dump =
		test_malloc(sizeof(*dump) + sizeof(played.dumped) + sizeof(played.thread));
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
		.start_ns = 7,
		.call = call,
		.inner = inner,
		.beyond = 2,
		.stack = {.count = 3, .frames = frames},
	};
	played.dumped =
		(struct dump_process){.process = &played.process, .thread_count = 1, .in_cuda = 1};
	played.dump = (struct dump){.processes = &played.dumped, .count = 1};
}

/* What the collector receives. */
static struct earlier_calls given;
static pid_t adopted;

struct earlier_calls *collector__earlier(struct collector *collector)
{
	(void)collector;
	return &given;
}

void collector__adopt(struct collector *collector, pid_t pid)
{
	(void)collector;
	adopted = pid;
}

static struct earlier_looks *begin_with(enum api_mode api, const char *call, const char *inner)
{
	const pid_t pid = PID;
	struct earlier_looks *looks;

	play(call, inner);
	given = (struct earlier_calls){0};
	adopted = 0;
	looks = earlier_looks__new((struct looker *)&played);
	assert_non_null(looks);
	earlier_looks__begin(looks, &pid, 1, api, (struct collector *)&given);
	return looks;
}

static struct earlier_looks *begin(const char *call, const char *inner)
{
	return begin_with(API_AUTO, call, inner);
}

static void end(struct earlier_looks *looks)
{
	free(given.list);
	earlier_looks__free(looks);
}

/* Whether the only call has ended by the next reading. */
static bool is_over(struct earlier_looks *looks)
{
	played.dump.boot_ns++;
	earlier_looks__look(looks, &given, true);
	assert_int_equal(given.count, 1);
	assert_int_equal(given.list[0].stood_ns == played.dump.boot_ns, !given.list[0].over);
	return given.list[0].over;
}

static const char *function_of(uint16_t row)
{
	return api_functions[row].symbol;
}

static void is_reported_as_it_would_have_been_counted(void **state)
{
	struct earlier_looks *looks = begin("cudaStreamSynchronize", "cuStreamSynchronize");
	const struct earlier_call *call = given.list;

	(void)state;
	assert_int_equal(given.count, 1);
	assert_int_equal(adopted, PID);
	assert_int_equal(call->pid, PID);
	assert_int_equal(call->tid, TID);
	assert_int_equal(call->thread_start_ns, 7);
	assert_string_equal(call->comm, "train");
	assert_string_equal(function_of(call->row), "cuStreamSynchronize");
	assert_string_equal(function_of((uint16_t)call->other), "cudaStreamSynchronize");
	assert_int_equal(call->stood_ns, given.began_ns);
	end(looks);
	looks = begin("cudaMalloc", "cuMemAlloc_v2");
	assert_string_equal(function_of(given.list[0].row), "cudaMalloc");
	end(looks);
	looks = begin("cudaOfTheFuture", "cudaOfTheFuture");
	assert_int_equal(given.count, 0);
	assert_int_equal(adopted, 0);
	end(looks);
}

static void has_the_name_that_is_watched(void **state)
{
	static const struct {
		enum api_mode api;
		const char *call, *inner, *reported; /* NULL: it is not watched */
	} cases[] = {
		{API_RUNTIME, "cudaStreamSynchronize", "cuStreamSynchronize",
		 "cudaStreamSynchronize"},
		{API_RUNTIME, "cuStreamSynchronize", "cuStreamSynchronize", NULL},
		{API_DRIVER, "cudaStreamSynchronize", "cuStreamSynchronize", "cuStreamSynchronize"},
		{API_DRIVER, "cudaMalloc", "cuMemAlloc_v2", "cuMemAlloc_v2"},
		{API_DRIVER, "cudaMalloc", "cudaMalloc", NULL},
		{API_BOTH, "cudaStreamSynchronize", "cuStreamSynchronize", "cudaStreamSynchronize"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct earlier_looks *looks =
			begin_with(cases[i].api, cases[i].call, cases[i].inner);

		assert_int_equal(given.count, cases[i].reported != NULL);
		if (cases[i].reported)
			assert_string_equal(function_of(given.list[0].row), cases[i].reported);
		end(looks);
	}
}

/* Frames outside the call are not part of its stack. */
static void its_stack_begins_with_it(void **state)
{
	struct earlier_looks *looks = begin("cudaStreamSynchronize", "cudaStreamSynchronize");

	(void)state;
	assert_int_equal(given.list[0].stack->count, 2);
	assert_ptr_equal(given.list[0].stack->frames, frames + 1);
	end(looks);
}

static void stands_as_long_as_its_stack_is_the_same(void **state)
{
	struct earlier_looks *looks = begin("cudaStreamSynchronize", "cuStreamSynchronize");

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_false(is_over(looks));
	played.thread.stack.frames = frames + 1; /* called from elsewhere */
	assert_true(is_over(looks));
	played.thread.stack.frames = frames;
	assert_true(is_over(looks));
	end(looks);
	looks = begin("cuStreamSynchronize", "cuStreamSynchronize");
	played.thread.call = NULL;
	assert_true(is_over(looks));
	end(looks);
}

static void is_over_with_its_thread(void **state)
{
	struct earlier_looks *looks = begin("cuStreamSynchronize", "cuStreamSynchronize");

	(void)state;
	played.dumped.thread_count = 0;
	assert_true(is_over(looks));
	end(looks);
}

/* Readings may be only milliseconds apart. Ended calls are not looked at again. */
static void looks_once_a_second(void **state)
{
	struct earlier_looks *looks = begin("cuStreamSynchronize", "cuStreamSynchronize");

	(void)state;
	earlier_looks__look(looks, &given, false);
	earlier_looks__look(looks, &given, false);
	assert_int_equal(played.looks, 2);
	given.list[0].over = true;
	earlier_looks__look(looks, &given, true);
	assert_int_equal(played.looks, 2);
	end(looks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_reported_as_it_would_have_been_counted),
		cmocka_unit_test(has_the_name_that_is_watched),
		cmocka_unit_test(its_stack_begins_with_it),
		cmocka_unit_test(stands_as_long_as_its_stack_is_the_same),
		cmocka_unit_test(is_over_with_its_thread),
		cmocka_unit_test(looks_once_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
