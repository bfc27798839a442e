// SPDX-License-Identifier: BSD-2-Clause
// What `gpuprobe ps` prints for people, on lists made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/cuda_environment.h"
#include "output/ps/parts.h"
#include "ps_scene.h"

static char *printed_as(const struct ps *ps, enum quantity_form form, int columns)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	ps_text__print(out, ps, form, columns);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *printed(const struct ps *ps, int columns)
{
	return printed_as(ps, QUANTITY_ROUNDED, columns);
}

static void expect(const struct ps_scene *scene, int columns, const char *expected)
{
	char *text = printed(&scene->ps, columns);

	assert_string_equal(text, expected);
	free(text);
}

static void expect_part(const struct ps_scene *scene, int columns, const char *part)
{
	char *text = printed(&scene->ps, columns);

	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
	free(text);
}

#define MACHINE \
	"driver 580.159.03, 2 GPUs\n" \
	"GPU 0  NVIDIA H200  41.2 GiB of 140.4 GiB   87 % busy\n" \
	"GPU 1  NVIDIA H200         - of 140.4 GiB    - busy\n" \
	"\n"

/* clang-format off */
static void test_whole(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	expect(&scene, 0, MACHINE
		" PID  USER  CONTAINER     GPU      MEMORY  STATE     IN CUDA                    "
		"LIBRARIES                            COMMAND\n"
		"4711  ann   cccccccccccc  0      40.7 GiB  waiting   2/17 cudaEventSynchronize  "
		"cudart 13.0, nccl 2.27, cudnn 9      /opt/conda/bin/python3 /home/ann/train.py "
		"--batch-size 64 --learning-rate 0.0003\n"
		" 512  bob   -             1       5.9 GiB  idle 3 h  0/31                       "
		"cudart 12 static, libcuda 575.57.08  python3 -m ipykernel\n"
		" 999  -     -             1       1.0 MiB  -         -                          -   "
		"                                 -\n"
		"  30  root  -             0      30.0 MiB  -         -                          "
		"libcuda                              MPS server\n"
		"4790  ann   cccccccccccc  -    no context  stuck?    1/4 ncclAllReduce          "
		"cudart 13.0, nccl 2.27, cudnn 9      pt_data\\x1b[2J\n"
		"\n"
		"pid 4790 seems stuck in CUDA: gpuprobe dump -p 4790 --again 5 shows whether it moves\n");
}

static void test_exact(void **state)
{
	struct ps_scene scene;
	char *text;

	(void)state;
	make_scene(&scene);
	text = printed_as(&scene.ps, QUANTITY_EXACT, 0);
	assert_non_null(strstr(text, "31,457,280 bytes  -         -"));
	assert_non_null(strstr(text, " bytes of "));
	assert_null(strstr(text, "iB"));
	free(text);
}

static void test_terminals(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	expect(&scene, 100, MACHINE
		" PID  USER  CONTAINER     GPU      MEMORY  STATE     IN CUDA                    "
		"COMMAND\n"
		"4711  ann   cccccccccccc  0      40.7 GiB  waiting   2/17 cudaEventSynchronize  "
		"python3 tr…te 0.0003\n"
		" 512  bob   -             1       5.9 GiB  idle 3 h  0/31                       "
		"python3 -m ipykernel\n"
		" 999  -     -             1       1.0 MiB  -         -                          -\n"
		"  30  root  -             0      30.0 MiB  -         -                          MPS "
		"server\n"
		"4790  ann   cccccccccccc  -    no context  stuck?    1/4 ncclAllReduce          "
		"pt_data\\x1b[2J\n"
		"\n"
		"CUDA libraries:\n"
		"cudart 13.0, nccl 2.27, cudnn 9: 4711, 4790\n"
		"cudart 12 static, libcuda 575.57.08: 512\n"
		"libcuda: 30\n"
		"\n"
		"pid 4790 seems stuck in CUDA: gpuprobe dump -p 4790 --again 5 shows whether it moves\n");
	expect(&scene, 80, MACHINE
		" PID  USER  GPU      MEMORY  STATE     IN CUDA              COMMAND\n"
		"4711  ann   0      40.7 GiB  waiting   2/17 cuda…nchronize  python3 tr…te 0.0003\n"
		" 512  bob   1       5.9 GiB  idle 3 h  0/31                 python3 -m ipykernel\n"
		" 999  -     1       1.0 MiB  -         -                    -\n"
		"  30  root  0      30.0 MiB  -         -                    MPS server\n"
		"4790  ann   -    no context  stuck?    1/4 ncclAllReduce    pt_data\\x1b[2J\n"
		"\n"
		"containers:\n"
		"cccccccccccc: 4711, 4790\n"
		"\n"
		"CUDA libraries:\n"
		"cudart 13.0, nccl 2.27, cudnn 9: 4711, 4790\n"
		"cudart 12 static, libcuda 575.57.08: 512\n"
		"libcuda: 30\n"
		"\n"
		"pid 4790 seems stuck in CUDA: gpuprobe dump -p 4790 --again 5 shows whether it\n"
		"  moves\n");
}
/* clang-format on */

/* Columns of the longest line. "…" has three bytes and one column. */
static int widest(const char *text)
{
	int widest = 0, columns = 0;

	for (; *text; text++) {
		columns += ((unsigned char)*text & 0xc0) != 0x80;
		if (*text == '\n')
			columns = 0;
		widest = columns > widest ? columns : widest;
	}
	return widest;
}

static void test_every_width(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	for (int columns = 80; columns < 240; columns++) {
		char *text = printed(&scene.ps, columns);

		if (widest(text) > columns)
			fail_msg("%d columns for %d:\n%s", widest(text), columns, text);
		free(text);
	}
	free(printed(&scene.ps, 1));
}

/* A command of 40 columns says more than libraries. */
static void test_room_for_commands(void **state)
{
	struct ps_scene scene;
	int columns = 100;

	(void)state;
	make_scene(&scene);
	scene.ps.count = 1;
	for (bool inside = false; !inside; columns++) {
		char *text = printed(&scene.ps, columns);
		char *heads = strstr(text, " PID");
		const char *command = strstr(heads, "COMMAND");

		*strchr(heads, '\n') = '\0';
		inside = strstr(heads, "LIBRARIES");
		if (inside)
			assert_int_equal(columns - (command - heads), 40);
		free(text);
	}
}

static void test_a_blocked_one_is_not_idle(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	expect_part(&scene, 0, " idle 3 h ");
	for (size_t i = 0; i < scene.ps.count; i++)
		scene.rows[i].idle_ns = scene.rows[i].state == PS_IDLE ? NS_PER_MS : 0;
	expect_part(&scene, 0, " idle under 1 s ");
	for (size_t i = 0; i < scene.ps.count; i++)
		scene.rows[i].idle_ns = 0;
	expect_part(&scene, 0, " idle  ");
	make_scene(&scene);
	for (size_t i = 0; i < scene.ps.count; i++)
		scene.rows[i].blocked = scene.rows[i].state == PS_IDLE;
	expect_part(&scene, 0, " blocked 3 h ");
}

static void test_several_are_stuck(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	scene.rows[0].state = PS_STUCK;
	expect_part(
		&scene, 0,
		"\n\n2 processes seem stuck in CUDA: gpuprobe dump --again 5 shows which move\n");
}

/* A warning on standard error says that the filter has left all out. */
static void test_all_are_left_out(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	scene.ps.count = 0;
	scene.ps.filtered = 5;
	expect(&scene, 80, MACHINE);
}

static void test_nothing(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	scene.ps.count = 0;
	expect(&scene, 80, MACHINE "no process uses CUDA\n");
	scene.ps.unread = 3;
	ps__note(&scene.ps, "run it with sudo");
	expect(&scene, 80, MACHINE "no process is known to use CUDA\n\nrun it with sudo\n");
	scene.ps.driver[0] = '\0';
	scene.ps.model.gpu_count = 0;
	expect(&scene, 80, "no process is known to use CUDA\n\nrun it with sudo\n");
}

static void test_tree(void **state)
{
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	scene.rows[1].depth = 1;
	scene.rows[4].depth = 2;
	expect_part(&scene, 0, "  \\_ python3 -m ipykernel\n");
	expect_part(&scene, 0, "     \\_ pt_data\\x1b[2J\n");
	scene.rows[1].depth = 1000000;
	expect_part(&scene, 80, "     \\_ pyth");
}

static void expect_gpus(const struct ps_scene *scene, const char *expected)
{
	char text[PS_CELL_SIZE];

	assert_string_equal(
		ps_cell__text(&scene->ps, &scene->rows[0], PS_COLUMN_GPU, QUANTITY_ROUNDED, text),
		expected);
}

static void test_gpus(void **state)
{
	struct ps_scene scene;
	struct gpu gpus[9];

	(void)state;
	make_scene(&scene);
	for (unsigned int i = 0; i < 9; i++)
		gpus[i] = (struct gpu){.index = i, .mig = GPU_NONE};
	gpus[8] = (struct gpu){.index = 7, .mig = 2};
	scene.ps.model.gpus = gpus;
	scene.ps.model.gpu_count = 9;
	scene.rows[0].on_gpus[0] = 0xff;
	expect_gpus(&scene, "0-7");
	scene.rows[0].on_gpus[0] = 0x1b3;
	expect_gpus(&scene, "0,1,4,5,7,7:2");
	scene.rows[0].on_gpus[0] = 0;
	expect_gpus(&scene, "-");
	scene.rows[0].context = PS_CONTEXT_UNKNOWN;
	scene.on[0].gpu = 3;
	expect_gpus(&scene, "3");
}

static void test_gpus_without_nvml(void **state)
{
	struct cuda_environment environment = {.known = true, .nodes = NODES_ALL};
	struct ps_scene scene;

	(void)state;
	make_scene(&scene);
	scene.ps.model.gpu_count = 0;
	scene.rows[0].context = PS_CONTEXT_UNKNOWN;
	expect_gpus(&scene, "-");
	scene.processes[0].environment = &environment;
	expect_gpus(&scene, "all");
	environment.has_visible = true;
	strcpy(environment.visible, "2,3");
	expect_gpus(&scene, "2,3");
	environment.known = false;
	expect_gpus(&scene, "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_terminals),
		cmocka_unit_test(test_every_width),
		cmocka_unit_test(test_room_for_commands),
		cmocka_unit_test(test_a_blocked_one_is_not_idle),
		cmocka_unit_test(test_several_are_stuck),
		cmocka_unit_test(test_all_are_left_out),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_gpus_without_nvml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
