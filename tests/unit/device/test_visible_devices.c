// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which GPUs a process has according to its environment. The cases of two GPUs record what driver
 * 580.159 did on a machine with two H200: the device counts of cuInit and cuDeviceGetCount, and the
 * UUIDs.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/visible_devices.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define A "GPU-481a27f2-2a38-0c64-c4d8-1ba147704c16"
#define B "GPU-284e4508-0e45-6a39-6786-0769fca4d80e"
#define UNKNOWN 9 /* in the lists below: a device on an unknown GPU */

static const struct gpu two[] = {
	{.index = 0,
	 .mig = GPU_NONE,
	 .minor = 0,
	 .uuid = A,
	 .name = "NVIDIA H200",
	 .bus_id = "00000000:06:00.0"},
	{.index = 1,
	 .mig = GPU_NONE,
	 .minor = 1,
	 .uuid = B,
	 .name = "NVIDIA H200",
	 .bus_id = "00000000:07:00.0"},
};

struct sample {
	const char *visible, *order; /* NULL: not set */
	const char *gpus;	     /* a digit for each device; NULL: unknown */
};

static struct cuda_environment environment_of(const struct sample *sample)
{
	struct cuda_environment environment = {.known = true, .nodes = NODES_ALL};

	environment.has_visible = sample->visible;
	snprintf(environment.visible, VISIBLE_SIZE, "%s", sample->visible ? sample->visible : "");
	environment.has_order = sample->order;
	snprintf(environment.order, sizeof(environment.order), "%s",
		 sample->order ? sample->order : "");
	return environment;
}

static void expect(const struct cuda_environment *environment, const struct gpu *gpus, size_t count,
		   const char *expected)
{
	struct visible_devices visible;
	char text[VISIBLE_MAX + 1] = "";

	visible_devices__map(environment, gpus, count, &visible);
	for (size_t i = 0; i < visible.count; i++)
		text[i] = visible.gpu[i] == GPU_NONE ? '9' : (char)('0' + visible.gpu[i]);
	if (visible.known != !!expected || (expected && strcmp(text, expected)))
		fail_msg("CUDA_VISIBLE_DEVICES=\"%s\": \"%s\", known %d, instead of \"%s\"",
			 environment->visible, text, visible.known,
			 expected ? expected : "unknown");
}

static void check(const struct sample *samples, size_t sample_count, const struct gpu *gpus,
		  size_t gpu_count)
{
	for (size_t i = 0; i < sample_count; i++) {
		struct cuda_environment environment = environment_of(&samples[i]);

		expect(&environment, gpus, gpu_count, samples[i].gpus);
	}
}

static void numbers(void **state)
{
	static const struct sample samples[] = {
		{NULL, NULL, "01"},
		{"", NULL, ""},
		{"0", NULL, "0"},
		{"1", NULL, "1"},
		{"1,0", NULL, "10"},
		{"0,1", NULL, "01"},
		{"0,0", NULL, ""},
		{"1,1,0", NULL, ""},
		{"0,1,1", NULL, ""},
		{"0,-1,1", NULL, "0"},
		{"-1", NULL, ""},
		{"0,2,1", NULL, "0"},
		{"2", NULL, ""},
		{"0,5,0", NULL, "0"},
		{"0,1,2", NULL, "01"},
		{"0,,1", NULL, "0"},
		{",0", NULL, ""},
		{" 0", NULL, "0"},
		{"0 ,1", NULL, "01"},
		{"0, 1", NULL, "01"},
		{"+1", NULL, "1"},
		{"01", NULL, "1"},
		{"0x1", NULL, "0"},
		{"1gpu", NULL, "1"},
		{"a", NULL, ""},
		{"NoDevFiles", NULL, ""},
		{"none", NULL, ""},
		{"all", NULL, ""},
		{"4294967296", NULL, "0"},
		{"4294967297", NULL, "1"},
		{"99999999999999999999", NULL, ""},
		{"1;0", NULL, "1"},
		{"1 0", NULL, "1"},
		{"1,", NULL, "1"},
		{"\t1", NULL, "1"},
		{"\n1", NULL, "1"},
		{"1\n", NULL, "1"},
		{"-4294967295", NULL, "1"},
		{"-0", NULL, "0"},
		{"--1", NULL, ""},
		{"1,-0", NULL, "10"},
		{" ", NULL, ""},
		{"1/0", NULL, "1"},
		{"0:1", NULL, "0"},
		{"1,GPU-481a27f2", NULL, "1"},
		{"0,MIG-x", NULL, "0"},
		{NULL, "PCI_BUS_ID", "01"},
		{NULL, "FASTEST_FIRST", "01"},
		{NULL, "x", ""},
		{NULL, "", ""},
		{NULL, "pci_bus_id", ""},
		{NULL, "PCI_BUS_ID ", ""},
	};

	(void)state;
	check(samples, COUNT(samples), two, COUNT(two));
}

static void uuids(void **state)
{
	static const struct sample samples[] = {
		{A, NULL, "0"},
		{B, NULL, "1"},
		{B "," A, NULL, "10"},
		{"GPU-481a", NULL, "0"},
		{"GPU-284e,GPU-481a", NULL, "10"},
		{"GPU-2", NULL, "1"},
		{"GPU-284e4508-0", NULL, "1"},
		{"GPU-", NULL, ""},
		{"GPU-,0", NULL, ""},
		{"GPU", NULL, ""},
		{"GPU-zz", NULL, ""},
		{"gpu-284e4508-0e45-6a39-6786-0769fca4d80e", NULL, ""},
		{"GPU-284E4508-0E45-6A39-6786-0769FCA4D80E", NULL, "1"},
		{"GPU-284E4508", NULL, "1"},
		{"284e4508-0e45-6a39-6786-0769fca4d80e", NULL, ""},
		{A ",1", NULL, "0"},
		{A "," A, NULL, ""},
		{"GPU-481a2," A, NULL, ""},
		{"GPU-ffffffff," A, NULL, ""},
		{A ",GPU-ffffffff," B, NULL, "0"},
		{" " B, NULL, ""},
		{B " ", NULL, "1"},
		{B " ," A, NULL, "10"},
		{A ", " B, NULL, "0"},
		{B "x", NULL, "1"},
		{B "/1", NULL, "1"},
		{"GPU-284e ", NULL, ""},
		{"GPU-284ex", NULL, ""},
		{"GPU-284e ,GPU-481a", NULL, ""},
		{"GPU284e4", NULL, ""},
		{"MIG-" B, NULL, ""},
		{"MIG-x", NULL, ""},
		{A ",", NULL, "0"},
		{A, "x", ""},
	};

	(void)state;
	check(samples, COUNT(samples), two, COUNT(two));
}

/* Not measured: the order that CUDA itself gives GPUs of different names. */
static void order(void **state)
{
	static const struct gpu mixed[] = {
		{.index = 0,
		 .mig = GPU_NONE,
		 .uuid = A,
		 .name = "NVIDIA T4",
		 .bus_id = "00000000:81:00.0"},
		{.index = 1,
		 .mig = GPU_NONE,
		 .uuid = B,
		 .name = "NVIDIA H200",
		 .bus_id = "00000000:07:00.0"},
	};
	static const struct sample samples[] = {
		{NULL, NULL, "99"},
		{"1,0", NULL, "99"},
		{"1,2", NULL, "9"},
		{"0,0", NULL, ""},
		{"", NULL, ""},
		{NULL, "FASTEST_FIRST", "99"},
		{NULL, "PCI_BUS_ID", "10"},
		{"0", "PCI_BUS_ID", "1"},
		{B "," A, NULL, "10"},
		{A, NULL, "0"},
	};

	(void)state;
	check(samples, COUNT(samples), mixed, COUNT(mixed));
}

static void divided_gpus(void **state)
{
	static const struct gpu gpus[] = {
		{.index = 0,
		 .mig = GPU_NONE,
		 .divided = true,
		 .uuid = A,
		 .name = "H200",
		 .bus_id = "00000000:06:00.0"},
		{
			.index = 0,
			.mig = 0,
			.instance = {7, 0},
			.uuid = "MIG-11111111-2222-3333-4444-555555555555",
			.name = "H200 MIG 1g",
			.bus_id = "00000000:06:00.0",
		},
		{
			.index = 0,
			.mig = 1,
			.instance = {8, 0},
			.uuid = "MIG-21111111-2222-3333-4444-555555555555",
			.name = "H200 MIG 1g",
			.bus_id = "00000000:06:00.0",
		},
		{.index = 1,
		 .mig = GPU_NONE,
		 .uuid = B,
		 .name = "H200",
		 .bus_id = "00000000:07:00.0"},
	};
	static const struct sample samples[] = {
		{"MIG-21111111-2222-3333-4444-555555555555", NULL, "2"},
		{"MIG-21111111-2222-3333-4444-555555555555,MIG-11111111-2222-3333-4444-"
		 "555555555555",
		 NULL, "2"},
		{"MIG-" A "/7/0", NULL, "1"},
		{"MIG-" A "/8/0", NULL, "2"},
		{"MIG-" A "/9/0", NULL, NULL},
		{"MIG-2111", NULL, NULL},
		{NULL, NULL, NULL},
		{"0", NULL, NULL},
		{A, NULL, NULL},
		{B, NULL, "3"},
	};
	static const uint8_t reported[16] = {0x21, 0x11, 0x11, 0x11, 0x22, 0x22, 0x33, 0x33,
					     0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};

	(void)state;
	check(samples, COUNT(samples), gpus, COUNT(gpus));
	assert_int_equal(visible_devices__by_uuid(reported, gpus, COUNT(gpus)), 2);
}

static void reported_uuids(void **state)
{
	static const uint8_t b[16] = {0x28, 0x4e, 0x45, 0x08, 0x0e, 0x45, 0x6a, 0x39,
				      0x67, 0x86, 0x07, 0x69, 0xfc, 0xa4, 0xd8, 0x0e};
	static const uint8_t other[16] = {0x28};

	(void)state;
	assert_int_equal(visible_devices__by_uuid(b, two, COUNT(two)), 1);
	assert_int_equal(visible_devices__by_uuid(other, two, COUNT(two)), GPU_NONE);
	assert_int_equal(visible_devices__by_uuid(b, NULL, 0), GPU_NONE);
}

/* In a container with some of the machine's GPUs, the numbers are the container's. */
static void containers(void **state)
{
	struct cuda_environment environment = environment_of(&(struct sample){NULL, NULL, NULL});

	(void)state;
	environment.nodes = NODES_LISTED;
	environment.minors = 1 << 1;
	expect(&environment, two, COUNT(two), "1");
	snprintf(environment.visible, VISIBLE_SIZE, "0");
	environment.has_visible = true;
	expect(&environment, two, COUNT(two), "1");
	snprintf(environment.visible, VISIBLE_SIZE, "%s", A);
	expect(&environment, two, COUNT(two), "");
	environment.minors = 1 << 0 | 1 << 1;
	expect(&environment, two, COUNT(two), "0");
	/* A GPU that NVML does not have. */
	environment.minors = 1 << 0 | 1 << 2;
	expect(&environment, two, COUNT(two), NULL);
	environment.minors = 0;
	expect(&environment, two, COUNT(two), NULL);
	environment.nodes = NODES_UNKNOWN;
	expect(&environment, two, COUNT(two), NULL);
}

static void what_is_not_known(void **state)
{
	struct cuda_environment environment = environment_of(&(struct sample){"0", NULL, NULL});

	(void)state;
	expect(&environment, two, 0, NULL);
	environment.batch_job = true;
	expect(&environment, two, COUNT(two), NULL);
	snprintf(environment.visible, VISIBLE_SIZE, "%s", B);
	expect(&environment, two, COUNT(two), "1");
	environment.known = false;
	expect(&environment, two, COUNT(two), NULL);
}

static struct cuda_environment parse(const char *bytes, size_t length)
{
	struct cuda_environment environment = {0};

	cuda_environment__parse(bytes, length, &environment);
	return environment;
}

#define PARSE(literal) parse(literal, sizeof(literal) - 1)

static void variables(void **state)
{
	struct cuda_environment e;

	(void)state;
	e = PARSE("A=1\0CUDA_VISIBLE_DEVICES=1,0\0CUDA_DEVICE_ORDER=PCI_BUS_ID\0");
	assert_true(e.known && e.has_visible && e.has_order && !e.batch_job);
	assert_string_equal(e.visible, "1,0");
	assert_string_equal(e.order, "PCI_BUS_ID");
	e = PARSE("XCUDA_VISIBLE_DEVICES=1\0CUDA_VISIBLE_DEVICESX=2\0CUDA_VISIBLE_DEVICES=\0CUDA_"
		  "VISIBLE_DEVICES=3\0");
	assert_true(e.known && e.has_visible);
	assert_string_equal(e.visible, "");
	e = PARSE("SLURM_JOB_ID=7\0");
	assert_true(e.known && e.batch_job && !e.has_visible);
	e = PARSE("");
	assert_true(e.known && !e.has_visible);
	/* Overwritten by a process title, cut, or implausible. */
	assert_false(PARSE("ray::worker\0\0\0\0").known);
	assert_false(PARSE("A=1\0\0B=2\0").known);
	assert_false(PARSE("A=1\0CUDA_VISIBLE_DEVICES=1").known);
}

static void long_values(void **state)
{
	char bytes[VISIBLE_SIZE + 64];
	int length =
		snprintf(bytes, sizeof(bytes), "CUDA_VISIBLE_DEVICES=%0*d", VISIBLE_SIZE - 1, 1) +
		1;
	struct cuda_environment environment = parse(bytes, (size_t)length);

	(void)state;
	assert_true(environment.known);
	expect(&environment, two, 0, NULL);
	length = snprintf(bytes, sizeof(bytes), "CUDA_VISIBLE_DEVICES=%0*d", VISIBLE_SIZE, 1) + 1;
	assert_false(parse(bytes, (size_t)length).known);
}

/* A child's environment as in /proc. */
static void reads_proc(void **state)
{
	static char *const variables_of_child[] = {"CUDA_VISIBLE_DEVICES=GPU-x", "B=2", NULL};
	struct cuda_environment environment;
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		/* The shell's child must end with the test, too: it has the test's output open. */
		setpgid(0, 0);
		dup2(ready[1], STDOUT_FILENO);
		execle("/bin/sh", "sh", "-c", "echo; sleep 60", NULL, variables_of_child);
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	cuda_environment__read(NULL, pid, &environment);
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	assert_true(environment.known && environment.has_visible);
	assert_string_equal(environment.visible, "GPU-x");
	assert_int_equal(environment.nodes, NODES_ALL);
	cuda_environment__read(NULL, 999999999, &environment);
	assert_false(environment.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(uuids),
		cmocka_unit_test(order),
		cmocka_unit_test(divided_gpus),
		cmocka_unit_test(reported_uuids),
		cmocka_unit_test(containers),
		cmocka_unit_test(what_is_not_known),
		cmocka_unit_test(variables),
		cmocka_unit_test(long_values),
		cmocka_unit_test(reads_proc),
	};

	return cmocka_run_group_tests_name("visible devices", tests, NULL, NULL);
}
