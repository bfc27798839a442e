// SPDX-License-Identifier: BSD-2-Clause
// The data of the page at / (output/web/web.h): its bounds, hostile names, the embedded files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/web/web.h"

#define PROCESSES (WEB_PROCESSES + 50)

static struct process processes[PROCESSES];
static struct model model = {.processes = processes, .sections = SECTION_ALL, .now_ns = 3000000000};
static struct finding_list findings;
static struct web_view view = {.version = "9.8.7",
			       .watched = "the \"whole\" machine",
			       .began_ns = 1000000000,
			       .model = &model,
			       .findings = &findings};

static int start(void **state)
{
	const struct findings_options options = {.latest = true};

	(void)state;
	memset(processes, 0, sizeof(processes));
	model.process_count = 1;
	processes[0] = (struct process){.serial = 5, .pid = 10, .start_ns = 1};
	view.state = findings__new(&options);
	view.rates = process_rates__new();
	view.history = history__new(HISTORY_BYTES_MAX);
	return view.state && view.rates && view.history ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	findings__free((struct findings *)view.state);
	process_rates__free((struct process_rates *)view.rates);
	history__free((struct history *)view.history);
	return 0;
}

static char *overview(void)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(web_overview__print(out, &view), 0);
	fclose(out);
	return text;
}

static char *details(void)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(web_process__print(out, &view, &processes[0]), 0);
	fclose(out);
	return text;
}

static size_t times(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

static void has(char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in %s", part, text);
	free(text);
}

static void says_what_it_watches(void **state)
{
	(void)state;
	has(overview(), "\"version\":\"9.8.7\"");
	has(overview(), "\"watched\":\"the \\\"whole\\\" machine\",\"watched_seconds\":2,");
}

static void lists_a_number_of_processes(void **state)
{
	char *text;

	(void)state;
	model.process_count = PROCESSES;
	for (int i = 0; i < PROCESSES; i++) {
		processes[i] = (struct process){.serial = (uint64_t)i, .pid = 1000 + i};
		processes[i].memory[MEMORY_DEVICE].live_bytes = (uint64_t)i;
	}
	processes[PROCESSES - 1].ended = true;
	text = overview();
	assert_int_equal(times(text, "{\"id\":"), WEB_PROCESSES);
	assert_non_null(strstr(text, "\"process_count\":249,\"processes\":[{\"id\":248,"));
	free(text);
}

static void names_stay_strings(void **state)
{
	(void)state;
	strcpy(processes[0].comm, "\"},{\"x\":<b>\n");
	has(overview(), "\"comm\":\"\\\"},{\\\"x\\\":<b>\\n\"");
}

static void options_stay_here(void **state)
{
	char *text;

	(void)state;
	strcpy(processes[0].command, "python3 train.py --token secret");
	has(overview(), "\"command\":\"python3 train.py\"");
	strcpy(processes[0].command, "serve --token secret");
	text = overview();
	assert_null(strstr(text, "secret"));
	has(text, "\"command\":\"serve\"");
	text = details();
	assert_null(strstr(text, "secret"));
	free(text);
}

static void unknown_is_null(void **state)
{
	(void)state;
	has(overview(), "\"rates\":null,\"step\":null,\"verdict\":null,\"verdict_sentence\":null,"
			"\"proved_idle\":null");
	model.sections = SECTION_LAUNCH;
	has(overview(), "\"memory_bytes\":null");
	model.sections = SECTION_ALL;
}

static void has_its_files(void **state)
{
	const struct web_file *index = web_files__find("/");

	(void)state;
	assert_non_null(index);
	assert_memory_equal(index->text, "<!DOCTYPE html>", 15);
	assert_int_equal(index->end[-1], '\n');
	assert_memory_equal(web_files__find("/web/uplot.js")->text, "/**", 3);
	assert_null(web_files__find("/web/"));
	assert_null(web_files__find("/web/../etc/passwd"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_what_it_watches, start, end),
		cmocka_unit_test_setup_teardown(lists_a_number_of_processes, start, end),
		cmocka_unit_test_setup_teardown(names_stay_strings, start, end),
		cmocka_unit_test_setup_teardown(options_stay_here, start, end),
		cmocka_unit_test_setup_teardown(unknown_is_null, start, end),
		cmocka_unit_test(has_its_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
