// SPDX-License-Identifier: BSD-2-Clause
// Finding the interpreter in a process, and its own table of offsets, which may be anything.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/python_process.h"

/* A process of `python` that has said that it runs. */
static pid_t start(const char *python)
{
	int ends[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		execl(python, python, "-c", "import time; print(flush=True); time.sleep(60)", (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void finds_the_interpreter(void **state)
{
	pid_t pid = start("/usr/bin/python3.11");
	struct python_process python;
	struct error err = {0};
	int ret = python_process__find(pid, &python, &err);

	(void)state;
	stop(pid);
	if (ret)
		fail_msg("%d: %s", ret, err.text);
	assert_int_equal(python.offsets.minor, 11);
	assert_int_not_equal(python.offsets.target.key_address, 0);
	assert_in_range(python.offsets.target.code_type, python.object_start, python.object_end);
	assert_true(python.eval_end - python.eval_start > 1000);
	assert_in_range(python.eval_start, python.object_start, python.object_end);
	assert_int_equal(python.offsets.target.value_size, 16);
	assert_int_equal(python.offsets.target.value_data, 8);
	assert_in_range(python.offsets.target.specific, 512, 4096);
}

static void others_have_none(void **state)
{
	struct python_process python;
	struct error err = {0};
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	usleep(100000);
	assert_int_equal(python_process__find(pid, &python, &err), -ENOENT);
	stop(pid);
	assert_int_not_equal(python_process__find(pid, &python, &err), 0);
	assert_int_equal(python_process__find(getpid(), &python, &err), -ENOENT);
}

static void versions(void **state)
{
	(void)state;
	assert_null(python_offsets__of(7));
	assert_null(python_offsets__of(15));
	for (unsigned int minor = 8; minor <= 14; minor++) {
		const struct python_offsets *offsets = python_offsets__of(minor);
		const struct python_target *target;

		assert_non_null(offsets);
		target = &offsets->target;
		assert_int_equal(offsets->minor, minor);
		assert_true(target->frame_size <= PYTHON_FRAME_READ);
		assert_true(target->frame_instruction < target->frame_size);
		assert_true(target->frame_owner < target->frame_size);
		/* The checksum ends with the name that is shown, and the table. */
		assert_int_equal(offsets->code_table, target->code_words * 8);
		assert_int_equal(offsets->code_qualname ? offsets->code_qualname : offsets->code_name,
				 (target->code_words - 1) * 8);
	}
}

/* That of 3.13.0. */
static void table_of_3_13(uint64_t table[73])
{
	static const struct {
		unsigned int word;
		uint64_t value;
	} words[] = {
		{1, 0x030d00f0}, {19, 280}, {23, 72}, {24, 152}, {28, 88}, {29, 8}, {30, 0}, {31, 56}, {33, 70},
		{34, 208}, {35, 112}, {36, 120}, {37, 128}, {38, 136}, {39, 68}, {40, 52}, {43, 200}, {45, 8},
		{47, 24}, {65, 16}, {66, 32}, {68, 32}, {69, 16}, {70, 40},
	};

	memset(table, 0, 73 * sizeof(*table));
	memcpy(table, "xdebugpy", 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		table[words[i].word] = words[i].value;
}

static int check_with(unsigned int word, uint64_t value)
{
	struct python_offsets offsets = *python_offsets__of(13);
	uint64_t table[73];
	struct error err = {0};
	int ret;

	table_of_3_13(table);
	table[word] = value;
	ret = python_offsets__check(&offsets, table, &err);
	assert_int_equal(ret != 0, err.text[0] != '\0');
	if (ret)
		assert_memory_equal(&offsets, python_offsets__of(13), sizeof(offsets));
	return ret;
}

static void its_own_table(void **state)
{
	static const unsigned int offsets[] = {23, 24, 29, 30, 31, 33, 35, 36, 37, 38, 39, 40, 43,
					       45, 47, 65, 66, 68, 69, 70};
	struct python_offsets taken = *python_offsets__of(13);
	uint64_t table[73];

	(void)state;
	table_of_3_13(table);
	assert_int_equal(python_offsets__check(&taken, table, NULL), 0);
	assert_memory_equal(&taken, python_offsets__of(13), sizeof(taken));
	table[23] = 80;
	assert_int_equal(python_offsets__check(&taken, table, NULL), 0);
	assert_int_equal(taken.target.state_frame, 80);
	assert_int_equal(check_with(0, 0), -EPROTO);
	assert_int_equal(check_with(1, 0x030c01f0), -EPROTO);
	assert_int_equal(check_with(2, 1), -ENOTSUP);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		assert_int_equal(check_with(offsets[i], UINT64_MAX), -EPROTO);
		assert_int_equal(check_with(offsets[i], UINT64_MAX - 7), -EPROTO);
		assert_int_equal(check_with(offsets[i], 4096), -EPROTO);
	}
	assert_int_equal(check_with(19, UINT64_MAX), -EPROTO);
	assert_int_equal(check_with(28, 4), -EPROTO);
	assert_int_equal(check_with(34, 100), -EPROTO);
}

static void random_tables(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		struct python_offsets offsets = *python_offsets__of(13);
		uint64_t table[73];

		table_of_3_13(table);
		for (int i = 0; i < 3; i++)
			table[2 + (size_t)rand_r(&seed) % 71] = (uint64_t)rand_r(&seed) >> rand_r(&seed) % 31;
		if (python_offsets__check(&offsets, table, NULL))
			continue;
		assert_true(offsets.target.frame_back < PYTHON_FRAME_READ);
		assert_true(offsets.target.frame_instruction < PYTHON_FRAME_READ);
		assert_true(offsets.target.state_frame < 4096);
		assert_true(offsets.code_first_line < 4096);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_interpreter), cmocka_unit_test(others_have_none),
		cmocka_unit_test(versions),		 cmocka_unit_test(its_own_table),
		cmocka_unit_test(random_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
