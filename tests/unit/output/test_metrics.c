// SPDX-License-Identifier: BSD-2-Clause
// The metrics page of models built by hand: its families, labels and sections, promtool's opinion
// of it, and that a failed write is reported.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "api/api.h"
#include "metrics_scene.h"
#include "model_builder.h"
#include "output/metrics/metrics.h"

#define OF_TRAIN "pid=\"42\",comm=\"train\""

static const struct {
	const char *family;
	const char *unit;
} counter_families[] = {
	{"gpuprobe_allocations", NULL},
	{"gpuprobe_allocation_failures", NULL},
	{"gpuprobe_frees", NULL},
	{"gpuprobe_free_failures", NULL},
	{"gpuprobe_allocation_seconds", "seconds"},
	{"gpuprobe_live_at_exit_bytes", "bytes"},
	{"gpuprobe_kernel_launches", NULL},
	{"gpuprobe_graph_launches", NULL},
	{"gpuprobe_copies", NULL},
	{"gpuprobe_copy_bytes", "bytes"},
	{"gpuprobe_copy_seconds", "seconds"},
	{"gpuprobe_waits", NULL},
	{"gpuprobe_wait_seconds", "seconds"},
	{"gpuprobe_queries", NULL},
	{"gpuprobe_errors", NULL},
	{"gpuprobe_events_lost", NULL},
	{"process_cpu_seconds", "seconds"},
};

static void names_openmetrics_families(void **state)
{
	struct busy b;
	char *page;
	size_t i;

	(void)state;
	fill_busy(&b);
	page = render_once(&b.model, EXPOSITION_OPENMETRICS);
	for (i = 0; i < COUNT(counter_families); i++) {
		const char *family = counter_families[i].family;

		assert_has(page, "# TYPE %s counter\n", family, NULL);
		assert_has(page, "# HELP %s ", family, NULL);
		assert_has(page, "\n%s_total", family, NULL);
		assert_has_not(page, "# TYPE %s_total", family);
		if (counter_families[i].unit)
			assert_has(page, "# UNIT %s %s\n", family, counter_families[i].unit);
		else
			assert_has_not(page, "# UNIT %s ", family);
	}
	assert_has(page, "# UNIT gpuprobe_memory_live_bytes bytes\n", NULL, NULL);
	assert_has(page, "# UNIT process_start_time_seconds seconds\n", NULL, NULL);
	assert_has(page, "# TYPE gpuprobe_build info\n", NULL, NULL);
	assert_has(page, "\ngpuprobe_build_info{version=\"0.1.0\"} 1\n", NULL, NULL);
	free(page);
}

/* The family of the sample that begins at `line`. */
static void family_of(const char *line, char *family, size_t size)
{
	size_t n = strcspn(line, "{ ");

	if (n > 6 && !memcmp(line + n - 6, "_total", 6))
		n -= 6;
	else if (n > 5 && !memcmp(line + n - 5, "_info", 5))
		n -= 5;
	assert_true(n < size);
	memcpy(family, line, n);
	family[n] = '\0';
}

/* Reads line by line: metadata starts a new family, and samples belong to the current one. */
static void keeps_families_together(void **state)
{
	char seen[96][64], family[64] = "";
	size_t families = 0, i;
	struct busy b;
	char *page, *line, *next;

	(void)state;
	fill_busy(&b);
	page = render_once(&b.model, EXPOSITION_OPENMETRICS);
	for (line = page; *line; line = next) {
		next = strchr(line, '\n');
		assert_non_null(next);
		*next++ = '\0';
		assert_true(*line);
		if (!strcmp(line, "# EOF")) {
			assert_int_equal(*next, 0);
			continue;
		}
		if (!strncmp(line, "# TYPE ", 7)) {
			assert_int_equal(sscanf(line, "# TYPE %63s", seen[families]), 1);
			for (i = 0; i < families; i++)
				assert_string_not_equal(seen[i], seen[families]);
			assert_true(++families < COUNT(seen));
			continue;
		}
		if (*line == '#')
			assert_int_equal(sscanf(line, "# %*s %63s", family), 1);
		else
			family_of(line, family, sizeof(family));
		assert_string_equal(family, seen[families - 1]);
	}
	assert_string_equal(page + (line - page) - 6, "# EOF");
	free(page);
}

static void exports_chosen_sections_only(void **state)
{
	static const struct {
		unsigned int section;
		const char *family;
	} cases[] = {
		{SECTION_MEMORY, "gpuprobe_memory_live_bytes"},
		{SECTION_MEMORY, "gpuprobe_allocations"},
		{SECTION_MEMORY, "gpuprobe_live_at_exit_bytes"},
		{SECTION_LAUNCH, "gpuprobe_kernel_launches"},
		{SECTION_LAUNCH, "gpuprobe_graph_launches"},
		{SECTION_COPY, "gpuprobe_copies"},
		{SECTION_COPY, "gpuprobe_copy_seconds"},
		{SECTION_COPY, "gpuprobe_waits"},
		{SECTION_COPY, "gpuprobe_wait_seconds"},
		{SECTION_COPY, "gpuprobe_queries"},
	};
	unsigned int section;
	struct busy b;
	char *page;
	size_t i;

	(void)state;
	fill_busy(&b);
	for (section = SECTION_MEMORY; section <= SECTION_COPY; section <<= 1) {
		b.model.sections = section;
		page = render_once(&b.model, EXPOSITION_PROMETHEUS);
		for (i = 0; i < COUNT(cases); i++) {
			if (cases[i].section == section)
				assert_has(page, "%s", cases[i].family, NULL);
			else
				assert_has_not(page, "%s", cases[i].family);
		}
		assert_has(page, "gpuprobe_errors_total{", NULL, NULL);
		assert_has(page, "gpuprobe_events_lost_total{", NULL, NULL);
		free(page);
	}
}

static void escapes_labels(void **state)
{
	struct busy b;
	char *page;

	(void)state;
	fill_busy(&b);
	memcpy(b.process.comm, "a\"b\\c\nd\xff\xc3", 10);
	b.kernels[0].name = "k<\"\\x\">(gr\xc3\xbc\xc3\x9f)";
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	assert_has(page,
		   "gpuprobe_graph_launches_total{pid=\"42\",comm=\"a\\\"b\\\\c\\nd\xef\xbf\xbd"
		   "\xef\xbf\xbd\"} 9\n",
		   NULL, NULL);
	assert_has(page, "kernel=\"k<\\\"\\\\x\\\">(gr\xc3\xbc\xc3\x9f)\"} 20\n", NULL, NULL);
	free(page);
}

/*
 * A terminal that shows the page does not act on it, and a line-based reader sees no extra lines; a
 * text may still look like escapes.
 */
static void shows_control_characters(void **state)
{
	static const struct {
		const char *comm, *label;
	} cases[] = {
		{"a\x1b]0;x\ab", "a\\\\x1b]0;x\\\\x07b"},
		{"a\tb\rc", "a\\\\x09b\\\\x0dc"},
		{"\x7f\xc2\x9b", "\\\\x7f\\\\xc2\\\\x9b"},
		{"\xe2\x80\xae\xe2\x80\xa8", "\\\\xe2\\\\x80\\\\xae\\\\xe2\\\\x80\\\\xa8"},
		{"a\\x1b", "a\\\\x1b"},
		{"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct busy b;
		char *page, wanted[128];

		fill_busy(&b);
		strcpy(b.process.comm, cases[i].comm);
		page = render_once(&b.model,
				   i % 2 ? EXPOSITION_OPENMETRICS : EXPOSITION_PROMETHEUS);
		snprintf(wanted, sizeof(wanted), "comm=\"%s\"} 9\n", cases[i].label);
		assert_non_null(strstr(page, wanted));
		for (const char *c = page; *c; c++)
			assert_true(*c == '\n' || (unsigned char)*c >= ' ');
		free(page);
	}
}

static void takes_the_newest_of_a_pid(void **state)
{
	struct process p[] = {
		{.pid = 8, .comm = "old", .ended = true, .graph_launches = 1, .start_ns = 1},
		{.pid = 3, .comm = "other", .graph_launches = 2, .start_ns = 2},
		{.pid = 8, .comm = "new", .graph_launches = 3, .start_ns = 3},
		{.pid = 4,
		 .comm = "gone",
		 .graph_launches = 4,
		 .ended = true,
		 .reported_end = true,
		 .ended_ns = 2},
		{.pid = 5, .comm = "left", .graph_launches = 5, .ended = true, .ended_ns = 1},
	};
	struct model model = {
		.sections = SECTION_LAUNCH,
		.processes = p,
		.process_count = COUNT(p),
		.now_ns = 1 + SERIES_ENDED_NS,
	};
	char *page = render_once(&model, EXPOSITION_PROMETHEUS);

	(void)state;
	assert_has(page,
		   "gpuprobe_graph_launches_total{pid=\"3\",comm=\"other\"} 2\n"
		   "gpuprobe_graph_launches_total{pid=\"8\",comm=\"new\"} 3\n"
		   "gpuprobe_graph_launches_total{pid=\"4\",comm=\"gone\"} 4\n#",
		   NULL, NULL);
	assert_has_not(page, "comm=\"old\"", NULL);
	assert_has_not(page, "comm=\"left\"", NULL); /* two minutes ago */
	free(page);
}

/* A process that never waited has no wait series, and queries are split by result. */
static void waits_have_series_once_there_are_any(void **state)
{
	struct busy b;
	char *page;

	(void)state;
	fill_busy(&b);
	memset(b.devices, 0, sizeof(b.devices));
	memset(b.process.queries, 0, sizeof(b.process.queries));
	b.process.device_count = 1;
	b.devices[0].waits[WAIT_EVENT] = (struct wait_totals){.calls = 9};
	b.process.queries[WAIT_EVENT] = (struct query_totals){4, 4};
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	assert_has(page, "\ngpuprobe_waits_total{" ON_GPU_3 ",kind=\"event\"} 9\n#", NULL, NULL);
	assert_has(page, "\ngpuprobe_wait_seconds_total{" ON_GPU_3 ",kind=\"event\"} 0\n#", NULL,
		   NULL);
	assert_has(page,
		   "\ngpuprobe_queries_total{pid=\"42\",comm=\"train\",kind=\"event\","
		   "answer=\"not_ready\"} 4\n#",
		   NULL, NULL);
	assert_has_not(page, "answer=\"done\"", NULL);
	free(page);
}

/* Families that the busy process lacks: each value is different. */
static void seldom_families_have_their_values(void **state)
{
	struct open_call open[] = {
		{.row = 0, .start_ns = 1000000000},
		{.row = 0, .start_ns = 3500000000},
		{.row = 0, .start_ns = 3999999999}, /* for less than 100 ms */
	};
	struct pool_totals pools[] = {
		{.device = 0, .used = 5, .reserved = 8},
		{.device = 0, .used = 1, .reserved = 2},
		{.device = DEVICE_UNKNOWN, .used = 3, .reserved = 4},
	};
	struct busy b;
	char *page;

	(void)state;
	fill_busy(&b);
	b.model.now_ns = 4000000000;
	b.process.open = open;
	b.process.open_listed = COUNT(open);
	b.process.pools = pools;
	b.process.pool_count = COUNT(pools);
	b.process.memory[MEMORY_RESERVED] =
		(struct memory_totals){.allocations = 1, .live_bytes = 700};
	b.process.memory[MEMORY_MAPPED] =
		(struct memory_totals){.allocations = 1, .live_bytes = 300};
	b.process.unfollowed = (struct unfollowed_totals){.calls = 6, .allocated_bytes = 64};
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	assert_has(page, "\ngpuprobe_calls_in_progress{" OF_TRAIN ",function=\"%s\"} 2\n#",
		   api_functions[0].symbol, NULL);
	assert_has(page,
		   "\ngpuprobe_longest_call_in_progress_seconds{" OF_TRAIN ",function=\"%s\"} 3\n#",
		   api_functions[0].symbol, NULL);
	assert_has(page, "\ngpuprobe_pool_used_bytes{" OF_TRAIN ",gpu=\"3\",uuid=\"GPU-a\"} 6\n",
		   NULL, NULL);
	assert_has(page, "\ngpuprobe_pool_used_bytes{" OF_TRAIN ",gpu=\"unknown\",uuid=\"\"} 3\n#",
		   NULL, NULL);
	assert_has(page,
		   "\ngpuprobe_pool_reserved_bytes{" OF_TRAIN ",gpu=\"3\",uuid=\"GPU-a\"} 10\n",
		   NULL, NULL);
	assert_has(page,
		   "\ngpuprobe_pool_reserved_bytes{" OF_TRAIN ",gpu=\"unknown\",uuid=\"\"} 4\n#",
		   NULL, NULL);
	assert_has(page, "\ngpuprobe_virtual_reserved_bytes{" OF_TRAIN "} 700\n#", NULL, NULL);
	assert_has(page, "\ngpuprobe_virtual_mapped_bytes{" OF_TRAIN "} 300\n#", NULL, NULL);
	assert_has(page, "\ngpuprobe_unfollowed_calls_total{" OF_TRAIN "} 6\n#", NULL, NULL);
	assert_has(page, "\ngpuprobe_unfollowed_allocated_bytes_total{" OF_TRAIN "} 64\n#", NULL,
		   NULL);
	free(page);
}

static void renders_an_empty_model(void **state)
{
	struct model model = {.sections = SECTION_ALL};
	char *page = render_once(&model, EXPOSITION_OPENMETRICS);

	(void)state;
	assert_has(page, "gpuprobe_live_at_exit_bytes_total 0\n", NULL, NULL);
	assert_has_not(page, "pid=", NULL);
	free(page);
}

static void reports_a_failed_write(void **state)
{
	struct model model = {.sections = SECTION_ALL};
	struct metrics *metrics = new_metrics(1);
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_true(metrics__render(metrics, full, &model, NULL, EXPOSITION_PROMETHEUS) < 0);
	fclose(full);
	metrics__free(metrics);
	metrics__free(NULL);
}

static void own_numbers_are_plausible(void **state)
{
	static const char *const gauges[] = {
		"\nprocess_resident_memory_bytes ",
		"\nprocess_virtual_memory_bytes ",
		"\nprocess_open_fds ",
		"\nprocess_max_fds ",
		"\nprocess_start_time_seconds ",
	};
	struct model model = {.sections = SECTION_ALL};
	char *page = render_once(&model, EXPOSITION_PROMETHEUS), *at;
	double start, now = (double)time(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(gauges); i++) {
		at = strstr(page, gauges[i]);
		assert_non_null(at);
		assert_true(strtod(at + strlen(gauges[i]), NULL) > 0);
	}
	assert_non_null(strstr(page, "\nprocess_cpu_seconds_total "));
	start = strtod(strstr(page, gauges[4]) + strlen(gauges[4]), NULL);
	/* The kernel gives the boot time in whole seconds, and a slow machine may take its time. */
	assert_true(start > now - 600 && start < now + 2);
	free(page);
}

static void promtool_accepts_it(void **state)
{
	struct busy b;
	FILE *promtool;
	char *page;
	int status;

	(void)state;
	if (system("command -v promtool >/dev/null 2>&1"))
		skip();
	fill_busy(&b);
	memcpy(b.process.comm, "a\"b\\c\nd\xff", 9);
	page = render_once(&b.model, EXPOSITION_PROMETHEUS);
	promtool = popen("promtool check metrics >&2", "w");
	assert_non_null(promtool);
	fputs(page, promtool);
	free(page);
	status = pclose(promtool);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_openmetrics_families),
		cmocka_unit_test(keeps_families_together),
		cmocka_unit_test(exports_chosen_sections_only),
		cmocka_unit_test(escapes_labels),
		cmocka_unit_test(shows_control_characters),
		cmocka_unit_test(takes_the_newest_of_a_pid),
		cmocka_unit_test(waits_have_series_once_there_are_any),
		cmocka_unit_test(seldom_families_have_their_values),
		cmocka_unit_test(renders_an_empty_model),
		cmocka_unit_test(reports_a_failed_write),
		cmocka_unit_test(own_numbers_are_plausible),
		cmocka_unit_test(promtool_accepts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
