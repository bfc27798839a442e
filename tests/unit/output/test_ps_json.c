// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe ps`, of a list made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ps_scene.h"

static void expect_part(const struct ps_scene *scene, const char *part)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	ps_json__print(out, &scene->ps);
	assert_int_equal(fclose(out), 0);
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
	free(text);
}

static void test_a_process(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	expect_part(&scene,
		    "{\"schema\":1,\"boot_ns\":5,\"driver\":\"580.159.03\",\"processes\":[{"
		    "\"pid\":4711,\"comm\":\"python3\",\"command\":\"/opt/conda/bin/python3 ");
	expect_part(&scene, ",\"role\":null,\"ancestor\":null,\"used_bytes\":43700000000,"
			    "\"contexts\":[\"0\"],\"gpus\":[{\"ordinal\":0,\"gpu\":\"0\",");
	expect_part(&scene, "\"libraries\":[{\"name\":\"libcuda\",\"version\":\"580.159.03\","
			    "\"static\":false},{\"name\":\"cudart\",\"version\":\"13.0.48\","
			    "\"static\":false},");
	expect_part(&scene, "\"threads\":17,\"in_cuda\":2,\"call\":\"cudaEventSynchronize\","
			    "\"by\":null,\"call_tid\":4720,\"state\":\"waiting\","
			    "\"idle_ns\":null,\"main_thread_idle_ns\":null,\"blocked\":false}");
	expect_part(&scene, "\"state\":\"idle\",\"idle_ns\":10920000000000,"
			    "\"main_thread_idle_ns\":14400000000000,"
			    "\"blocked\":false}");
}

/* What is unknown is null, and never 0. */
static void test_unknown(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	expect_part(&scene, "{\"pid\":999,\"comm\":null,\"command\":null,\"start_ns\":null,"
			    "\"role\":null,\"ancestor\":null,\"used_bytes\":1048576,"
			    "\"contexts\":[\"1\"],\"libraries\":null,\"threads\":null,"
			    "\"in_cuda\":null,\"call\":null,\"by\":null,\"call_tid\":null,"
			    "\"state\":null,\"idle_ns\":null,\"main_thread_idle_ns\":null,"
			    "\"blocked\":null}");
	expect_part(&scene, "\"role\":\"mps_server\"");
	expect_part(&scene, "\"used_bytes\":0,\"contexts\":[],");
	expect_part(&scene, "\"used_bytes\":44238786560,\"busy_percent\":87},");
	expect_part(&scene, "\"used_bytes\":null,\"busy_percent\":null}],\"unread\":0,"
			    "\"left_out\":0,\"notes\":[]}\n");
}

static void test_notes(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	scene.ps.unread = 3;
	ps__note(&scene.ps, "run it with %s", "sudo");
	expect_part(&scene, "\"unread\":3,\"left_out\":0,\"notes\":[\"run it with sudo\"]}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
