// SPDX-License-Identifier: BSD-2-Clause
// The page at /: what it says, that hostile names cannot become HTML, and that it is bounded.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "output/landing/page.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct landing_page page = {
	.version = "1.2.3", .watched = "the whole machine, only --comm <b>", .began_ns = 1};

static char *print(const struct model *model, const struct finding_list *findings)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(landing_page__print(out, &page, model, findings), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in %s", part, text);
}

static void has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' in %s", part, text);
}

static size_t rows(const char *text)
{
	size_t count = 0;

	for (; (text = strstr(text, "<tr><td")); text++)
		count++;
	return count;
}

static void what_a_person_wants_to_know(void **state)
{
	struct gpu gpus[] = {{.index = 3, .mig = GPU_NONE}};
	struct process_gpu used = {.gpu = 0, .used_bytes = 3u << 20};
	struct process processes[] = {
		{.pid = 7, .comm = "small", .identified = true, .user = "alice"},
		{.pid = 9,
		 .comm = "python3",
		 .command = "python3 train.py --token secret",
		 .identified = true,
		 .user = "bob",
		 .cgroup_known = true,
		 .container = "0123456789abcdef",
		 .gpus = &used,
		 .gpu_count = 1},
		{.pid = 11, .comm = "gone", .ended = true},
		{.pid = 12, .comm = "server", .command = "./server --token secret"},
	};
	struct model model = {.sections = SECTION_ALL,
			      .now_ns = 61000000001ull,
			      .processes = processes,
			      .process_count = COUNT(processes),
			      .gpus = gpus,
			      .gpu_count = 1};
	struct finding_list none = {0};
	char *text, part[256];

	(void)state;
	model.lost[LOSS_RING_FULL] = 1234;
	text = print(&model, &none);
	has(text, "<h1>gpuprobe 1.2.3</h1>");
	snprintf(part, sizeof(part),
		 "Watches the whole machine, only --comm &lt;b&gt;, for %s so far.",
		 quantity__time(61e9).text);
	has(text, part);
	has(text, "Processes that use CUDA: 3");
	snprintf(part, sizeof(part),
		 "<td>python3 train.py</td><td>bob</td><td>0123456789ab</td><td>3</td>"
		 "<td class=\"n\">%s</td>",
		 quantity__bytes(3u << 20).text);
	has(text, part);
	has(text, "<td>./server</td><td>unknown</td><td>unknown</td><td>unknown</td>"
		  "<td class=\"n\">unknown</td>");
	has_not(text, "secret");
	has_not(text, "gone");
	assert_true(strstr(text, ">9</td>") < strstr(text, ">7</td>"));
	has(text, "Findings: 0");
	has(text, "lost: 1,234");
	has(text, "href=\"/metrics\"");
	free(text);
}

static void names_are_escaped(void **state)
{
	struct process process = {.pid = 7,
				  .comm = "<script>",
				  .command = "a</td><script>alert(1)",
				  .identified = true,
				  .user = "\"&\x1b[2J"};
	struct finding finding = {.kind = finding_kinds[0],
				  .pid = 7,
				  .comm = "<i>",
				  .title = "<title>",
				  .evidence = "kernel<float, 2> & more"};
	struct finding_list list = {.items = &finding, .count = 1};
	struct model model = {.processes = &process, .process_count = 1};
	char *text = print(&model, &list);

	(void)state;
	has(text, "a&lt;/td&gt;&lt;script&gt;alert(1)");
	has(text, "&quot;&amp;\xef\xbf\xbd[2J");
	has(text, "7 &lt;i&gt;");
	has(text, "&lt;title&gt;");
	has(text, "kernel&lt;float, 2&gt; &amp; more");
	has(text, finding_kinds[0]->id);
	has_not(text, "<script>");
	has_not(text, "\x1b");
	free(text);
}

static void it_is_bounded(void **state)
{
	size_t many = LANDING_PROCESSES + 5;
	struct process *processes = calloc(many, sizeof(*processes));
	struct finding *findings = calloc(LANDING_FINDINGS + 3, sizeof(*findings));
	struct finding_list list = {.items = findings, .count = LANDING_FINDINGS + 3};
	struct model model = {.processes = processes, .process_count = many};
	char *text;

	(void)state;
	assert_true(processes && findings);
	for (size_t i = 0; i < list.count; i++)
		findings[i].kind = finding_kinds[0];
	text = print(&model, &list);
	assert_int_equal(rows(text), LANDING_PROCESSES + LANDING_FINDINGS);
	has(text, "and 5 more");
	has(text, "and 3 more");
	free(text);
	free(findings);
	free(processes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_person_wants_to_know),
		cmocka_unit_test(names_are_escaped),
		cmocka_unit_test(it_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
