// SPDX-License-Identifier: BSD-2-Clause
// Findings from lists as long as a program can make them: time must grow with their length, not
// with its square.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "finding_memory.h"
#include "growth_of_time.h"
#include "model/kernels.h"
#include "model/steps.h"
#include "output/memleak/memleak.h"

static void *allocate(size_t count, size_t size)
{
	void *list = calloc(count, size);

	assert_non_null(list);
	return list;
}

/* --- leaks --- */

/*
 * Each stack has four call sites, as many as the map can hold, and most of what was allocated there
 * was freed.
 */
static void leak(size_t stack_count, size_t size_count)
{
	struct stack *stacks = allocate(stack_count, sizeof(*stacks));
	struct call_site *sites = allocate(4 * stack_count, sizeof(*sites));
	struct live_site *live = allocate(stack_count, sizeof(*live));
	struct profile profile = {.sizes = allocate(size_count + 1, sizeof(*profile.sizes)),
				  .size_count = size_count};
	struct process process = PROCESS(size_count ? &profile : NULL);
	struct run run;

	for (size_t i = 0; i < stack_count; i++) {
		stacks[i].serial = i;
		live[i] = (struct live_site){.stack = &stacks[i],
					     .bytes = 2 * KIB,
					     .count = 2,
					     .oldest_ns = RUN_BEGAN + 10 * NS_PER_S};
		for (size_t k = 0; k < 4; k++)
			sites[4 * i + k] = (struct call_site){
				.stack = &stacks[i],
				.kind = k ? SITE_COPY : SITE_ALLOCATION,
				.row = row_of("cudaMalloc"),
				.calls = 100,
				.amount = 100 * KIB,
			};
	}
	for (size_t i = 0; i < size_count; i++) {
		profile.sizes[i] = size_of("cudaMalloc", KIB + i, 100, 98, 2);
		profile.sizes[i].record.first_ns = RUN_BEGAN;
		profile.sizes[i].record.latest_ns = RUN_BEGAN + 10 * NS_PER_S;
	}
	process.sites = sites;
	process.site_count = 4 * stack_count;
	process.live_sites = live;
	process.live_site_count = stack_count;
	run__begin(&run, &process, 1);
	run.model.stacks = true;
	end(&run, &process, 20);
	assert_int_equal(run__count(&run, "leak-at-exit"), 0);
	run__end(&run);
	free(profile.sizes);
	free(live);
	free(sites);
	free(stacks);
}

static void leak_at_sites(size_t size)
{
	leak(size, 0);
}

static void leak_of_sizes(size_t size)
{
	leak(size, 4 * size);
}

static void leaks_at_ten_thousands_of_sites(void **state)
{
	(void)state;
	assert_linear("sites with live memory", leak_at_sites, 1024);
	assert_linear("the same with sizes", leak_of_sizes, 1024);
}

/* --- other rules --- */

/*
 * Sizes of one function that are not churned take most of the time; churned ones come after them.
 */
static void churn(size_t size)
{
	struct profile profile = {.sizes = allocate(size, sizeof(*profile.sizes)),
				  .size_count = size};
	struct process process = PROCESS(&profile);
	struct run run;

	for (size_t i = 0; i < size; i++)
		profile.sizes[i] = size_of("cudaMalloc", KIB + i, 100, 100, i < size / 2 ? 100 : 1);
	run__begin(&run, &process, 1);
	end(&run, &process, 20);
	assert_int_equal(run__count(&run, "alloc-churn"), 1);
	run__end(&run);
	free(profile.sizes);
}

#define SEQUENCE 4096

/*
 * A thread that repeats a sequence of 4,096 kernels, and sites of other kernels that are launched
 * more often.
 */
static void launch_at_sites(size_t size)
{
	struct thread_profile thread = {
		.tid = 7,
		.first_ns = RUN_BEGAN,
		.latest_ns = RUN_BEGAN + 10 * NS_PER_S,
		.launches = 1000000,
		.chained = {.calls = 1000000, .ns = 8 * NS_PER_S},
		.chained_gap_ns = NS_PER_S,
	};
	struct profile profile = {.threads = &thread, .thread_count = 1};
	struct process process = PROCESS(&profile);
	struct call_site *sites = allocate(size, sizeof(*sites));
	struct launch_key key = {.kernel = {.slot = 1}};
	struct step_thread *steps;
	char name[64];
	struct run run;

	process.kernel_table = kernel_table__new();
	process.steps = process_steps__new();
	steps = process_steps__add(process.steps);
	steps->tid = thread.tid;
	steps->phase_count = 1;
	step_phase__add(&steps->phases[0], RUN_BEGAN, NS_PER_S);
	steps->round_length = SEQUENCE;
	steps->round = malloc(SEQUENCE * sizeof(*steps->round));
	for (size_t i = 0; i < SEQUENCE; i++) {
		key.kernel.handle = steps->round[i] = 1 + i;
		snprintf(name, sizeof(name), "_Z11kernel%05zui", i);
		assert_int_equal(kernel_table__set(process.kernel_table, &key, 1, name), 0);
	}
	for (size_t i = 0; i < size; i++)
		sites[i] = (struct call_site){
			.kind = SITE_LAUNCH, .calls = 1, .kernel_label = "kernel"};
	process.sites = sites;
	process.site_count = size;
	run__begin(&run, &process, 1);
	run.model.stacks = true;
	end(&run, &process, 10);
	assert_int_equal(run__count(&run, "launch-bound"), 1);
	run__end(&run);
	kernel_table__free(process.kernel_table);
	process_steps__free(process.steps);
	free(sites);
}

/* All processes have run out of memory, and each has seen all GPUs. */
static void run_out_of_memory(size_t size)
{
	struct process *processes = allocate(size, sizeof(*processes));
	struct failure failure = {.function = "cudaMalloc",
				  .error = "cudaErrorMemoryAllocation",
				  .code = 2,
				  .count = 9};
	struct gpu gpus[8] = {{.mig = 0}};
	struct process_gpu of_process[8];
	struct run run;

	for (int i = 0; i < 8; i++) {
		gpus[i] = (struct gpu){.index = (unsigned int)i,
				       .mig = GPU_NONE,
				       .total_bytes = GIB,
				       .used_bytes = GIB};
		of_process[i] = (struct process_gpu){.ordinal = i, .gpu = i, .used_bytes = MIB};
	}
	for (size_t i = 0; i < size; i++)
		processes[i] = (struct process){
			.pid = (int32_t)(1 + i),
			.start_ns = RUN_BEGAN,
			.failures = &failure,
			.failure_count = 1,
			.gpus = of_process,
			.gpu_count = 8,
		};
	run__begin(&run, processes, size);
	run.model.gpus = gpus;
	run.model.gpu_count = 8;
	run__sample(&run, 1);
	assert_int_equal(run__count(&run, "oom"), size);
	run__end(&run);
	free(processes);
}

static void rules_of_long_lists(void **state)
{
	uint64_t begin = spent();

	(void)state;
	assert_linear("sizes that churn", churn, 4096);
	assert_linear("processes out of memory", run_out_of_memory, 256);
	begin = spent();
	launch_at_sites(65536);
	print_message("65,536 sites of launches: %.1f ms\n", (double)(spent() - begin) / MS);
	assert_true(spent() - begin < SLOWER * 100 * MS);
}

/* --- memleak --- */

/* Two live allocations at each stack; most of what was allocated there was freed. */
static void print_leaks(size_t count, bool ended, bool each)
{
	const struct memleak_options options = {.show_allocations = each};
	struct stack *stacks = allocate(count, sizeof(*stacks));
	struct call_site *sites = allocate(4 * count, sizeof(*sites));
	struct live_site *live = allocate(count, sizeof(*live));
	struct allocation *allocations = allocate(2 * count, sizeof(*allocations));
	struct growth *growth = growth__new(GROWTH_WINDOW_NS, 1);
	struct process process = {.pid = 12, .ended = ended, .live_at_exit_count = 2 * count};
	struct model model = {.processes = &process, .process_count = 1, .stacks = true};
	FILE *out = fopen("/dev/null", "we");

	assert_true(growth && out);
	for (size_t i = 0; i < count; i++) {
		live[i] = (struct live_site){.stack = &stacks[i], .bytes = 2 * KIB, .count = 2};
		allocations[2 * i].stack = allocations[2 * i + 1].stack = &stacks[i];
		for (size_t k = 0; k < 4; k++)
			sites[4 * i + k] =
				(struct call_site){.stack = &stacks[i],
						   .kind = k ? SITE_COPY : SITE_ALLOCATION,
						   .calls = 100};
	}
	process.sites = sites;
	process.site_count = 4 * count;
	process.live_sites = live;
	process.live_site_count = count;
	process.live = allocations;
	process.live_listed = 2 * count;
	memleak_text__print(out, &model, &(struct memleak_growth){growth, NULL, NULL}, &options);
	memleak_json__print(out, &model, &(struct memleak_growth){growth, NULL, NULL}, &options);
	fclose(out);
	growth__free(growth);
	free(allocations);
	free(live);
	free(sites);
	free(stacks);
}

static void print_leaks_at_exit(size_t size)
{
	print_leaks(size, true, false);
}

static void print_each_allocation(size_t size)
{
	print_leaks(size, false, true);
}

static void memleak_at_ten_thousands_of_sites(void **state)
{
	(void)state;
	assert_linear("memleak of a process that ended", print_leaks_at_exit, 1024);
	assert_linear("memleak with each allocation", print_each_allocation, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaks_at_ten_thousands_of_sites),
		cmocka_unit_test(rules_of_long_lists),
		cmocka_unit_test(memleak_at_ten_thousands_of_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
