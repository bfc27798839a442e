// SPDX-License-Identifier: BSD-2-Clause
// Kernel series on the metrics page: no counter ever decreases while kernels appear, get names, are
// joined and exceed the limit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "metrics_scene.h"
#include "model_builder.h"
#include "output/metrics/metrics.h"

/* The launches that a page has for a kernel of pid 1; -1 if there is no such series. */
static int64_t reported(const char *page, const char *kernel)
{
	char start[512];
	const char *at;

	snprintf(start, sizeof(start),
		 "gpuprobe_kernel_launches_total{pid=\"1\",comm=\"p\",kernel=\"%s\"} ", kernel);
	at = strstr(page, start);
	return at ? strtoll(at + strlen(start), NULL, 10) : -1;
}

/* A process with kernels, and the metrics for it. */
struct launches {
	struct metrics *metrics;
	struct kernel kernels[16];
	struct process process;
	struct device_totals devices[2];
	struct model model;
	char *page;
};

static void start_launches(struct launches *l, unsigned int limit, size_t count)
{
	memset(l, 0, sizeof(*l));
	l->metrics = new_metrics(limit);
	l->process.pid = 1;
	strcpy(l->process.comm, "p");
	l->process.kernels = l->kernels;
	l->process.kernel_count = count;
	l->model.sections = SECTION_LAUNCH;
	l->model.processes = &l->process;
	l->model.process_count = 1;
}

/* Renders; the total is the sum over the model's kernels. */
static void scrape(struct launches *l)
{
	size_t i;

	l->process.launches = 0;
	for (i = 0; i < l->process.kernel_count; i++)
		l->process.launches += l->kernels[i].launches;
	free(l->page);
	l->page = render(l->metrics, &l->model, EXPOSITION_PROMETHEUS);
}

static void end_launches(struct launches *l)
{
	free(l->page);
	metrics__free(l->metrics);
}

static void the_first_kernels_keep_their_series(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 2, 3);
	/* The model sorts by launches; here the order of appearance decides. */
	l.kernels[0] = (struct kernel)KERNEL(3, "c", "c", 900, 2);
	l.kernels[1] = (struct kernel)KERNEL(1, "a", "a", 10, 0);
	l.kernels[2] = (struct kernel)KERNEL(2, "b", "b", 5, 1);
	scrape(&l);
	assert_int_equal(reported(l.page, "a"), 10);
	assert_int_equal(reported(l.page, "b"), 5);
	assert_int_equal(reported(l.page, "c"), -1);
	assert_int_equal(reported(l.page, "other"), 900);
	l.kernels[3] = (struct kernel)KERNEL(4, "d", "d", 7, 3);
	l.kernels[0].launches = 1000;
	l.process.kernel_count = 4;
	scrape(&l);
	assert_int_equal(reported(l.page, "a"), 10);
	assert_int_equal(reported(l.page, "b"), 5);
	assert_int_equal(reported(l.page, "d"), -1);
	assert_int_equal(reported(l.page, "other"), 1007);
	end_launches(&l);
}

static void no_limit_of_0_but_all_other(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 0, 1);
	l.kernels[0] = (struct kernel)KERNEL(3, "c", "c", 9, 0);
	scrape(&l);
	assert_int_equal(reported(l.page, "c"), -1);
	assert_int_equal(reported(l.page, "other"), 9);
	end_launches(&l);
}

static void start_with_one_nameless(struct launches *l)
{
	start_launches(l, 10, 2);
	l->kernels[0] = (struct kernel)KERNEL(1, "busy", "busy", 1000, 0);
	l->kernels[1] = (struct kernel)KERNEL(2, NULL, NULL, 90, 1);
	scrape(l);
}

static void a_late_name_leaves_other_where_it_was(void **state)
{
	struct launches l;

	(void)state;
	start_with_one_nameless(&l);
	assert_int_equal(reported(l.page, "busy"), 1000);
	assert_int_equal(reported(l.page, "other"), 90);
	l.kernels[0].launches = 5000;
	l.kernels[1] = (struct kernel)KERNEL(2, "late", "late", 100, 1);
	scrape(&l);
	assert_int_equal(reported(l.page, "busy"), 5000);
	assert_int_equal(reported(l.page, "late"), 10);
	assert_int_equal(reported(l.page, "other"), 90);
	l.kernels[1].launches = 101;
	scrape(&l);
	assert_int_equal(reported(l.page, "busy"), 5000);
	assert_int_equal(reported(l.page, "late"), 11);
	assert_int_equal(reported(l.page, "other"), 90);
	end_launches(&l);
}

/* It gets a name, and by the next scrape it already has a newer handle. */
static void a_late_name_with_another_handle(void **state)
{
	struct launches l;

	(void)state;
	start_with_one_nameless(&l);
	l.kernels[0].launches = 5000;
	l.kernels[1] = (struct kernel)KERNEL(3, "late", "late", 100, 1);
	scrape(&l);
	assert_int_equal(reported(l.page, "busy"), 5000);
	assert_int_equal(reported(l.page, "late"), 10);
	assert_int_equal(reported(l.page, "other"), 90);
	end_launches(&l);
}

static void a_name_before_the_first_scrape_is_whole(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 1);
	l.kernels[0] = (struct kernel)KERNEL(2, NULL, NULL, 0, 0);
	scrape(&l);
	assert_int_equal(reported(l.page, "other"), -1);
	l.kernels[0] = (struct kernel)KERNEL(2, "k", "k", 100, 0);
	scrape(&l);
	assert_int_equal(reported(l.page, "k"), 100);
	assert_int_equal(reported(l.page, "other"), -1);
	end_launches(&l);
}

/* Kernels a and b, and a nameless handle that was launched 90 times. */
static void start_with_a_third_nameless(struct launches *l, unsigned int limit, uint64_t a,
					uint64_t b)
{
	start_launches(l, limit, 3);
	l->kernels[0] = (struct kernel)KERNEL(0x1, "a", "a", a, 0);
	l->kernels[1] = (struct kernel)KERNEL(0x2, "b", "b", b, 1);
	l->kernels[2] = (struct kernel)KERNEL(0x3, NULL, NULL, 90, 2);
	scrape(l);
}

/* The handle turns out to belong to b. */
static void join_third_to_second(struct launches *l, uint64_t a, uint64_t b)
{
	l->kernels[0].launches = a;
	l->kernels[1] = (struct kernel)KERNEL(0x3, "b", "b", b, 1);
	l->process.kernel_count = 2;
	scrape(l);
}

/* A reloaded module: the nameless handle turns out to belong to a known kernel. */
static void joined_handles_leave_other_where_it_was(void **state)
{
	struct launches l;

	(void)state;
	start_with_a_third_nameless(&l, 10, 1000, 50);
	assert_int_equal(reported(l.page, "other"), 90);
	/* The first rises by more than the joined launches explain, but has another handle. */
	join_third_to_second(&l, 3000, 50 + 90 + 5);
	assert_int_equal(reported(l.page, "a"), 3000);
	assert_int_equal(reported(l.page, "b"), 55);
	assert_int_equal(reported(l.page, "other"), 90);
	end_launches(&l);
}

static void several_joined_at_once_still_add_up(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 3);
	l.kernels[0] = (struct kernel)KERNEL(0x1, "k", "k", 50, 0);
	l.kernels[1] = (struct kernel)KERNEL(0x3, NULL, NULL, 90, 1);
	l.kernels[2] = (struct kernel)KERNEL(0x4, NULL, NULL, 7, 2);
	scrape(&l);
	l.kernels[0] = (struct kernel)KERNEL(0x4, "k", "k", 50 + 90 + 7 + 1, 0);
	l.process.kernel_count = 1;
	scrape(&l);
	assert_int_equal(reported(l.page, "k"), 51);
	assert_int_equal(reported(l.page, "other"), 97);
	end_launches(&l);
}

static void joined_beyond_the_limit_stays_other(void **state)
{
	struct launches l;

	(void)state;
	start_with_a_third_nameless(&l, 1, 50, 10);
	assert_int_equal(reported(l.page, "other"), 100);
	join_third_to_second(&l, 400, 101);
	assert_int_equal(reported(l.page, "a"), 400);
	assert_int_equal(reported(l.page, "other"), 101);
	end_launches(&l);
}

static void labels_that_are_equal_are_one_series(void **state)
{
	char x[400], y[400];
	struct launches l;

	(void)state;
	memset(x, 'n', sizeof(x));
	x[399] = '\0';
	memcpy(y, x, sizeof(y));
	start_launches(&l, 10, 4);
	l.kernels[0] = (struct kernel)KERNEL(1, x, "x", 100, 0);
	l.kernels[1] = (struct kernel)KERNEL(2, y, "y", 10, 1);
	/* Names that look like the rest, or like no label. */
	l.kernels[2] = (struct kernel)KERNEL(3, "other", "other", 5, 2);
	l.kernels[3] = (struct kernel)KERNEL(4, "", "", 2, 3);
	scrape(&l);
	assert_non_null(strstr(l.page, "\"} 110\n"));
	assert_int_equal(reported(l.page, "other"), 7);
	assert_null(strstr(l.page, "kernel=\"\""));
	/* Cut: 200 bytes of label. */
	assert_int_equal(strcspn(strstr(l.page, "kernel=\"n") + 8, "\""), 200);
	end_launches(&l);
}

static void a_new_process_starts_anew(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 1);
	l.kernels[0] = (struct kernel)KERNEL(2, NULL, NULL, 90, 0);
	scrape(&l);
	assert_int_equal(reported(l.page, "other"), 90);
	l.process.serial = 1;
	l.kernels[0] = (struct kernel)KERNEL(2, "k", "k", 3, 0);
	scrape(&l);
	assert_int_equal(reported(l.page, "k"), 3);
	assert_int_equal(reported(l.page, "other"), -1);
	/* The model dropped the process, and it is back: nothing was kept. */
	l.model.process_count = 0;
	scrape(&l);
	l.model.process_count = 1;
	l.kernels[0].launches = 1;
	scrape(&l);
	assert_int_equal(reported(l.page, "k"), 1);
	end_launches(&l);
}

static void a_process_keeps_its_series_after_its_end(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 1);
	l.kernels[0] = (struct kernel)KERNEL(2, NULL, NULL, 90, 0);
	scrape(&l);
	l.process.ended = true;
	l.process.slot = UINT32_MAX;
	l.kernels[0] = (struct kernel)KERNEL(2, "k", "k", 93, 0);
	scrape(&l);
	assert_int_equal(reported(l.page, "k"), 3);
	assert_int_equal(reported(l.page, "other"), 90);
	end_launches(&l);
}

static void launches_without_a_kernel_are_other(void **state)
{
	struct launches l;

	(void)state;
	start_launches(&l, 10, 1);
	l.kernels[0] = (struct kernel)KERNEL(2, "k", "k", 3, 0);
	l.process.launches = 10;
	l.page = render(l.metrics, &l.model, EXPOSITION_PROMETHEUS);
	assert_int_equal(reported(l.page, "k"), 3);
	assert_int_equal(reported(l.page, "other"), 7);
	end_launches(&l);
}

#define RANDOM_NAMES 6

/* A kernel as the model keeps it while handles appear, get names, are joined. */
struct random_process {
	struct launches l;
	uint64_t serial;
	uint64_t handle;
	int64_t last[RANDOM_NAMES + 1];
};

static void random_step(struct random_process *r)
{
	static char *const names[RANDOM_NAMES] = {"a", "b", "c", "d", "e", "f"};
	size_t *count = &r->l.process.kernel_count, i, k;
	struct kernel *kernels = r->l.kernels;

	for (i = 0; i < *count; i++)
		kernels[i].launches += (uint64_t)(rand() % 50);
	if (*count < COUNT(r->l.kernels) && rand() % 2)
		kernels[(*count)++] = (struct kernel)KERNEL(++r->handle, NULL, NULL,
							    (uint64_t)(rand() % 100), r->serial++);
	for (i = 0; i < *count; i++) {
		char *name = names[rand() % RANDOM_NAMES];

		if (kernels[i].name || rand() % 4)
			continue;
		for (k = 0; k < *count && (!kernels[k].name || kernels[k].name != name); k++)
			;
		if (k == *count) {
			kernels[i].name = kernels[i].short_name = name;
			continue;
		}
		kernels[k].launches += kernels[i].launches;
		kernels[k].handle = kernels[i].handle;
		kernels[i--] = kernels[--(*count)];
	}
}

static void never_goes_back(void **state)
{
	static const char *const labels[] = {"a", "b", "c", "d", "e", "f", "other"};
	struct random_process r;
	unsigned int limit;
	int step;
	size_t i;

	(void)state;
	srand(1);
	for (limit = 0; limit <= 6; limit++) {
		memset(&r, 0, sizeof(r));
		start_launches(&r.l, limit, 0);
		for (step = 0; step < 300; step++) {
			int64_t sum = 0;

			random_step(&r);
			scrape(&r.l);
			for (i = 0; i < COUNT(labels); i++) {
				int64_t now = reported(r.l.page, labels[i]);

				now = now < 0 ? 0 : now;
				assert_true(now >= r.last[i]);
				r.last[i] = now;
				sum += now;
			}
			assert_int_equal(sum, r.l.process.launches);
		}
		end_launches(&r.l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_kernels_keep_their_series),
		cmocka_unit_test(no_limit_of_0_but_all_other),
		cmocka_unit_test(a_late_name_leaves_other_where_it_was),
		cmocka_unit_test(a_late_name_with_another_handle),
		cmocka_unit_test(a_name_before_the_first_scrape_is_whole),
		cmocka_unit_test(joined_handles_leave_other_where_it_was),
		cmocka_unit_test(several_joined_at_once_still_add_up),
		cmocka_unit_test(joined_beyond_the_limit_stays_other),
		cmocka_unit_test(labels_that_are_equal_are_one_series),
		cmocka_unit_test(a_new_process_starts_anew),
		cmocka_unit_test(a_process_keeps_its_series_after_its_end),
		cmocka_unit_test(launches_without_a_kernel_are_other),
		cmocka_unit_test(never_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
