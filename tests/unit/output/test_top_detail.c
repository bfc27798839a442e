// SPDX-License-Identifier: BSD-2-Clause
// The page of one process of `gpuprobe top` at several widths (output/top/detail.h).
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text_stream.h"
#include "base/width.h"
#include "model/kernel_rates.h"
#include "output/top/detail.h"
#include "top_scene.h"

#define LABEL "vectorized_elementwise_kernel<8, gelu_backward, bf16, \u8a13\u7df4>"

static struct top_machine machine;
static struct kernel kernel;
static struct findings *findings;
static struct kernel_rates *rates;

static int begin(void **state)
{
	const struct findings_options options = {.needs = NEEDS_PROFILE, .latest = true};

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	top_machine__begin(&machine);
	kernel = (struct kernel){.name = LABEL, .label = LABEL, .launches = 12345678};
	machine.processes[1].kernels = &kernel;
	machine.processes[1].kernel_count = 1;
	findings = findings__new(&options);
	rates = kernel_rates__new();
	assert_true(findings && rates);
	return 0;
}

static int end(void **state)
{
	(void)state;
	kernel_rates__free(rates);
	findings__free(findings);
	top_machine__end(&machine);
	return 0;
}

/* The caller frees it. */
static char *page_of(int width, enum quantity_form form, bool full_names)
{
	static char evidence[] = "1,000 allocations by cudaMalloc, each freed before the next one; "
				 "412 us and 23 us each, at most 2 live at a time, in "
				 "/a/very/long/path/without/any/blank/and/so/not/wrapped/train.py";
	struct finding finding = {
		.kind = finding_kind__find("alloc-churn"),
		.severity = SEVERITY_WARNING,
		.pid = 101,
		.start_ns = machine.processes[1].start_ns,
		.evidence = evidence,
	};
	struct finding_list list = {.items = &finding, .count = 1};
	const struct top_detail detail = {
		.model = &machine.model,
		.process = &machine.processes[1],
		.kernels = rates,
		.state = findings,
		.findings = &list,
		.form = form,
		.full_names = full_names,
		.width = width,
	};
	struct top_page page = {0};
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	assert_int_equal(top_detail__add(&page, &detail), 0);
	top_page__print(out, &page, 0);
	assert_int_equal(fclose(out), 0);
	top_page__clear(&page);
	return text;
}

static char *page_text(int width)
{
	return page_of(width, QUANTITY_ROUNDED, false);
}

static void expect_width(const char *text, size_t columns)
{
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		if (width__columns(line, length) > columns)
			fail_msg("more than %zu columns: %.*s", columns, (int)length, line);
		line += length + 1;
	}
}

static void fits_the_terminal(void **state)
{
	static const int widths[] = {40, 57, 80, 100, 160, 200};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		char *text = page_text(widths[i]);

		expect_width(text, (size_t)widths[i]);
		/* Rows keep their lines, and nothing but names is left out. */
		assert_non_null(strstr(text, "\nthreads\n    unknown: "));
		assert_non_null(strstr(text, "rapped/train.py\n"));
		assert_non_null(strstr(text, "\nadvice on alloc-churn\n    "));
		free(text);
	}
}

static void cuts_names_in_the_middle(void **state)
{
	char *narrow = page_text(60), *wide = page_text(100);

	(void)state;
	assert_non_null(strstr(wide, " " LABEL "\n"));
	assert_null(strstr(narrow, LABEL));
	assert_non_null(strstr(narrow, "  vectorized_ele\u2026"));
	assert_non_null(strstr(narrow, "\u8a13\u7df4>\n"));
	free(narrow);
	free(wide);
}

/* A whole name takes as many lines as it needs, and each amount has all its digits. */
static void is_exact_if_wanted(void **state)
{
	static char name[] = "void at::native::vectorized_elementwise_kernel<8, at::native::"
			     "GeluBackward, std::array<char*, 3ul> >(int, float, float)";
	char *text;

	(void)state;
	kernel.name = name;
	text = page_of(80, QUANTITY_EXACT, true);
	expect_width(text, 80);
	assert_null(strstr(text, LABEL));
	assert_non_null(strstr(text, "  void at::native::vectorized_elementwise_kernel<8,\n"));
	assert_non_null(strstr(text, " at::native::GeluBackward, "));
	assert_non_null(strstr(text, " float)\n"));
	assert_non_null(strstr(text, "42,949,672,960 bytes live\n"));
	free(text);
}

/* Lines beyond these widths are hard to read, or show nothing. */
static void has_limits(void **state)
{
	char *narrow = page_text(40), *narrower = page_text(5), *wide = page_text(200),
	     *wider = page_text(400);

	(void)state;
	assert_string_equal(narrower, narrow);
	assert_string_equal(wider, wide);
	free(narrow);
	free(narrower);
	free(wide);
	free(wider);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fits_the_terminal, begin, end),
		cmocka_unit_test_setup_teardown(cuts_names_in_the_middle, begin, end),
		cmocka_unit_test_setup_teardown(is_exact_if_wanted, begin, end),
		cmocka_unit_test_setup_teardown(has_limits, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
