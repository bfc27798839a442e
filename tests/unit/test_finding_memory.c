// SPDX-License-Identifier: BSD-2-Clause
// Findings of memory: what is churned, leaked or left unused, and neighbours of these that are sound.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "finding_run.h"

/* A process that began with the run; its account is on the stack. */
#define PROCESS(account_) \
	{ \
		.pid = 12, .comm = "train", .start_ns = RUN_BEGAN, .account = (account_) \
	}

static void end(struct run *run, struct process *process, double seconds)
{
	process->ended = true;
	process->ended_ns = RUN_BEGAN + (uint64_t)(seconds * 1e9);
	run->model.now_ns = process->ended_ns;
}

/* --- alloc-churn --- */

static struct account_size size_of(const char *function, uint64_t size, uint64_t allocations, uint64_t frees,
				   uint64_t peak)
{
	return (struct account_size){
		.key = {.size = size, .row = row_of(function), .kind = MEMORY_DEVICE},
		.record = {
			.allocations = allocations,
			.allocation_ns = allocations * 412000,
			.frees = frees,
			.free_ns = frees * 23000,
			.live = allocations - frees,
			.peak = peak,
			.first_took_ns = 412000,
		},
	};
}

static void test_churn(void **state)
{
	struct account_size sizes[] = {size_of("cudaMalloc", GIB, 1000, 1000, 1)};
	struct account account = {.sizes = sizes, .size_count = 1};
	struct process process = PROCESS(&account);
	struct run run;
	const struct finding *finding;

	(void)state;
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + 2 * NS_PER_S;
	finding = run__only(&run, "alloc-churn");
	assert_int_equal(run.list.count, 1);
	assert_int_equal(finding->pid, 12);
	assert_string_equal(finding->comm, "train");
	assert_string_equal(finding->subject, "cudaMalloc of 1.0 GiB");
	assert_string_equal(finding->evidence,
			    "1,000 times 1.0 GiB were allocated by cudaMalloc (412 us each) and 1,000 times freed "
			    "(23.0 us each), at most 1 live at a time; that took 435 ms, 21.7 % of the 2.0 s that were "
			    "watched");
	/* But the first allocation. */
	assert_int_equal(finding->cost_ns, 435000000 - 412000);
	assert_true(fabs(finding->share - 0.217294) < 1e-9);
	/* All but the first pair. */
	assert_int_equal(finding->saving_ns, 435000000 - 435000);
	assert_int_equal((int)number_of(finding, "allocations"), 1000);
	assert_true(number_of(finding, "size") == (double)GIB);
	assert_true(number_of(finding, "free_mean") == 23000);
	/* The first allocation made the context: that is not churn. */
	sizes[0].record.allocation_ns += 220 * NS_PER_MS;
	sizes[0].record.first_took_ns += 220 * NS_PER_MS;
	finding = run__only(&run, "alloc-churn");
	assert_int_equal(finding->cost_ns, 435000000 - 412000);
	assert_int_equal(finding->saving_ns, 435000000 - 435000);
	run__end(&run);
}

/* One finding for each function; of several sizes the one that took most time is told. */
static void test_churn_of_several_sizes(void **state)
{
	struct account_size sizes[] = {
		size_of("cudaMalloc", MIB, 100, 100, 2),
		size_of("cudaMalloc", 2 * MIB, 300, 300, 4),
		size_of("cudaMallocHost", MIB, 50, 50, 1),
		/* Not churned: kept, made once, or all live at once. */
		size_of("cudaMalloc", 3 * MIB, 500, 0, 500),
		size_of("cudaMalloc", 4 * MIB, 1, 1, 1),
		size_of("cudaMalloc", 5 * MIB, 700, 700, 700),
	};
	struct account account = {.sizes = sizes, .size_count = sizeof(sizes) / sizeof(*sizes)};
	struct process process = PROCESS(&account);
	struct run run;
	const struct finding *finding;

	(void)state;
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + NS_PER_S;
	assert_int_equal(run__count(&run, "alloc-churn"), 2);
	finding = &run.list.items[0];
	assert_string_equal(finding->subject, "cudaMalloc of 2.0 MiB");
	assert_int_equal(finding->cost_ns, 400 * 435000 - 2 * 412000);
	assert_int_equal(finding->saving_ns, (400 - 2 - 4) * 435000);
	assert_int_equal((int)number_of(finding, "sizes"), 2);
	assert_true(number_of(finding, "all_bytes") == (double)(700 * MIB));
	assert_non_null(strstr(finding->evidence, "that took 173 ms, with 1 other size, 17.3 % of"));
	assert_string_equal(run.list.items[1].subject, "cudaMallocHost of 1.0 MiB");
	run__end(&run);
}

static void test_no_churn(void **state)
{
	struct account_size sizes[100];
	struct account account = {.sizes = sizes, .size_count = 100};
	struct process process = PROCESS(&account);
	struct run run;

	(void)state;
	/* A hundred sizes, each allocated once and freed at the end. */
	for (size_t i = 0; i < 100; i++)
		sizes[i] = size_of("cudaMalloc", MIB + i, 1, 1, 1);
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + NS_PER_S / 10;
	run__finds_nothing(&run);
	/* A hundred buffers of one size, all live at once. */
	sizes[0] = size_of("cudaMalloc", MIB, 100, 100, 100);
	account.size_count = 1;
	run__finds_nothing(&run);
	/* The same in nine steps: each place is filled nine times. In ten it is churn. */
	sizes[0] = size_of("cudaMalloc", MIB, 900, 900, 100);
	run__finds_nothing(&run);
	sizes[0] = size_of("cudaMalloc", MIB, 1000, 1000, 100);
	assert_int_equal(run__count(&run, "alloc-churn"), 1);
	/* What it costs is next to nothing. */
	run.model.now_ns = RUN_BEGAN + 60 * NS_PER_S;
	run__finds_nothing(&run);
	run__set(&run, "alloc-churn=0.1%");
	assert_int_equal(run__count(&run, "alloc-churn"), 1);
	run__set(&run, "alloc-churn.pairs=11");
	run__finds_nothing(&run);
	run__end(&run);
}

/* The place is told where it allocated this size and no other, and how much of it. */
static void test_churn_has_a_place(void **state)
{
	static const struct stack stacks[2] = {{.serial = 1}, {.serial = 2}};
	struct account_size sizes[] = {size_of("cudaMalloc", MIB, 1000, 1000, 1)};
	struct call_site sites[] = {
		{.stack = &stacks[0], .kind = SITE_ALLOCATION, .row = row_of("cudaMalloc"), .calls = 10, .amount = GIB},
		{
			.stack = &stacks[1],
			.kind = SITE_ALLOCATION,
			.row = row_of("cudaMalloc"),
			.calls = 990,
			.amount = 990 * MIB,
		},
	};
	struct account account = {.sizes = sizes, .size_count = 1};
	struct process process = PROCESS(&account);
	struct run run;

	(void)state;
	process.sites = sites;
	process.site_count = 2;
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + NS_PER_S;
	assert_ptr_equal(run__only(&run, "alloc-churn")->stack, &stacks[1]);
	assert_true(number_of(run__only(&run, "alloc-churn"), "allocations_here") == 990);
	sites[1].amount++;
	assert_null(run__only(&run, "alloc-churn")->stack);
	run__end(&run);
}

/* --- leaks by call site --- */

static const struct stack leaking_stack = {.serial = 7};

/* A process with stacks, one of whose sites has something live. */
struct sited {
	struct run run;
	struct live_site live;
	struct call_site site;
	struct device_totals device;
	struct process_gpu process_gpu;
	struct gpu gpu;
	struct process process;
};

static void sited__begin(struct sited *s)
{
	*s = (struct sited){
		.live = {.stack = &leaking_stack, .oldest_ns = RUN_BEGAN},
		.site = {.stack = &leaking_stack, .kind = SITE_ALLOCATION, .row = row_of("cudaMalloc")},
		.gpu = {.uuid = "GPU-1", .mig = GPU_NONE, .total_bytes = 80 * GIB, .used_bytes = 10 * GIB},
		.process = PROCESS(NULL),
	};
	s->process.sites = &s->site;
	s->process.site_count = 1;
	s->process.live_sites = &s->live;
	s->process.live_site_count = 1;
	s->process.devices = &s->device;
	s->process.device_count = 1;
	s->process.gpus = &s->process_gpu;
	s->process.gpu_count = 1;
	run__begin(&s->run, &s->process, 1);
	s->run.model.stacks = true;
	s->run.model.gpus = &s->gpu;
	s->run.model.gpu_count = 1;
}

/* As of the second: so many allocations of 1 MiB so far, and so many of them live. */
static void sited__sample(struct sited *s, double seconds, uint64_t allocations, uint64_t live)
{
	s->site.calls = allocations;
	s->site.amount = allocations * MIB;
	s->live.bytes = live * MIB;
	s->live.count = live;
	s->live.newest_ns = RUN_BEGAN + (uint64_t)(seconds * 1e9);
	s->device.live_bytes = live * MIB;
	run__sample(&s->run, seconds);
}

/* Of the latest draw: so many places were looked at, and of these so many not for long enough. */
static void expect_course(const struct run *run, const char *id, uint64_t places, uint64_t unjudged, uint64_t seconds)
{
	for (size_t i = 0; i < run->list.course_count; i++) {
		const struct finding_course *course = &run->list.courses[i];

		if (strcmp(course->kind->id, id))
			continue;
		assert_int_equal(course->places, places);
		assert_int_equal(course->unjudged, unjudged);
		assert_int_equal(course->followed_ns, seconds * NS_PER_S);
		assert_int_equal(course->needed_ns, (strcmp(id, "fragmentation") ? 50 : 40) * NS_PER_S);
		return;
	}
	assert_int_equal(places, 0);
}

static void test_leak_growing(void **state)
{
	struct sited s;
	const struct finding *finding;

	(void)state;
	sited__begin(&s);
	for (int t = 0; t <= 20; t++)
		sited__sample(&s, t, (uint64_t)t * 10, (uint64_t)t * 2);
	run__finds_nothing(&s.run);
	expect_course(&s.run, "leak-growing", 1, 1, 20);
	for (int t = 21; t <= 100; t++)
		sited__sample(&s, t, (uint64_t)t * 10, (uint64_t)t * 2);
	finding = run__only(&s.run, "leak-growing");
	assert_int_equal(s.run.list.count, 1);
	assert_ptr_equal(finding->stack, &leaking_stack);
	assert_string_equal(finding->subject, "a call site of cudaMalloc");
	assert_true(fabs(number_of(finding, "growth_rate") - 2.0 * MIB) < 0.05 * MIB);
	assert_true(fabs(number_of(finding, "growth") / number_of(finding, "growth_time") * 1e9 - 2.0 * MIB) < 0.05 * MIB);
	assert_true(number_of(finding, "growth") <= 2.0 * 60 * MIB);
	assert_true(number_of(finding, "growth") >= 2.0 * 50 * MIB);
	assert_true(number_of(finding, "live_allocations") == 200);
	assert_true(number_of(finding, "frees") == 800);
	/* 70 GiB are left, 2 MiB a second are taken. */
	assert_true(fabs(number_of(finding, "full_in") - 35840e9) < 1000e9);
	assert_non_null(strstr(finding->evidence, "live memory of this call site grew by 10"));
	assert_non_null(strstr(finding->evidence, "(2.0 MiB/s), to 200.0 MiB in 200 allocations; at this pace its "
						  "device is full in 9 h 57 min"));
	run__set(&s.run, "leak-growing=1GiB");
	run__finds_nothing(&s.run);
	run__set(&s.run, "leak-growing=1M");
	run__draw(&s.run);
	expect_course(&s.run, "leak-growing", 1, 0, 0);
	/* It grew until the process ended, and was live then: that is one fact. */
	end(&s.run, &s.process, 100);
	finding = run__only(&s.run, "leak-at-exit");
	assert_int_equal(s.run.list.count, 1);
	assert_non_null(strstr(finding->evidence, "to 200.0 MiB in 200 allocations when the process ended"));
	assert_ptr_equal(finding->stack, &leaking_stack);
	run__end(&s.run);
}

/* Nothing was ever freed, but it grew to the end. With stacks, sizes are not told beside sites. */
static void test_grew_to_the_end(void **state)
{
	struct account_size size = size_of("cudaMalloc", MIB, 200, 180, 20);
	struct account account = {.sizes = &size, .size_count = 1};
	struct sited s;

	(void)state;
	sited__begin(&s);
	s.process.account = &account;
	for (int t = 0; t <= 100; t++)
		sited__sample(&s, t, (uint64_t)t * 3, (uint64_t)t * 3);
	assert_int_equal(run__count(&s.run, "leak-growing"), 1);
	assert_int_equal(s.run.list.count, 1);
	end(&s.run, &s.process, 100);
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	assert_int_equal(s.run.list.count, 1);
	run__end(&s.run);
}

/* What was live before gpuprobe came is not counted, what takes its place is. */
static void test_replaced_is_no_growth(void **state)
{
	struct sited s;

	(void)state;
	sited__begin(&s);
	s.process.since_attach = true;
	for (int t = 0; t <= 100; t++) {
		s.process.memory[MEMORY_UNKNOWN].unknown_frees = (uint64_t)t * 3;
		sited__sample(&s, t, (uint64_t)t * 3, (uint64_t)t * 3);
	}
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/* What is set up once, comes and goes, or has come to an end does not grow; at exit nothing of it is a leak. */
static void test_nothing_leaks(void **state)
{
	struct sited s;

	(void)state;
	/* PyTorch's caching allocator: segments are taken in the first steps, and nothing is ever freed. */
	sited__begin(&s);
	for (int t = 0; t <= 100; t++)
		sited__sample(&s, t, t < 30 ? (uint64_t)t * 20 : 600, t < 30 ? (uint64_t)t * 20 : 600);
	run__finds_nothing(&s.run);
	end(&s.run, &s.process, 100);
	run__finds_nothing(&s.run);
	run__end(&s.run);
	/* Batches that fill up and are freed; the end comes in the midst of one. */
	sited__begin(&s);
	for (int t = 0; t <= 100; t++)
		sited__sample(&s, t, (uint64_t)t * 1000, (uint64_t)(t % 7));
	run__finds_nothing(&s.run);
	s.live.oldest_ns = RUN_BEGAN + 99990 * NS_PER_MS;
	end(&s.run, &s.process, 100);
	run__finds_nothing(&s.run);
	s.live.oldest_ns = RUN_BEGAN + 91 * NS_PER_S;
	run__finds_nothing(&s.run);
	/* The same with the oldest from 11 s before: it was not in hand. */
	s.live.oldest_ns = RUN_BEGAN + 89 * NS_PER_S;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	run__end(&s.run);
}

static void test_leak_at_exit(void **state)
{
	struct sited s;
	const struct finding *finding;

	(void)state;
	sited__begin(&s);
	/* Too short to say whether it grew: one of ten is kept. */
	sited__sample(&s, 1, 200, 20);
	run__finds_nothing(&s.run);
	expect_course(&s.run, "leak-growing", 1, 1, 0);
	expect_course(&s.run, "leak-at-exit", 0, 0, 0);
	end(&s.run, &s.process, 2);
	finding = run__only(&s.run, "leak-at-exit");
	assert_int_equal(s.run.list.count, 1);
	assert_string_equal(finding->evidence, "180 of 200 allocations of this call site were freed, and 20 (20.0 MiB) "
					       "never: live when the process ended");
	assert_true(number_of(finding, "live_bytes") == 20.0 * MIB);
	/* They are of the last step, or the latest that were made at the pace of the run. */
	s.live.oldest_ns = RUN_BEGAN + 1850 * NS_PER_MS;
	run__finds_nothing(&s.run);
	s.live.count = 60;
	s.live.bytes = 60 * MIB;
	s.live.oldest_ns = RUN_BEGAN + 1500 * NS_PER_MS;
	run__finds_nothing(&s.run);
	s.live.oldest_ns = RUN_BEGAN + 1300 * NS_PER_MS;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	s.live.oldest_ns = RUN_BEGAN;
	expect_course(&s.run, "leak-at-exit", 1, 0, 0);
	/* Half is not most. */
	s.live.count = 100;
	s.live.bytes = 100 * MIB;
	run__finds_nothing(&s.run);
	expect_course(&s.run, "leak-growing", 0, 0, 0);
	expect_course(&s.run, "leak-at-exit", 1, 1, 1);
	run__set(&s.run, "leak-at-exit.freed=40%");
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	run__set(&s.run, "leak-at-exit=101M");
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/* The times of the function's allocations tell of a short burst what was made first in it. */
static void test_leak_at_exit_of_a_burst(void **state)
{
	struct account_size sizes[] = {size_of("cudaMalloc", MIB, 0, 0, 0), size_of("cudaMalloc", 5 * MIB, 0, 0, 0)};
	struct account account = {.sizes = sizes, .size_count = 2};
	struct sited s;

	(void)state;
	sited__begin(&s);
	s.process.account = &account;
	sited__sample(&s, 1, 200, 20);
	/* The 1 MiB ones came within a millisecond of a minute, the other size came before. */
	sizes[0].record.first_ns = RUN_BEGAN + 50 * NS_PER_S;
	sizes[0].record.latest_ns = RUN_BEGAN + 50 * NS_PER_S + NS_PER_MS;
	sizes[1].record.first_ns = RUN_BEGAN;
	sizes[1].record.latest_ns = RUN_BEGAN;
	end(&s.run, &s.process, 60);
	s.live.oldest_ns = sizes[0].record.first_ns + NS_PER_MS / 20;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	s.live.oldest_ns = sizes[0].record.latest_ns - NS_PER_MS / 20;
	run__finds_nothing(&s.run);
	/* Of several sizes only the function's first and last time are known. */
	s.live.oldest_ns = sizes[0].record.first_ns;
	s.site.amount--;
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/* A buffer that is replaced by a larger one again and again; the last one is in use to the end. */
static void test_buffer_that_grew(void **state)
{
	struct sited s;

	(void)state;
	sited__begin(&s);
	sited__sample(&s, 1, 10, 1);
	s.site.amount = 55 * MIB;
	s.live.bytes = 10 * MIB;
	end(&s.run, &s.process, 60);
	run__finds_nothing(&s.run);
	/* Two of them. */
	s.live.count = 2;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	/* One of several of the same size: others came after it. */
	s.live.count = 1;
	s.live.bytes = MIB;
	s.site.amount = 10 * MIB;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	run__end(&s.run);
}

/* Where not all is known, or nothing says that it is one place, nothing is said of frees. */
static void test_leak_at_exit_not_known(void **state)
{
	struct sited s;

	(void)state;
	sited__begin(&s);
	sited__sample(&s, 1, 200, 20);
	end(&s.run, &s.process, 2);
	s.run.model.lost[LOSS_ALLOCATION_MAP_FULL] = 1;
	run__finds_nothing(&s.run);
	s.run.model.lost[LOSS_ALLOCATION_MAP_FULL] = 0;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	s.live.stack = s.site.stack = NULL;
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/* --- leaks by size, where no stacks are taken --- */

static void test_leaks_by_size(void **state)
{
	struct account_size sizes[] = {size_of("cudaMalloc", MIB, 0, 0, 0), size_of("cudaMalloc", 2 * MIB, 64, 0, 64)};
	struct account account = {.sizes = sizes, .size_count = 2};
	struct process process = PROCESS(&account);
	struct run run;
	const struct finding *finding;

	(void)state;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 100; t++) {
		sizes[0].record = (struct size_record){
			.allocations = (uint64_t)t * 3,
			.frees = (uint64_t)t * 2,
			.live = (uint64_t)t,
			.peak = (uint64_t)t,
		};
		run__sample(&run, t);
	}
	finding = run__only(&run, "leak-growing");
	assert_int_equal(run.list.count, 1);
	assert_string_equal(finding->subject, "cudaMalloc of 1.0 MiB");
	assert_null(finding->stack);
	assert_non_null(strstr(finding->evidence, "live memory of this size grew by"));
	end(&run, &process, 100);
	assert_string_equal(run__only(&run, "leak-at-exit")->subject, "cudaMalloc of 1.0 MiB");
	assert_int_equal(run.list.count, 1);
	run__end(&run);
}

static void test_leak_at_exit_by_size(void **state)
{
	struct account_size sizes[] = {size_of("cudaMalloc", MIB, 200, 180, 21)};
	struct account account = {.sizes = sizes, .size_count = 1};
	struct process process = PROCESS(&account);
	struct run run;

	(void)state;
	run__begin(&run, &process, 1);
	end(&run, &process, 60);
	assert_string_equal(run__only(&run, "leak-at-exit")->evidence,
			    "180 of 200 allocations of this size were freed, and 20 (20.0 MiB) never: live when the "
			    "process ended");
	/* Less than there was at times: what is kept does not pile up. */
	sizes[0].record.peak = 40;
	run__finds_nothing(&run);
	/* What the process had in hand. */
	sizes[0] = size_of("cudaMalloc", MIB, 2000, 1996, 4);
	run__finds_nothing(&run);
	sizes[0] = size_of("cudaMalloc", 20 * MIB, 20, 19, 1);
	run__finds_nothing(&run);
	/* Addresses are no memory, and what is mapped is counted where it was made. */
	sizes[0] = size_of("cudaMalloc", MIB, 200, 180, 20);
	sizes[0].key.kind = MEMORY_RESERVED;
	run__finds_nothing(&run);
	sizes[0].key.kind = MEMORY_HOST;
	assert_int_equal(run__count(&run, "leak-at-exit"), 1);
	run__end(&run);
}

/* --- fragmentation --- */

static void test_unused_pool(void **state)
{
	struct pool_totals pool = {.handle = 0x10, .used = GIB, .reserved = 10 * GIB};
	struct process process = PROCESS(NULL);
	struct run run;
	const struct finding *finding;

	(void)state;
	process.pools = &pool;
	process.pool_count = 1;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 39; t++) {
		pool.used = t % 2 ? GIB : 2 * GIB;
		run__sample(&run, t);
	}
	run__finds_nothing(&run);
	expect_course(&run, "fragmentation", 1, 1, 39);
	/* What there was at its lowest decides it already. */
	run__set(&run, "fragmentation=90%");
	run__finds_nothing(&run);
	expect_course(&run, "fragmentation", 1, 0, 0);
	run__set(&run, "fragmentation=50%");
	for (int t = 40; t <= 60; t++)
		run__sample(&run, t);
	finding = run__only(&run, "fragmentation");
	assert_int_equal(run.list.count, 1);
	assert_string_equal(finding->subject, "memory pool 0x10 of device 0");
	assert_string_equal(finding->evidence,
			    "of 10.0 GiB that the pool has reserved at least 8.0 GiB (80.0 %) were not used for 60.0 s, "
			    "at each of 61 readings");
	assert_true(number_of(finding, "unused") == 8.0 * GIB);
	run__set(&run, "fragmentation=90%");
	run__finds_nothing(&run);
	run__set(&run, "fragmentation=50%");
	run__set(&run, "fragmentation.bytes=9G");
	run__finds_nothing(&run);
	run__end(&run);
}

/* A pool that each step fills and empties: at some readings it is in use. */
static void test_pool_in_use(void **state)
{
	struct pool_totals pool = {.handle = 0x10, .reserved = 10 * GIB};
	struct process process = PROCESS(NULL);
	struct run run;

	(void)state;
	process.pools = &pool;
	process.pool_count = 1;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 120; t++) {
		pool.used = t % 30 == 29 ? 8 * GIB : 0;
		run__sample(&run, t);
	}
	run__finds_nothing(&run);
	/* It is not any more. */
	for (int t = 121; t <= 181; t++) {
		pool.used = 0;
		run__sample(&run, t);
	}
	assert_int_equal(run__count(&run, "fragmentation"), 1);
	run__end(&run);
}

static void test_unmapped(void **state)
{
	struct process process = PROCESS(NULL);
	struct run run;
	const struct finding *finding;

	(void)state;
	process.memory[MEMORY_PHYSICAL] = (struct memory_totals){.allocations = 512, .live_bytes = GIB};
	process.memory[MEMORY_MAPPED].live_bytes = GIB / 4;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 60; t++)
		run__sample(&run, t);
	finding = run__only(&run, "fragmentation");
	assert_string_equal(finding->subject, "physical memory that is mapped nowhere");
	assert_string_equal(finding->evidence, "of 1.0 GiB that were created at least 768.0 MiB (75.0 %) were mapped "
					       "nowhere and so not used for 60.0 s, at each of 61 readings");
	/* PyTorch's expandable segments: all is mapped. */
	process.memory[MEMORY_MAPPED].live_bytes = GIB;
	run__sample(&run, 61);
	run__finds_nothing(&run);
	run__end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_churn_of_several_sizes),
		cmocka_unit_test(test_no_churn),
		cmocka_unit_test(test_churn_has_a_place),
		cmocka_unit_test(test_leak_growing),
		cmocka_unit_test(test_grew_to_the_end),
		cmocka_unit_test(test_replaced_is_no_growth),
		cmocka_unit_test(test_nothing_leaks),
		cmocka_unit_test(test_leak_at_exit),
		cmocka_unit_test(test_leak_at_exit_of_a_burst),
		cmocka_unit_test(test_buffer_that_grew),
		cmocka_unit_test(test_leak_at_exit_not_known),
		cmocka_unit_test(test_leaks_by_size),
		cmocka_unit_test(test_leak_at_exit_by_size),
		cmocka_unit_test(test_unused_pool),
		cmocka_unit_test(test_pool_in_use),
		cmocka_unit_test(test_unmapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
