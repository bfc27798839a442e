// SPDX-License-Identifier: BSD-2-Clause
// Findings of where threads spend their time: each with its healthy neighbours, which give none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "finding_case.h"
#include "finding/threads.h"
#include "finding/sequence.h"
#include "model/kernels.h"

static const struct stack somewhere = {.serial = 7}, elsewhere = {.serial = 8};

static struct time_totals totals(uint64_t calls, uint64_t ns)
{
	return (struct time_totals){.calls = calls, .ns = ns};
}

static void name_kernel(struct process *process, uint64_t handle, const char *name)
{
	const struct launch_key key = {.kernel.handle = handle};

	if (!process->kernel_table)
		process->kernel_table = kernel_table__new();
	assert_int_equal(kernel_table__set(process->kernel_table, &key, 1, name), 0);
}

/* --- sequences --- */

static void launch(struct thread_account *thread, uint64_t handle)
{
	thread->sequence[thread->sequence_count++ % SEQUENCE_KEPT] = handle;
}

static void rounds(struct thread_account *thread, const char *letters, int count)
{
	while (count--)
		for (const char *letter = letters; *letter; letter++)
			launch(thread, (uint64_t)*letter);
}

static size_t period_of(const struct thread_account *thread)
{
	struct sequence sequence;

	sequence__find(thread, &sequence);
	return sequence.period;
}

static void sequences(void **state)
{
	struct thread_account thread = {0};
	struct sequence sequence;

	(void)state;
	assert_int_equal(period_of(&thread), 0);
	rounds(&thread, "abc", 1);
	assert_int_equal(period_of(&thread), 0);
	rounds(&thread, "abc", 1);
	assert_int_equal(period_of(&thread), 3);
	/* The ring goes round many times, and cuts a round in two. */
	rounds(&thread, "abc", 1000);
	sequence__find(&thread, &sequence);
	assert_int_equal(sequence.period, 3);
	assert_true(sequence.share == 1);
	thread = (struct thread_account){0};
	rounds(&thread, "a", 600);
	assert_int_equal(period_of(&thread), 1);
	/* Mostly one kernel, but the whole round is what repeats. */
	thread = (struct thread_account){0};
	rounds(&thread, "aaaaaaaaaaaaaaaaaaab", 30);
	assert_int_equal(period_of(&thread), 20);
}

static void sequences_are_interrupted(void **state)
{
	struct thread_account thread = {0};
	struct sequence sequence;

	(void)state;
	for (int i = 0; i < 300; i++) {
		rounds(&thread, "abcdefgh", 10);
		/* What is printed now and then; never the same. */
		launch(&thread, 1000 + (uint64_t)i);
	}
	sequence__find(&thread, &sequence);
	assert_int_equal(sequence.period, 8);
	assert_true(sequence.share > 0.85 && sequence.share < 0.95);
	for (int i = 0; i < 8; i++)
		assert_true(sequence.handles[i] >= 'a' && sequence.handles[i] <= 'h');
}

static void nothing_repeats(void **state)
{
	struct thread_account thread = {0};
	uint64_t random = 1;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		launch(&thread, i);
	assert_int_equal(period_of(&thread), 0);
	thread = (struct thread_account){0};
	for (int i = 0; i < 1000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		launch(&thread, random >> 61);
	}
	assert_int_equal(period_of(&thread), 0);
	/* One half repeats, the other does not. */
	thread = (struct thread_account){0};
	rounds(&thread, "abcd", 64);
	for (uint64_t i = 0; i < SEQUENCE_KEPT / 2; i++)
		launch(&thread, 1000 + i);
	assert_int_equal(period_of(&thread), 0);
}

static void sequences_have_names(void **state)
{
	struct process process = {0};
	struct sequence sequence = {.period = 5, .handles = {1, 2, 2, 3, 4}};
	char *text;

	(void)state;
	name_kernel(&process, 1, "gemm");
	name_kernel(&process, 2, "relu");
	name_kernel(&process, 3, NULL);
	text = sequence__text(&sequence, &process);
	assert_string_equal(text, "5 launches: gemm, relu x2, (unnamed), (graph)");
	free(text);
	sequence.period = SEQUENCE_KEPT / 2;
	for (size_t i = 0; i < sequence.period; i++) {
		char name[400];

		snprintf(name, sizeof(name), "kernel%zu%0350d", i, 0);
		name_kernel(&process, 100 + i, name);
		sequence.handles[i] = 100 + i;
	}
	text = sequence__text(&sequence, &process);
	assert_true(strlen(text) < 8 * 50 + 40);
	assert_non_null(strstr(text, "256 launches: kernel0000"));
	assert_string_equal(text + strlen(text) - 5, ", ...");
	free(text);
	kernel_table__free(process.kernel_table);
}

/* A handle keeps its name when its process has ended, and stands for the latest kernel. */
static void handles_outlast_their_maps(void **state)
{
	struct launch_key first = {.kernel = {.handle = 5}}, second = {.kernel = {.handle = 5, .generation = 1}};
	struct kernel_table *table = kernel_table__new();
	const char *brief;

	(void)state;
	assert_false(kernel_table__knows(table, 5, &brief));
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "old");
	assert_int_equal(kernel_table__set(table, &first, 1, "old"), 0);
	assert_int_equal(kernel_table__set(table, &second, 1, "new"), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "new");
	assert_int_equal(kernel_table__fold(table, &first), 0);
	assert_int_equal(kernel_table__fold(table, &second), 0);
	assert_true(kernel_table__knows(table, 5, &brief));
	assert_string_equal(brief, "new");
	for (uint64_t i = 0; i < 5000; i++) {
		struct launch_key key = {.kernel.handle = 100 + i};

		assert_int_equal(kernel_table__set(table, &key, 1, "many"), 0);
		assert_int_equal(kernel_table__fold(table, &key), 0);
	}
	assert_false(kernel_table__knows(table, 5, &brief));
	assert_true(kernel_table__knows(table, 5099, &brief));
	kernel_table__free(table);
}

/* --- launch-bound --- */

/* 1.2 million launches of 4 us with 2 us between them, back to back, of three kernels: 7.2 of 10 s. */
static struct finding_case *launching(void)
{
	struct finding_case *c = case__new();
	struct thread_account *thread = &c->threads[0];

	name_kernel(&c->process, 'a', "gemm");
	name_kernel(&c->process, 'b', "bias");
	name_kernel(&c->process, 'c', "relu");
	rounds(thread, "abc", 1000);
	thread->launches = 1200000;
	thread->chained = totals(1200000, 1200000 * 4 * US);
	thread->chained_gap_ns = 1200000 * 2 * US;
	thread->gap_count = 1200000;
	thread->gap_ns = thread->chained_gap_ns;
	thread->gaps[time_bucket(2 * US)] = 1200000;
	thread->time[TIME_LAUNCH] = thread->chained;
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1200000, 4 * US);
	c->account.function_count = 1;
	return c;
}

static void end(struct finding_case *c)
{
	kernel_table__free(c->process.kernel_table);
	case__free(c);
}

static void launch_bound(void **state)
{
	struct finding_case *c = launching();
	const struct finding *finding;
	double saving;

	(void)state;
	c->sites[0] = (struct call_site){.stack = &elsewhere, .kind = SITE_LAUNCH, .calls = 9, .kernel_short = "other"};
	c->sites[1] = (struct call_site){.stack = &somewhere, .kind = SITE_LAUNCH, .calls = 8, .kernel_short = "bias"};
	c->process.site_count = 2;
	assert_int_equal(case__draw(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "launch-bound");
	assert_int_equal(finding->pid, 100);
	assert_int_equal(finding->tid, 100);
	assert_true(finding->cost_ns == 4800000 * US);
	assert_true(finding->share > 0.479 && finding->share < 0.481);
	assert_non_null(strstr(finding->subject, "3 launches: "));
	assert_non_null(strstr(finding->subject, "relu"));
	assert_ptr_equal(finding->stack, &somewhere);
	assert_true(finding__value(finding, "sequence_launches") == 3);
	assert_true(finding__value(finding, "launch_rate") == 120000);
	assert_true(finding__value(finding, "median_gap") > 1900 && finding__value(finding, "median_gap") < 2100);
	/* Launches and gaps go, but for 2 us a kernel and 10 us for 33 of them. */
	saving = 1200000 * 6e3 - 1200000 * 2e3 - 1200000 / 32 * 10e3;
	assert_true(finding->has_saving);
	assert_true((double)finding->saving_ns > 0.99 * saving && (double)finding->saving_ns < 1.01 * saving);
	end(c);
}

static void launch_bound_without_a_sequence(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	for (uint64_t i = 0; i < SEQUENCE_KEPT; i++)
		c->threads[0].sequence[i] = i;
	assert_int_equal(case__draw(c), 1);
	assert_null(c->list.items[0].subject);
	assert_false(c->list.items[0].has_saving);
	end(c);
	/* Graphs are what is launched: they are no advice. */
	c = launching();
	rounds(&c->threads[0], "g", 1000);
	assert_int_equal(case__draw(c), 1);
	assert_string_equal(c->list.items[0].subject, "1 launch: (graph)");
	assert_false(c->list.items[0].has_saving);
	end(c);
}

/* What a thread did before its first call makes it no smaller: seconds of imports, say. */
static void a_late_start_is_no_excuse(void **state)
{
	struct finding_case *c = launching();
	struct thread_account *thread = &c->threads[0];

	(void)state;
	thread->chained = totals(300000, 300000 * 4 * US);
	thread->chained_gap_ns = 300000 * 2 * US;
	thread->launches = 300000;
	thread->first_ns = BEGAN + 7 * NS_PER_S;
	assert_int_equal(case__draw(c), 1);
	assert_true(c->list.items[0].share > 0.39 && c->list.items[0].share < 0.41);
	thread->first_ns = BEGAN;
	assert_int_equal(case__draw(c), 0);
	end(c);
}

/* The GPU has work enough: launches block until there is room. */
static void full_queues_are_not_launch_bound(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	/* As long as kernels of 60 us, and most of them. */
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 500000, 4 * US);
	case__add_durations(&c->functions[0], "cuLaunchKernel", 700000, 60 * US);
	assert_int_equal(case__draw(c), 0);
	end(c);
	/* From before the probes on, so that no launch was seen that found room. */
	c = launching();
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1200000, 60 * US);
	assert_int_equal(case__draw(c), 0);
	end(c);
	/* Shorter ones: the first thousand, which found room, were many times as fast. */
	c = launching();
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1000, 2 * US);
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1000000, 12 * US);
	assert_int_equal(case__draw(c), 0);
	/* With launches that all are so slow it is the CPU. */
	c->functions[0].time = (struct duration_record){0};
	case__add_durations(&c->functions[0], "cuLaunchKernel", 1001000, 12 * US);
	assert_int_equal(case__draw(c), 1);
	end(c);
	/* Another thread's launches are fast; this one's are not, and go on for 120,000. */
	c = launching();
	c->threads[0].launches = 120000;
	c->threads[0].chained.calls = 45000;
	assert_int_equal(case__draw(c), 0);
	end(c);
}

static void waits_are_not_launch_bound(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	c->threads[0].time[TIME_WAIT] = totals(10, 21 * WATCHED / 100);
	c->threads[0].batch_waits = c->threads[0].time[TIME_WAIT];
	assert_int_equal(case__draw(c), 0);
	end(c);
	/* By calls that block, too. */
	c = launching();
	c->threads[0].pending[IMPLICIT_COPY] = totals(10, 21 * WATCHED / 100);
	assert_int_equal(case__draw(c), 0);
	end(c);
}

static void few_launches_are_not_launch_bound(void **state)
{
	struct finding_case *c = launching();

	(void)state;
	/* 9,000 a second. */
	c->threads[0].launches = 90000;
	assert_int_equal(case__draw(c), 0);
	end(c);
	c = launching();
	/* Enough, but not back to back. */
	c->threads[0].chained = totals(600000, 600000 * 4 * US);
	c->threads[0].chained_gap_ns = 600000 * 2 * US;
	assert_int_equal(case__draw(c), 0);
	end(c);
}

/* The same rate and shares as launching(), but that the thread was active for `active_ns` alone. */
static int findings_of_active(uint64_t active_ns)
{
	struct finding_case *c = launching();
	struct thread_account *thread = &c->threads[0];
	uint64_t launches = active_ns / (8 * US);
	int count;

	thread->latest_ns = thread->first_ns + active_ns;
	thread->launches = launches;
	thread->chained = totals(launches, launches * 4 * US);
	thread->chained_gap_ns = launches * 2 * US;
	thread->time[TIME_LAUNCH] = thread->chained;
	count = case__draw(c);
	end(c);
	return count;
}

static void short_lives_are_not_launch_bound(void **state)
{
	(void)state;
	assert_int_equal(findings_of_active(101 * NS_PER_MS), 1);
	assert_int_equal(findings_of_active(99 * NS_PER_MS), 0);
}

/* --- short waits --- */

static void sync_after_every_launch(void **state)
{
	struct finding_case *c = case__new();
	struct thread_account *thread = &c->threads[0];
	const uint16_t row = (uint16_t)api__find("cuStreamSynchronize", API_NEWEST);
	const struct finding *finding;

	(void)state;
	thread->launches = 20000;
	thread->single_waits = totals(20000, 4 * NS_PER_S);
	thread->time[TIME_WAIT] = thread->single_waits;
	/* The one with the most time is of long waits, as of another thread. */
	c->sites[0] = (struct call_site){
		.stack = &elsewhere,
		.kind = SITE_WAIT,
		.row = row,
		.calls = 5,
		.amount = 5 * NS_PER_S,
	};
	c->sites[1] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_WAIT,
		.row = row,
		.calls = 20000,
		.amount = 4 * NS_PER_S,
	};
	c->process.site_count = 2;
	assert_int_equal(case__draw(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "sync-after-every-launch");
	assert_int_equal(finding->cost_ns, 4 * NS_PER_S);
	assert_true(finding__value(finding, "waits") == 20000);
	assert_true(finding__value(finding, "mean") == 200 * US);
	assert_int_equal(finding->saving_ns, 36 * NS_PER_S / 10);
	assert_ptr_equal(finding->stack, &somewhere);
	/* Where the thread does nothing besides, little can go on at the same time: what waits cost for themselves. */
	thread->latest_ns = thread->first_ns + 4 * NS_PER_S + 100 * NS_PER_S / 1000;
	assert_int_equal(case__draw(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, 100 * NS_PER_S / 1000 + 20000 * EMPTY_WAIT_NS);
	case__free(c);
}

static void busy_gpus_are_waited_for(void **state)
{
	struct finding_case *c = case__new();
	struct thread_account *thread = &c->threads[0];

	(void)state;
	/* Few and long: the GPU is busy. */
	thread->single_waits = totals(200, 9 * NS_PER_S);
	assert_int_equal(case__draw(c), 0);
	thread->single_waits = totals(0, 0);
	thread->batch_waits = totals(200, 9 * NS_PER_S);
	assert_int_equal(case__draw(c), 0);
	/* Short, but hardly any time, or hardly any of them. */
	thread->batch_waits = totals(0, 0);
	thread->single_waits = totals(20000, NS_PER_S * 9 / 10);
	assert_int_equal(case__draw(c), 0);
	thread->single_waits = totals(0, 0);
	thread->batch_waits = totals(20000, NS_PER_S * 19 / 10);
	assert_int_equal(case__draw(c), 0);
	c->model.now_ns = BEGAN + NS_PER_S / 100;
	thread->batch_waits = totals(99, NS_PER_S / 200);
	thread->single_waits = totals(99, NS_PER_S / 200);
	assert_int_equal(case__draw(c), 0);
	case__free(c);
}

static void sync_stall(void **state)
{
	struct finding_case *c = case__new();
	struct thread_account *thread = &c->threads[0];
	const struct finding *finding;

	(void)state;
	thread->launches = 50000;
	thread->batch_waits = totals(10000, 2 * NS_PER_S);
	thread->bare_waits = totals(5000, NS_PER_S);
	assert_int_equal(case__draw(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "sync-stall");
	assert_int_equal(finding->cost_ns, 3 * NS_PER_S);
	assert_true(finding->share == 0.3);
	assert_true(finding__value(finding, "waits") == 15000);
	assert_true(finding__value(finding, "without_launch") == 5000);
	assert_true(finding__value(finding, "after_several_ns") == 2e9);
	/* Once in 16 launches at most; those that were waited for one by one are another matter. */
	thread->launches = 16 * 15000;
	assert_int_equal(case__draw(c), 1);
	thread->launches = 17 * 15000;
	assert_int_equal(case__draw(c), 0);
	thread->single_waits = totals(15000, 1);
	assert_int_equal(case__draw(c), 1);
	case__free(c);
}

/* --- threads --- */

static void many_threads_are_four_findings(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	for (int i = 0; i < 6; i++) {
		if (i)
			case__add_thread(c);
		c->threads[i].single_waits = totals(20000, (uint64_t)(2 + i * 5 % 6) * NS_PER_S);
	}
	/* It has only just begun. */
	case__add_thread(c);
	c->threads[6].start_ns = c->threads[6].first_ns = c->model.now_ns;
	c->threads[6].single_waits = totals(200, NS_PER_S);
	assert_int_equal(case__draw(c), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(c->list.items[i].cost_ns, (7 - (uint64_t)i) * NS_PER_S);
		assert_true(finding__value(&c->list.items[i], "threads") == 6);
	}
	assert_int_equal(c->list.items[0].tid, 101);
	case__free(c);
}

/* A share is of the time from the thread's first call, or the probes, to its latest call. */
static void shares_are_of_active_times(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	c->threads[0].first_ns = BEGAN + 5 * NS_PER_S;
	c->threads[0].latest_ns = BEGAN + 9 * NS_PER_S;
	c->threads[0].single_waits = totals(20000, 2 * NS_PER_S);
	assert_int_equal(case__draw(c), 1);
	assert_true(c->list.items[0].share == 0.5);
	c->threads[0].first_ns = BEGAN - 5 * NS_PER_S;
	c->threads[0].latest_ns = BEGAN + 10 * NS_PER_S;
	assert_int_equal(case__draw(c), 1);
	assert_true(c->list.items[0].share == 0.2);
	case__free(c);
}

/* --- implicit waits --- */

static void implicit_sync(void **state)
{
	struct finding_case *c = case__new();
	struct thread_account *thread = &c->threads[0];
	const struct finding *finding;

	(void)state;
	thread->launches = 3000;
	thread->implicit[IMPLICIT_FREE] = totals(1000, NS_PER_S);
	thread->implicit[IMPLICIT_COPY] = totals(500, NS_PER_S / 2);
	/* In stream order, or of another sort: neither is what waited. */
	case__add_durations(&c->functions[0], "cuMemcpyDtoHAsync_v2", 1000, 5000 * US);
	case__add_durations(&c->functions[1], "cuMemFreeAsync", 1000, 4000 * US);
	case__add_durations(&c->functions[2], "cuMemFree_v2", 1000, 1000 * US);
	c->account.function_count = 3;
	c->sites[0] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_WAIT,
		.calls = 1,
		.amount = 1,
		.row = c->functions[2].row,
	};
	c->process.site_count = 1;
	assert_int_equal(case__draw(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "implicit-sync");
	assert_string_equal(finding->subject, "frees, mostly cuMemFree_v2");
	assert_int_equal(finding->cost_ns, NS_PER_S * 3 / 2);
	assert_true(finding__value(finding, "frees") == 1000);
	assert_true(finding__value(finding, "copy_ns") == 5e8);
	assert_int_equal(finding->saving_ns, NS_PER_S * 3 / 2);
	assert_ptr_equal(finding->stack, &somewhere);
	/* Loads cost, but nothing is saved by loading elsewhere. */
	thread->implicit[IMPLICIT_LOAD] = totals(50, NS_PER_S / 4);
	assert_int_equal(case__draw(c), 1);
	assert_int_equal(c->list.items[0].cost_ns, NS_PER_S * 7 / 4);
	assert_int_equal(c->list.items[0].saving_ns, NS_PER_S * 3 / 2);
	case__free(c);
}

static void few_implicit_waits(void **state)
{
	struct finding_case *c = case__new();
	struct thread_account *thread = &c->threads[0];

	(void)state;
	thread->implicit[IMPLICIT_COPY] = totals(9, 5 * NS_PER_S);
	assert_int_equal(case__draw(c), 0);
	thread->implicit[IMPLICIT_COPY] = totals(9000, NS_PER_S * 4 / 10);
	assert_int_equal(case__draw(c), 0);
	/* Nothing was launched after them. */
	thread->implicit[IMPLICIT_COPY] = totals(0, 0);
	thread->pending[IMPLICIT_COPY] = totals(9000, 5 * NS_PER_S);
	assert_int_equal(case__draw(c), 0);
	/* Loads that no function of their own is known of. */
	thread->implicit[IMPLICIT_LOAD] = totals(20, NS_PER_S);
	assert_int_equal(case__draw(c), 1);
	assert_string_equal(c->list.items[0].subject, "loads of modules inside first launches");
	assert_false(c->list.items[0].has_saving);
	case__free(c);
}

/* --- idle gaps --- */

static void idle_gaps(void **state)
{
	struct finding_case *c = case__new();
	struct thread_account *thread = &c->threads[0];
	const struct finding *finding;

	(void)state;
	thread->idle_gaps = 20;
	thread->idle_ns = 4 * NS_PER_S;
	thread->idle_max_ns = NS_PER_S;
	thread->idle_inside_ns = NS_PER_S / 2;
	thread->idle_stack = 77;
	c->stacks[0] = (struct account_stack){.id = 76, .stack = &elsewhere};
	c->stacks[1] = (struct account_stack){.id = 77, .stack = &somewhere};
	c->account.stack_count = 2;
	assert_int_equal(case__draw(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "idle-gaps");
	assert_int_equal(finding->cost_ns, 4 * NS_PER_S);
	assert_true(finding__value(finding, "host_ns") == 3.5e9);
	assert_non_null(strstr(finding->evidence, "a data loader that cannot keep up"));
	assert_ptr_equal(finding->stack, &somewhere);
	/* Inside CUDA calls it is no data loader. */
	thread->idle_inside_ns = 3 * NS_PER_S;
	assert_int_equal(case__draw(c), 1);
	assert_null(strstr(c->list.items[0].evidence, "data loader"));
	thread->idle_gaps = 2;
	assert_int_equal(case__draw(c), 0);
	thread->idle_gaps = 20;
	thread->idle_ns = NS_PER_S * 9 / 10;
	assert_int_equal(case__draw(c), 0);
	case__free(c);
}

/* --- the legacy default stream --- */

static void default_stream(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	for (int i = 0; i < 3; i++) {
		if (i)
			case__add_thread(c);
		c->threads[i].launches = 1000;
		c->threads[i].legacy_launches = 1000;
		c->threads[i].legacy_waits = totals(10, NS_PER_S);
	}
	/* One stream of all threads, and nobody in the way of another. */
	assert_int_equal(case__draw(c), 0);
	c->threads[0].legacy_behind = 300;
	c->threads[1].legacy_behind = 300;
	assert_int_equal(case__draw(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "default-stream");
	assert_int_equal(finding->tid, 0);
	/* Of the two that meet. */
	assert_int_equal(finding->cost_ns, 2 * NS_PER_S);
	assert_int_equal(finding->saving_ns, NS_PER_S);
	assert_true(finding__value(finding, "met_share") == 0.3);
	assert_true(finding__value(finding, "threads") == 2);
	/* Three that meet, of which no more than two at a time: what could run side by side are two. */
	c->threads[2].legacy_behind = 300;
	c->threads[2].first_ns = c->threads[1].latest_ns = BEGAN + 5 * NS_PER_S;
	assert_int_equal(case__draw(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, 3 * NS_PER_S / 2);
	c->threads[1].latest_ns = BEGAN + 6 * NS_PER_S;
	assert_int_equal(case__draw(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, 2 * NS_PER_S);
	c->threads[2].legacy_behind = 0;
	/* Too few of all that they launch, or too few. */
	c->threads[0].launches = 10000;
	assert_int_equal(case__draw(c), 0);
	c->threads[0].launches = c->threads[1].launches = 100;
	c->threads[0].legacy_behind = c->threads[1].legacy_behind = 49;
	assert_int_equal(case__draw(c), 0);
	/* One thread, two streams. */
	c->threads[1].legacy_behind = 0;
	c->threads[0].legacy_crossings = 90;
	assert_int_equal(case__draw(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, NS_PER_S / 2);
	case__free(c);
}

/* --- getters --- */

static void chatty_getters(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	case__add_durations(&c->functions[0], "cuPointerGetAttribute", 400000, US);
	case__add_durations(&c->functions[1], "cudaGetDevice", 700000, US / 2);
	/* These ask for errors, or change something. */
	case__add_durations(&c->functions[2], "cudaGetLastError", 10000000, US / 10);
	case__add_durations(&c->functions[3], "cudaSetDevice", 10000000, US / 10);
	c->account.function_count = 4;
	assert_int_equal(case__draw(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "chatty-getters");
	assert_int_equal(finding->severity, SEVERITY_INFO);
	assert_string_equal(finding->subject, "cudaGetDevice");
	assert_int_equal(finding->cost_ns, 750000 * US);
	assert_true(finding__value(finding, "calls") == 1100000);
	assert_true(finding__value(finding, "rate") == 110000);
	assert_string_equal(finding->evidence,
			    "1,100,000 calls that only ask, 110,000/s, took 750 ms, 7.5 % of the time; 700,000 of them "
			    "cudaGetDevice, 500 ns each, up to about a microsecond of it the probe's own time");
	/* 49,000 a second. */
	c->functions[0].time.calls = 90000;
	c->functions[1].time.calls = 400000;
	assert_int_equal(case__draw(c), 0);
	case__free(c);
}

static void nothing_is_no_finding(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	assert_int_equal(case__draw(c), 0);
	c->account.thread_count = 0;
	assert_int_equal(case__draw(c), 0);
	c->process.account = NULL;
	assert_int_equal(case__draw(c), 0);
	case__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences),
		cmocka_unit_test(sequences_are_interrupted),
		cmocka_unit_test(nothing_repeats),
		cmocka_unit_test(sequences_have_names),
		cmocka_unit_test(handles_outlast_their_maps),
		cmocka_unit_test(launch_bound),
		cmocka_unit_test(launch_bound_without_a_sequence),
		cmocka_unit_test(a_late_start_is_no_excuse),
		cmocka_unit_test(full_queues_are_not_launch_bound),
		cmocka_unit_test(waits_are_not_launch_bound),
		cmocka_unit_test(few_launches_are_not_launch_bound),
		cmocka_unit_test(short_lives_are_not_launch_bound),
		cmocka_unit_test(sync_after_every_launch),
		cmocka_unit_test(busy_gpus_are_waited_for),
		cmocka_unit_test(sync_stall),
		cmocka_unit_test(many_threads_are_four_findings),
		cmocka_unit_test(shares_are_of_active_times),
		cmocka_unit_test(implicit_sync),
		cmocka_unit_test(few_implicit_waits),
		cmocka_unit_test(idle_gaps),
		cmocka_unit_test(default_stream),
		cmocka_unit_test(chatty_getters),
		cmocka_unit_test(nothing_is_no_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
