// SPDX-License-Identifier: BSD-2-Clause
// Which findings are new: each once, again if it is more severe, within bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "finding/seen.h"

static const struct finding *note(struct seen_findings *seen, struct finding *items, size_t count)
{
	const struct finding_list list = {.items = items, .count = count};

	return seen_findings__note(seen, &list, SEVERITY_WARNING);
}

static void test_new_once(void **state)
{
	struct seen_findings *seen = seen_findings__new();
	struct finding items[3] = {
		{.kind = finding_kinds[0], .severity = SEVERITY_INFO, .pid = 1},
		{.kind = finding_kinds[1], .severity = SEVERITY_WARNING, .pid = 1},
		{.kind = finding_kinds[1], .severity = SEVERITY_WARNING, .pid = 2},
	};

	(void)state;
	assert_null(note(seen, items, 0));
	assert_ptr_equal(note(seen, items, 2), &items[1]);
	assert_null(note(seen, items, 2));
	assert_ptr_equal(note(seen, items, 3), &items[2]);
	items[0].severity = SEVERITY_WARNING;
	assert_ptr_equal(note(seen, items, 3), &items[0]);
	items[2].severity = SEVERITY_CRITICAL;
	assert_ptr_equal(note(seen, items, 3), &items[2]);
	items[2].severity = SEVERITY_WARNING;
	assert_null(note(seen, items, 3));
	items[1].subject = strdup("cudaMalloc");
	assert_ptr_equal(note(seen, items, 3), &items[1]);
	free(items[1].subject);
	seen_findings__free(seen);
}

static size_t count_new(struct seen_findings *seen, int32_t pid, int32_t tids)
{
	struct finding item = {.kind = finding_kinds[0], .severity = SEVERITY_WARNING, .pid = pid};
	size_t count = 0;

	for (item.tid = 1; item.tid <= tids; item.tid++)
		count += note(seen, &item, 1) != NULL;
	return count;
}

static void test_bounds(void **state)
{
	struct seen_findings *seen = seen_findings__new();
	size_t count = 0;

	(void)state;
	assert_int_equal(count_new(seen, 1, 1000), SEEN_OF_PROCESS);
	assert_int_equal(count_new(seen, 2, 1), 1);
	for (int32_t pid = 3; pid < 2000; pid++)
		count += count_new(seen, pid, 1);
	assert_int_equal(count, SEEN_FINDINGS - SEEN_OF_PROCESS - 1);
	seen_findings__free(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_once),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
