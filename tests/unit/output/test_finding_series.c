// SPDX-License-Identifier: BSD-2-Clause
// Findings on the metrics page: what is 1, what has become 0, that costs never decrease, and what
// is forgotten.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/metrics/metrics.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MS 1000000ull

/* Consecutive pages for processes that come and go. */
struct pages {
	struct metrics *metrics;
	struct process processes[4];
	struct model model;
};

static void set_up(struct pages *pages)
{
	const struct metrics_options options = {.kernels = 1, .version = "0"};

	*pages = (struct pages){
		.metrics = metrics__new(&options),
		.processes =
			{
				{.pid = 7, .comm = "train", .start_ns = 70},
				{.pid = 8, .comm = "serve", .start_ns = 80},
			},
	};
	assert_non_null(pages->metrics);
	pages->model.processes = pages->processes;
	pages->model.process_count = 2;
}

static struct finding drawn(const char *id, int32_t pid, uint64_t cost_ns)
{
	struct finding finding = {
		.kind = finding_kind__find(id),
		.pid = pid,
		.start_ns = (uint64_t)pid * 10,
		.has_cost = cost_ns,
		.cost_ns = cost_ns,
	};

	assert_non_null(finding.kind);
	finding.severity = finding.kind->severity;
	return finding;
}

static char *render(struct pages *pages, struct finding *findings, size_t count,
		    enum exposition form)
{
	const struct finding_list list = {.items = findings, .count = count};
	size_t length;
	char *page;
	FILE *out = open_memstream(&page, &length);

	assert_non_null(out);
	assert_int_equal(metrics__render(pages->metrics, out, &pages->model, &list, form), 0);
	assert_int_equal(fclose(out), 0);
	return page;
}

/* The finding samples, one a line, of a page with these findings. */
static void assert_reported(struct pages *pages, struct finding *findings, size_t count,
			    const char *expected)
{
	char *page = render(pages, findings, count, EXPOSITION_PROMETHEUS), reported[2048] = "";
	size_t used = 0;

	for (char *line = strtok(page, "\n"); line; line = strtok(NULL, "\n"))
		if (!strncmp(line, "gpuprobe_finding_", strlen("gpuprobe_finding_")))
			used += (size_t)snprintf(reported + used, sizeof(reported) - used, "%s\n",
						 line + strlen("gpuprobe_finding_"));
	assert_string_equal(reported, expected);
	free(page);
}

#define ACTIVE(id, pid, severity, value) \
	"active{id=\"" id "\",pid=\"" pid "\",severity=\"" severity "\"} " value "\n"
#define COST(id, pid, value) "cost_seconds_total{id=\"" id "\",pid=\"" pid "\"} " value "\n"

static void test_what_is_drawn_is_1(void **state)
{
	struct pages pages;
	struct finding findings[] = {
		drawn("oom", 8, 0),
		drawn("pageable-copies", 7, 1500 * MS),
		drawn("error-storm", 7, 0),
	};

	(void)state;
	set_up(&pages);
	assert_reported(&pages, NULL, 0, "");
	assert_reported(&pages, findings, COUNT(findings),
			ACTIVE("pageable-copies", "7", "warning", "1")
				ACTIVE("error-storm", "7", "warning", "1")
					ACTIVE("oom", "8", "critical", "1")
						COST("pageable-copies", "7", "1.5"));
	metrics__free(pages.metrics);
}

static void test_what_was_drawn_is_0(void **state)
{
	struct pages pages;
	struct finding copies = drawn("pageable-copies", 7, 1500 * MS), oom = drawn("oom", 7, 0);

	(void)state;
	set_up(&pages);
	assert_reported(&pages, &copies, 1,
			ACTIVE("pageable-copies", "7", "warning", "1")
				COST("pageable-copies", "7", "1.5"));
	assert_reported(&pages, &oom, 1,
			ACTIVE("pageable-copies", "7", "warning", "0")
				ACTIVE("oom", "7", "critical", "1")
					COST("pageable-copies", "7", "1.5"));
	assert_reported(&pages, NULL, 0,
			ACTIVE("pageable-copies", "7", "warning", "0")
				ACTIVE("oom", "7", "critical", "0")
					COST("pageable-copies", "7", "1.5"));
	metrics__free(pages.metrics);
}

static void test_costs_never_go_back(void **state)
{
	static const struct {
		uint64_t ms;
		const char *reported;
	} rounds[] = {{1500, "1.5"}, {1200, "1.5"}, {2000, "2"},
		      {0, "2"},	     {1999, "2"},   {2001, "2.001"}};
	struct pages pages;
	char expected[256];

	(void)state;
	set_up(&pages);
	for (size_t i = 0; i < COUNT(rounds); i++) {
		struct finding copies = drawn("pageable-copies", 7, rounds[i].ms * MS);

		snprintf(expected, sizeof(expected),
			 ACTIVE("pageable-copies", "7", "warning", "1")
				 COST("pageable-copies", "7", "%s"),
			 rounds[i].reported);
		assert_reported(&pages, &copies, 1, expected);
	}
	metrics__free(pages.metrics);
}

/* Several findings with one id, about threads or devices, are one series. */
static void test_costs_of_one_id_add_up(void **state)
{
	struct pages pages;
	struct finding findings[] = {
		drawn("sync-stall", 7, 1000 * MS),
		drawn("sync-stall", 7, 250 * MS),
		drawn("sync-stall", 8, 5 * MS),
	};

	(void)state;
	set_up(&pages);
	assert_reported(
		&pages, findings, 3,
		ACTIVE("sync-stall", "7", "warning", "1") ACTIVE("sync-stall", "8", "warning", "1")
			COST("sync-stall", "7", "1.25") COST("sync-stall", "8", "0.005"));
	assert_reported(
		&pages, findings, 1,
		ACTIVE("sync-stall", "7", "warning", "1") ACTIVE("sync-stall", "8", "warning", "0")
			COST("sync-stall", "7", "1.25") COST("sync-stall", "8", "0.005"));
	metrics__free(pages.metrics);
}

static void test_severity_changes(void **state)
{
	struct pages pages;
	struct finding finding = drawn("error-storm", 7, 0);

	(void)state;
	set_up(&pages);
	assert_reported(&pages, &finding, 1, ACTIVE("error-storm", "7", "warning", "1"));
	finding.severity = SEVERITY_CRITICAL;
	assert_reported(&pages, &finding, 1,
			ACTIVE("error-storm", "7", "warning", "0")
				ACTIVE("error-storm", "7", "critical", "1"));
	metrics__free(pages.metrics);
}

/* A process that reuses another's pid has no past. */
static void test_processes_leave(void **state)
{
	struct pages pages;
	struct finding copies = drawn("pageable-copies", 7, 1500 * MS);

	(void)state;
	set_up(&pages);
	assert_reported(&pages, &copies, 1,
			ACTIVE("pageable-copies", "7", "warning", "1")
				COST("pageable-copies", "7", "1.5"));
	pages.processes[0].start_ns = 71;
	assert_reported(&pages, NULL, 0, "");
	copies.start_ns = 71;
	copies.cost_ns = 3 * MS;
	assert_reported(&pages, &copies, 1,
			ACTIVE("pageable-copies", "7", "warning", "1")
				COST("pageable-copies", "7", "0.003"));
	pages.model.process_count = 0;
	assert_reported(&pages, NULL, 0, "");
	pages.model.process_count = 2;
	assert_reported(&pages, NULL, 0, "");
	metrics__free(pages.metrics);
}

/* If two processes have the same pid, the newest is on the page, with its findings. */
static void test_one_of_each_pid(void **state)
{
	struct pages pages;
	struct finding findings[] = {drawn("oom", 7, 0), drawn("error-storm", 7, 0)};

	(void)state;
	set_up(&pages);
	pages.processes[1] = (struct process){.pid = 7, .comm = "new", .start_ns = 71};
	findings[1].start_ns = 71;
	assert_reported(&pages, findings, 2, ACTIVE("error-storm", "7", "warning", "1"));
	metrics__free(pages.metrics);
}

static void test_findings_of_no_one_process(void **state)
{
	struct pages pages;
	struct finding finding = drawn("device-imbalance", 0, 0);

	(void)state;
	set_up(&pages);
	assert_reported(&pages, &finding, 1, ACTIVE("device-imbalance", "", "warning", "1"));
	pages.model.process_count = 0;
	assert_reported(&pages, NULL, 0, ACTIVE("device-imbalance", "", "warning", "0"));
	metrics__free(pages.metrics);
}

static void test_no_families_where_none_are_drawn(void **state)
{
	struct pages pages;
	size_t length;
	char *page;
	FILE *out = open_memstream(&page, &length);

	(void)state;
	set_up(&pages);
	assert_int_equal(
		metrics__render(pages.metrics, out, &pages.model, NULL, EXPOSITION_PROMETHEUS), 0);
	assert_int_equal(fclose(out), 0);
	assert_null(strstr(page, "gpuprobe_finding"));
	free(page);
	metrics__free(pages.metrics);
}

static void test_both_forms(void **state)
{
	struct pages pages;
	struct finding findings[] = {drawn("pageable-copies", 7, 1500 * MS), drawn("oom", 8, 0),
				     drawn("device-imbalance", 0, 0)};
	char *page;
	FILE *promtool;

	(void)state;
	set_up(&pages);
	page = render(&pages, findings, COUNT(findings), EXPOSITION_OPENMETRICS);
	assert_non_null(strstr(page, "# TYPE gpuprobe_finding_active gauge\n"));
	assert_non_null(strstr(page, "# TYPE gpuprobe_finding_cost_seconds counter\n"
				     "# UNIT gpuprobe_finding_cost_seconds seconds\n"));
	free(page);
	page = render(&pages, findings, COUNT(findings), EXPOSITION_PROMETHEUS);
	if (!system("command -v promtool >/dev/null 2>&1")) {
		promtool = popen("promtool check metrics >&2", "w");
		assert_non_null(promtool);
		fputs(page, promtool);
		assert_int_equal(pclose(promtool), 0);
	}
	free(page);
	metrics__free(pages.metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_drawn_is_1),
		cmocka_unit_test(test_what_was_drawn_is_0),
		cmocka_unit_test(test_costs_never_go_back),
		cmocka_unit_test(test_costs_of_one_id_add_up),
		cmocka_unit_test(test_severity_changes),
		cmocka_unit_test(test_processes_leave),
		cmocka_unit_test(test_one_of_each_pid),
		cmocka_unit_test(test_findings_of_no_one_process),
		cmocka_unit_test(test_no_families_where_none_are_drawn),
		cmocka_unit_test(test_both_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
