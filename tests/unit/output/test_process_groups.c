// SPDX-License-Identifier: BSD-2-Clause
// Groups of processes in the metrics: their sums, what stays of ended ones, limits, labels.
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
#include "target/workload.h"

#define KERNELS 3

static struct metrics *grouped(enum metrics_by by)
{
	struct metrics_options options = {.kernels = KERNELS, .version = "0", .by = by};
	struct metrics *metrics = metrics__new(&options);

	assert_non_null(metrics);
	return metrics;
}

static struct process process_of(int32_t pid, const char *user, uint64_t frees)
{
	struct process p = {
		.serial = (uint64_t)pid,
		.pid = pid,
		.comm = "train",
		.identified = true,
		.cgroup_known = true,
		.double_frees = frees,
	};

	snprintf(p.user, sizeof(p.user), "%s", user);
	return p;
}

static char *page_of(struct metrics *metrics, struct process *processes, size_t count)
{
	const struct model model = {.processes = processes,
				    .process_count = count,
				    .sections = SECTION_ALL,
				    .now_ns = 1000000};

	return render(metrics, &model, EXPOSITION_PROMETHEUS);
}

static void expect(struct metrics *metrics, struct process *processes, size_t count,
		   const char *line)
{
	char *page = page_of(metrics, processes, count);

	if (!strstr(page, line))
		fail_msg("no %s in:\n%s", line, page);
	free(page);
}

static void expect_not(struct metrics *metrics, struct process *processes, size_t count,
		       const char *line)
{
	char *page = page_of(metrics, processes, count);

	if (strstr(page, line))
		fail_msg("%s in:\n%s", line, page);
	free(page);
}

static void counters_outlive_their_processes(void **state)
{
	struct metrics *metrics = grouped(METRICS_BY_USER);
	struct process list[] = {process_of(1, "ann", 5), process_of(2, "ann", 7),
				 process_of(3, "bob", 1)};

	(void)state;
	expect(metrics, list, 3, "\ngpuprobe_double_frees_total{user=\"ann\"} 12\n");
	expect(metrics, list, 3, "\ngpuprobe_double_frees_total{user=\"bob\"} 1\n");
	expect(metrics, list, 3, "\ngpuprobe_processes{user=\"ann\"} 2\n");
	list[0].double_frees = 6;
	expect(metrics, list, 3, "\ngpuprobe_double_frees_total{user=\"ann\"} 13\n");
	/* The second is gone, and so is bob. */
	expect(metrics, list, 1, "\ngpuprobe_double_frees_total{user=\"ann\"} 13\n");
	expect_not(metrics, list, 1, "user=\"bob\"");
	/* Bob's next process goes on where the first one ended, even with its pid. */
	list[1] = process_of(3, "bob", 2);
	list[1].serial = 4;
	expect(metrics, list, 2, "\ngpuprobe_double_frees_total{user=\"bob\"} 3\n");
	/* A counter that falls for a moment is no loss, and counts nothing twice. */
	list[0].double_frees = 2;
	expect(metrics, list, 2, "\ngpuprobe_double_frees_total{user=\"ann\"} 13\n");
	list[0].double_frees = 7;
	expect(metrics, list, 2, "\ngpuprobe_double_frees_total{user=\"ann\"} 14\n");
	metrics__free(metrics);
}

/* Programs invent sizes. A sum beyond the largest number would go back. */
static void sums_end_at_the_largest_number(void **state)
{
	struct metrics *metrics = grouped(METRICS_BY_USER);
	struct process list[] = {process_of(1, "ann", UINT64_MAX - 1), process_of(2, "ann", 1)};
	const char *line = "\ngpuprobe_double_frees_total{user=\"ann\"} 18446744073709551615\n";

	(void)state;
	list[0].memory[MEMORY_DEVICE].live_bytes = UINT64_MAX;
	list[1].memory[MEMORY_DEVICE].live_bytes = 2;
	expect(metrics, list, 2, line);
	expect(metrics, list, 2,
	       "\ngpuprobe_memory_live_bytes{user=\"ann\",kind=\"device\"} "
	       "18446744073709551615\n");
	list[1].double_frees = 9;
	expect(metrics, list, 2, line);
	expect(metrics, list, 1, line);
	metrics__free(metrics);
}

static void gauges_are_of_now(void **state)
{
	struct metrics *metrics = grouped(METRICS_BY_USER);
	struct process list[] = {process_of(1, "ann", 0), process_of(2, "ann", 0)};

	(void)state;
	list[0].memory[MEMORY_DEVICE].live_bytes = 100;
	list[1].memory[MEMORY_DEVICE].live_bytes = 50;
	list[0].copies[COPY_H2D][1].calls = list[1].copies[COPY_H2D][1].calls = 1;
	list[0].inflight[COPY_H2D].oldest_ns = 2000000000;
	list[1].inflight[COPY_H2D].oldest_ns = 3000000000;
	expect(metrics, list, 2,
	       "\ngpuprobe_memory_live_bytes{user=\"ann\",kind=\"device\"} 150\n");
	expect(metrics, list, 2,
	       "\ngpuprobe_copies_inflight_oldest_seconds{user=\"ann\",kind=\"H2D\"} 3\n");
	list[0].memory[MEMORY_DEVICE].live_bytes = 1;
	expect(metrics, list, 1, "\ngpuprobe_memory_live_bytes{user=\"ann\",kind=\"device\"} 1\n");
	metrics__free(metrics);
}

static void pids_are_nowhere(void **state)
{
	struct metrics *metrics = grouped(METRICS_BY_CONTAINER);
	struct busy b;
	char *page;

	(void)state;
	fill_busy(&b);
	page = render(metrics, &b.model, EXPOSITION_PROMETHEUS);
	assert_null(strstr(page, "pid=\""));
	assert_null(strstr(page, "comm=\""));
	assert_null(strstr(page, "gpuprobe_process_info"));
	assert_non_null(strstr(page, "\ngpuprobe_processes{namespace=\"\",pod=\"\",container=\"\","
				     "container_id=\"c0ffee\"} "));
	free(page);
	metrics__free(metrics);
}

/* The group is the container's; its names come when the kubelet has them. */
static void names_come_late(void **state)
{
	struct workload workload = {.namespace = "ml", .pod = "train-7", .container = "trainer"};
	struct metrics *metrics = grouped(METRICS_BY_CONTAINER);
	struct process p = process_of(1, "root", 4);

	(void)state;
	strcpy(p.container, "abc");
	expect(metrics, &p, 1,
	       "gpuprobe_double_frees_total{namespace=\"\",pod=\"\",container=\"\","
	       "container_id=\"abc\"} 4\n");
	p.workload = &workload;
	expect(metrics, &p, 1,
	       "gpuprobe_double_frees_total{namespace=\"ml\",pod=\"train-7\","
	       "container=\"trainer\",container_id=\"abc\"} 4\n");
	metrics__free(metrics);
}

static void jobs(void **state)
{
	struct workload first = {.slurm_job = "12"}, second = {.slurm_job = "13"},
			pbs = {.pbs_job = "7.a"}, nameless = {.slurm_sluid = "s5"};
	struct metrics *metrics = grouped(METRICS_BY_JOB);
	struct process list[] = {process_of(1, "ann", 1), process_of(2, "ann", 2),
				 process_of(3, "ann", 3), process_of(4, "ann", 4),
				 process_of(5, "ann", 5), process_of(6, "ann", 6),
				 process_of(7, "ann", 7)};

	(void)state;
	list[0].workload = list[2].workload = &first;
	list[1].workload = &second;
	expect(metrics, list, 4, "\ngpuprobe_double_frees_total{slurm_job_id=\"12\"} 4\n");
	expect(metrics, list, 4, "\ngpuprobe_double_frees_total{slurm_job_id=\"13\"} 2\n");
	expect(metrics, list, 4, "\ngpuprobe_double_frees_total{slurm_job_id=\"\"} 4\n");
	/* A job of PBS is another group than the processes in no job. */
	list[4].workload = &pbs;
	expect(metrics, list, 5,
	       "\ngpuprobe_double_frees_total{slurm_job_id=\"\",pbs_job_id=\"7.a\"} 5\n");
	expect(metrics, list, 5, "\ngpuprobe_double_frees_total{slurm_job_id=\"\"} 4\n");
	/* One that ended too early to look. */
	list[5].cgroup_known = false;
	expect(metrics, list, 6, "\ngpuprobe_double_frees_total{slurm_job_id=\"unknown\"} 6\n");
	expect(metrics, list, 6, "\ngpuprobe_double_frees_total{slurm_job_id=\"\"} 4\n");
	/* A job of which only the SLUID is known. */
	list[6].workload = &nameless;
	expect(metrics, list, 7,
	       "\ngpuprobe_double_frees_total{slurm_job_id=\"\",slurm_sluid=\"s5\"} 7\n");
	metrics__free(metrics);
}

/* Further groups are "other", and get their own series once there is room. */
static void groups_have_a_limit(void **state)
{
	struct process *list = calloc(GROUPS_MAX + 10, sizeof(*list));
	struct metrics *metrics = grouped(METRICS_BY_USER);
	char user[16];

	(void)state;
	for (int i = 0; i < GROUPS_MAX + 10; i++) {
		snprintf(user, sizeof(user), "u%d", i);
		list[i] = process_of(i + 1, user, 1);
	}
	expect(metrics, list, GROUPS_MAX + 10,
	       "\ngpuprobe_double_frees_total{user=\"other\"} 10\n");
	expect(metrics, list, GROUPS_MAX + 10, "\ngpuprobe_processes{user=\"other\"} 10\n");
	/* The first one is gone for two pages: its place is free. */
	expect_not(metrics, list + 1, GROUPS_MAX - 1, "user=\"u0\"");
	expect_not(metrics, list + 1, GROUPS_MAX - 1, "user=\"other\"");
	list[0] = process_of(5000, "new", 1);
	expect(metrics, list, GROUPS_MAX, "\ngpuprobe_double_frees_total{user=\"new\"} 1\n");
	metrics__free(metrics);
	free(list);
}

/* Two processes, each with as many kernels as a group may have, of other names. */
static void kernels_have_a_limit(void **state)
{
	struct kernel first[] = {KERNEL(1, "a", "a", 1, 0), KERNEL(2, "b", "b", 2, 1),
				 KERNEL(3, "c", "c", 4, 2)};
	struct kernel second[] = {KERNEL(1, "d", "d", 8, 0), KERNEL(2, "e", "e", 16, 1),
				  KERNEL(3, "c", "c", 32, 2)};
	struct metrics *metrics = grouped(METRICS_BY_USER);
	struct process list[] = {process_of(1, "ann", 0), process_of(2, "ann", 0)};

	(void)state;
	list[0].kernels = first;
	list[1].kernels = second;
	list[0].kernel_count = list[1].kernel_count = 3;
	list[0].launches = 7;
	list[1].launches = 56;
	for (int i = 0; i < 2; i++) {
		expect(metrics, list, 2,
		       "\ngpuprobe_kernel_launches_total{user=\"ann\",kernel=\"c\"} 36\n");
		expect(metrics, list, 2,
		       "\ngpuprobe_kernel_launches_total{user=\"ann\",kernel=\"other\"} 24\n");
	}
	expect_not(metrics, list, 2, "kernel=\"d\"");
	metrics__free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_outlive_their_processes),
		cmocka_unit_test(sums_end_at_the_largest_number),
		cmocka_unit_test(gauges_are_of_now),
		cmocka_unit_test(pids_are_nowhere),
		cmocka_unit_test(names_come_late),
		cmocka_unit_test(jobs),
		cmocka_unit_test(groups_have_a_limit),
		cmocka_unit_test(kernels_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
