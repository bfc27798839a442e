// SPDX-License-Identifier: BSD-2-Clause
// The JSON of `gpuprobe dump`, on dumps made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump_scene.h"
#include "output/dump/parts.h"

static void expect_part(const struct dump_scene *scene, const char *part)
{
	char *text = printed(dump_json__print, scene);

	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
	free(text);
}

static void test_a_process(void **state)
{
	struct dump_scene scene;
	char *text;

	(void)state;
	make_scene(&scene);
	scene.threads[0].stack.count = 1;
	scene.threads[1].no_stack = true;
	scene.gpu.total_bytes = scene.gpu.used_bytes = GPU_UNKNOWN_BYTES;
	text = printed(dump_json__print, &scene);
	assert_string_equal(
		text,
		"{\"schema\":1,\"boot_ns\":100000000000,\"taken_ns\":700,\"processes\":["
		"{\"pid\":4711,\"comm\":\"python3\",\"command\":\"python3 train.py\","
		"\"start_ns\":77,\"ppid\":1,\"uid\":1000,"
		"\"user\":\"ann\",\"container\":\"trainer-0\",\"pod\":null,\"namespace_pid\":null,"
		"\"gpus\":[{\"ordinal\":null,\"gpu\":\"0\",\"uuid\":\"GPU-1\","
		"\"used_bytes\":44238786560,\"untracked_bytes\":null}],"
		"\"threads\":["
		"{\"tid\":4711,\"comm\":\"MainThread\",\"state\":\"running\",\"call\":"
		"\"cudaEventSynchronize\",\"by\":null,"
		"\"approximate\":false,\"waits\":null,\"stack\":{\"truncated\":false,\"broken\":"
		"false,\"frames\":["
		"{\"kind\":\"native\",\"function\":\"poll\",\"offset\":\"0x4f\","
		"\"object\":\"libc.so.6\"}]},\"call_frames\":2},"
		"{\"tid\":4790,\"comm\":\"pt_autograd_0\",\"state\":\"sleeping\",\"call\":"
		"\"cuLaunchKernel\",\"by\":null,"
		"\"approximate\":false,\"waits\":null,\"stack\":null,\"call_frames\":1}"
		"],\"unseen_threads\":0,\"in_cuda\":2,\"cuda\":true}],"
		"\"gpus\":[{\"gpu\":\"0\",\"index\":0,\"mig\":null,\"uuid\":\"GPU-1\",\"name\":"
		"\"H100 80GB\","
		"\"pci_bus_id\":null,"
		"\"total_bytes\":null,\"used_bytes\":null,\"busy_percent\":0}],"
		"\"nvml_timed_out\":false}\n");
	free(text);
}

static void test_nothing(void **state)
{
	struct dump_scene scene;
	char *text;

	(void)state;
	make_scene(&scene);
	scene.dump.count = 0;
	scene.dump.model.gpu_count = 0;
	text = printed(dump_json__print, &scene);
	assert_string_equal(text, "{\"schema\":1,\"boot_ns\":100000000000,\"taken_ns\":700,"
				  "\"processes\":[],\"gpus\":[],\"nvml_timed_out\":false}\n");
	free(text);
}

static void test_a_process_of_which_little_is_known(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.dump.count = 2;
	scene.dumps[1].unseen = 7;
	expect_part(&scene,
		    "{\"pid\":12,\"comm\":\"sh\",\"command\":null,\"start_ns\":0,\"threads\":["
		    "{\"tid\":12,\"comm\":\"sh\",\"state\":\"sleeping\",\"call\":null,"
		    "\"by\":null,\"approximate\":false,"
		    "\"waits\":{\"for\":\"child\",\"system_call\":\"wait4\",\"object\":null,"
		    "\"child\":{\"pid\":13,\"comm\":\"ls\"}},"
		    "\"stack\":null,\"call_frames\":0}],\"unseen_threads\":7,\"in_cuda\":0,"
		    "\"cuda\":false}");
}

static void test_waits(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.threads[0].waiting = (struct dump_waiting){
		.kind = DUMP_WAIT_GIL,
		.name = "futex",
		.other = 4790,
		.other_comm = "pt",
	};
	expect_part(&scene, "\"waits\":{\"for\":\"gil\",\"system_call\":\"futex\",\"object\":null,"
			    "\"holder\":{\"tid\":4790,\"comm\":\"pt\"}},");
	scene.threads[0].waiting.other_comm[0] = '\0';
	expect_part(&scene, "\"holder\":{\"tid\":4790,\"comm\":null}},");
	scene.threads[0].waiting.other = 0;
	expect_part(&scene, "\"holder\":null},");
	scene.threads[0].waiting = (struct dump_waiting){.kind = DUMP_WAIT_CHILD};
	expect_part(&scene, "\"waits\":{\"for\":\"child\",\"system_call\":null,\"object\":null,"
			    "\"child\":null},");
	scene.threads[0].waiting =
		(struct dump_waiting){.kind = DUMP_WAIT_PIPE, .object = "pipe:[1]"};
	expect_part(&scene,
		    "\"waits\":{\"for\":\"pipe\",\"system_call\":null,\"object\":\"pipe:[1]\"},");
}

/* Every state and every wait has its own words. */
static void test_words(void **state)
{
	(void)state;
	for (int run = 0; run < DUMP_RUN_STATES; run++)
		for (int other = 0; other < run; other++) {
			assert_string_not_equal(dump_words__run_key((enum dump_run)run),
						dump_words__run_key((enum dump_run)other));
			assert_string_not_equal(dump_words__run((enum dump_run)run),
						dump_words__run((enum dump_run)other));
		}
	assert_null(dump_words__wait_key(DUMP_WAIT_NONE));
	for (int kind = DUMP_WAIT_NONE + 1; kind < DUMP_WAITS; kind++)
		for (int other = DUMP_WAIT_NONE + 1; other < kind; other++) {
			assert_string_not_equal(dump_words__wait_key((enum dump_wait)kind),
						dump_words__wait_key((enum dump_wait)other));
			for (int several = 0; several < 2; several++)
				assert_string_not_equal(
					dump_words__wait((enum dump_wait)kind, several),
					dump_words__wait((enum dump_wait)other, several));
		}
}

static void test_hostile_texts(void **state)
{
	struct dump_scene scene;

	(void)state;
	make_scene(&scene);
	scene.dumps[0].command = (char *)"a\"b\n\377";
	strcpy(scene.threads[0].comm, "\033\\");
	expect_part(&scene, "\"command\":\"a\\\"b\\n\357\277\275\"");
	expect_part(&scene, "\"comm\":\"\\u001b\\\\\"");
}

static void test_what_has_moved(void **state)
{
	struct dump_scene first, scene;

	(void)state;
	make_scene(&first);
	make_scene(&scene);
	scene.view.before = &first.dump;
	scene.dump.boot_ns += 5;
	first.threads[1].call = "cuMemAlloc_v2";
	expect_part(&scene, "\"taken_ns\":700,\"since_first_ns\":5,\"processes\":[");
	expect_part(&scene, "\"call_frames\":2,\"moved\":false}");
	expect_part(&scene, "\"call_frames\":1,\"moved\":true}");
	first.threads[1].no_stack = true;
	expect_part(&scene, "\"call_frames\":1,\"moved\":null}");
	first.dump.count = 0;
	expect_part(&scene, "\"call_frames\":2,\"moved\":null}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_a_process_of_which_little_is_known),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_hostile_texts),
		cmocka_unit_test(test_what_has_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
