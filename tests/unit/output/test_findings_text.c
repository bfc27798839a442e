// SPDX-License-Identifier: BSD-2-Clause
// Descriptions of finding kinds, and sentences wrapped into lines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/finding/findings.h"
#include "output/wrap.h"

static char *explain(const char *id)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	if (id)
		findings_text__explain(out, finding_kind__find(id));
	else
		findings_text__list(out);
	fclose(out);
	return text;
}

static void expect(const char *id, const char *part)
{
	char *text = explain(id);

	if (!strstr(text, part))
		fail_msg("'%s' is not in %s", part, text);
	free(text);
}

static void test_explain(void **state)
{
	(void)state;
	expect("alloc-churn",
	       "alloc-churn (warning): the same memory is allocated and freed again and again\n\n");
	expect("alloc-churn",
	       "\nCost: the time of allocations and frees of recurring sizes\n"
	       "Looked for by: gpuprobe stat and gpuprobe diagnose\n"
	       "Thresholds (--threshold alloc-churn.NAME=VALUE; without .NAME: the first):\n"
	       "  share          2.0 %  ");
	expect("unchecked-errors", "\nLooked for by: gpuprobe diagnose\n");
	expect("chatty-getters",
	       "\nLooked for by: gpuprobe stat and gpuprobe diagnose with --getters\n");
	expect("oom", "\nLooked for by: gpuprobe stat, gpuprobe diagnose and the monitor\n");
}

/* Units that people use. */
static void test_thresholds(void **state)
{
	(void)state;
	expect("launch-bound", "  rate        10,000/s  ");
	expect("sync-stall", "  mean          1.0 ms  ");
	expect("leak-growing", "  bytes        1.0 MiB  ");
	expect("device-imbalance", "  ratio           1.20  ");
	expect("oom", "  calls              1  ");
}

static void test_every_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < finding_kind_count; i++) {
		const struct finding_kind *kind = finding_kinds[i];
		char *text = explain(kind->id), line[128];

		for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
			assert_true(end - at <= 110);
		free(text);
		snprintf(line, sizeof(line), "\n%-24s %-9s %s\n", kind->id,
			 findings_text__severity_word(kind->severity), kind->title);
		expect(NULL, line);
		for (size_t n = 0; n < FINDING_THRESHOLDS && kind->thresholds[n].name; n++)
			expect(kind->id, kind->thresholds[n].meaning);
	}
}

static void expect_wrapped(const char *text, int indent, int hanging, const char *expected)
{
	char *made = NULL;
	size_t length;
	FILE *out = open_memstream(&made, &length);

	assert_non_null(out);
	wrap__print(out, text, indent, hanging, 12);
	fclose(out);
	assert_string_equal(made, expected);
	free(made);
}

static void test_wrap(void **state)
{
	(void)state;
	expect_wrapped("", 2, 0, "  \n");
	expect_wrapped("one two three", 0, 0, "one two\nthree\n");
	expect_wrapped("one two four", 0, 0, "one two four\n");
	expect_wrapped("one  two three", 2, 1, "  one two\n   three\n");
	/* A number and its unit stay on one line, and so do several. */
	expect_wrapped("it took 12.5 % more", 0, 0, "it took\n12.5 % more\n");
	expect_wrapped("a 1 2 3 four five", 0, 0, "a 1 2 3 four\nfive\n");
	expect_wrapped("one bytes=5 MiB", 0, 0, "one\nbytes=5 MiB\n");
	expect_wrapped("a calls=5, two=", 0, 0, "a calls=5,\ntwo=\n");
	expect_wrapped("only 12", 0, 0, "only 12\n");
	expect_wrapped("only 12  ", 0, 0, "only 12\n");
	/* An overlong word stays whole; columns are counted, not bytes. */
	expect_wrapped("a incomprehensibilities b", 0, 0, "a\nincomprehensibilities\nb\n");
	expect_wrapped("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 "
		       "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6",
		       0, 0,
		       "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 "
		       "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
