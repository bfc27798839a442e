// SPDX-License-Identifier: BSD-2-Clause
// What a person is told about requests: once a minute for each kind, and when all is well again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "export/news.h"

static void note(struct export_news *news, enum export_outcome outcome, uint64_t rejected,
		 const char *reason)
{
	struct export_verdict verdict = {.outcome = outcome, .rejected = rejected};

	strncpy(verdict.reason, reason, sizeof(verdict.reason) - 1);
	export_news__note(news, &verdict, rejected);
}

static void expect(struct export_news *news, uint64_t second, const char *expected)
{
	char text[EXPORT_NEWS_SIZE] = "";
	bool has = export_news__take(news, second * NS_PER_S, "metrics", "http://h", text);

	assert_int_equal(has, expected != NULL);
	if (expected)
		assert_string_equal(text, expected);
}

static void a_failure_and_its_end(void **state)
{
	struct export_news news = {0};

	(void)state;
	expect(&news, 1, NULL);
	note(&news, EXPORT_FAILED, 0, "no");
	note(&news, EXPORT_FAILED, 0, "never");
	expect(&news, 2, "OTLP: cannot send metrics to http://h: never; retrying");
	note(&news, EXPORT_FAILED, 0, "never");
	expect(&news, 61, NULL);
	expect(&news, 62, "OTLP: cannot send metrics to http://h: never; retrying");
	note(&news, EXPORT_ACCEPTED, 0, "");
	note(&news, EXPORT_ACCEPTED, 0, "");
	expect(&news, 63, "OTLP: metrics reach http://h again");
	expect(&news, 64, NULL);
	/* One that nobody was told of. */
	note(&news, EXPORT_FAILED, 0, "no");
	note(&news, EXPORT_ACCEPTED, 0, "");
	expect(&news, 200, NULL);
}

static void losses_have_their_own_reasons(void **state)
{
	struct export_news news = {0};

	(void)state;
	note(&news, EXPORT_REFUSED, 0, "status 401");
	note(&news, EXPORT_ACCEPTED, 3, "too many");
	note(&news, EXPORT_ACCEPTED, 4, "");
	expect(&news, 1, "OTLP: http://h refuses metrics, which are lost: status 401");
	expect(&news, 1, "OTLP: http://h rejected 7 items of the metrics: no reason given");
	expect(&news, 1, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_and_its_end),
		cmocka_unit_test(losses_have_their_own_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
