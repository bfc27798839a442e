// SPDX-License-Identifier: BSD-2-Clause
// The names by which a BPF object recognises libraries: all of the table have room.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "probe/library_names.h"

static bool has(const struct config *config, const char *library)
{
	uint64_t word = 0;

	memcpy(&word, library, strnlen(library, sizeof(word)));
	for (size_t i = 0; i < LIBRARY_NAMES; i++)
		if (config->library_names[i] == word)
			return true;
	return false;
}

static size_t count_of(const struct config *config)
{
	size_t count = 0;

	while (count < LIBRARY_NAMES && config->library_names[count])
		count++;
	return count;
}

static void all_have_room(void **state)
{
	const struct library_names names = {.tensors = true, .exhaustion = true, .handles = true};
	struct config config = {.links = 0};

	(void)state;
	library_names__fill(&config, &names);
	for (size_t row = 0; row < api_function_count; row++)
		for (const char *at = api_functions[row].libraries; at; at = strchr(at, ',')) {
			at += *at == ',';
			assert_true(has(&config, at));
		}
	for (size_t i = 0; i < api_probe_count; i++)
		assert_true(has(&config, api_probes[i].library));
	/* One with the last place may have pushed another out. */
	assert_true(count_of(&config) < LIBRARY_NAMES);
}

static void only_what_is_watched(void **state)
{
	struct config config = {.links = 0};

	(void)state;
	library_names__fill(&config, &(struct library_names){.handles = false});
	assert_int_equal(count_of(&config), 0);
	library_names__fill(&config, &(struct library_names){.exhaustion = true});
	assert_true(has(&config, "libc10.so"));
	assert_false(has(&config, "libc10_cuda.so"));
	assert_false(has(&config, "libnccl.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_have_room),
		cmocka_unit_test(only_what_is_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
