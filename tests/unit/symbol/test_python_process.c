// SPDX-License-Identifier: BSD-2-Clause
// Finding the interpreter in a process, and its own offset table, which may contain anything.
#include <errno.h>
#include <fcntl.h>
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

/* A process of `python` that has reported that it runs. */
static pid_t start(const char *python)
{
	int ends[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		execl(python, python, "-c", "import time; print(flush=True); time.sleep(60)",
		      (char *)NULL);
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
	int ret = python_process__find(NULL, pid, &python, &err);

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

/* A program that is not Python, and has shown that it runs by an answer. */
static pid_t start_cat(int *input)
{
	int in[2], out[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	assert_int_equal(write(in[1], "x", 1), 1);
	assert_int_equal(read(out[0], &byte, 1), 1);
	close(out[0]);
	*input = in[1];
	return pid;
}

static void others_have_none(void **state)
{
	struct python_process python;
	struct error err = {0};
	int input;
	pid_t pid = start_cat(&input);

	(void)state;
	assert_int_equal(python_process__find(NULL, pid, &python, &err), -ENOENT);
	stop(pid);
	close(input);
	assert_int_not_equal(python_process__find(NULL, pid, &python, &err), 0);
	assert_int_equal(python_process__find(NULL, getpid(), &python, &err), -ENOENT);
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
		/* The checksum covers everything up to the name shown, and the table. */
		assert_int_equal(offsets->code_table, target->code_words * 8);
		assert_int_equal(offsets->code_qualname ? offsets->code_qualname :
							  offsets->code_name,
				 (target->code_words - 1) * 8);
	}
}

#define TABLE_WORDS (PYTHON_DEBUG_OFFSETS_SIZE / 8)

struct word {
	unsigned int word;
	uint64_t value;
};

/*
 * The words of 3.13.0 and 3.14.10 there; first the sizes, then the offsets, then what must not
 * differ.
 */
static const struct word words_of[2][24] = {
	{
		{1, 0x030d00f0}, {19, 304}, {28, 80}, {34, 208}, {23, 72},  {24, 152},
		{29, 8},	 {30, 0},   {31, 56}, {33, 70},	 {35, 112}, {36, 120},
		{37, 128},	 {38, 136}, {39, 68}, {40, 52},	 {43, 200}, {45, 8},
		{47, 24},	 {65, 16},  {66, 32}, {68, 32},	 {69, 16},  {70, 40},
	},
	{
		{1, 0x030e0af0}, {22, 832}, {31, 88}, {39, 216}, {26, 72},  {27, 152},
		{32, 8},	 {33, 0},   {34, 56}, {36, 74},	 {40, 112}, {41, 120},
		{42, 128},	 {43, 136}, {44, 68}, {45, 52},	 {48, 208}, {51, 8},
		{53, 24},	 {75, 16},  {76, 32}, {78, 32},	 {79, 16},  {80, 40},
	},
};

#define SIZES 1
#define OFFSETS 4

static void table_of(int minor, uint64_t table[TABLE_WORDS])
{
	memset(table, 0, TABLE_WORDS * sizeof(*table));
	memcpy(table, "xdebugpy", 8);
	for (size_t i = 0; i < 24; i++)
		table[words_of[minor - 13][i].word] = words_of[minor - 13][i].value;
}

static int check_with(int minor, unsigned int word, uint64_t value)
{
	struct python_offsets offsets = *python_offsets__of((unsigned int)minor);
	uint64_t table[TABLE_WORDS];
	struct error err = {0};
	int ret;

	table_of(minor, table);
	table[word] = value;
	ret = python_offsets__check(&offsets, table, &err);
	assert_int_equal(ret != 0, err.text[0] != '\0');
	if (ret)
		assert_memory_equal(&offsets, python_offsets__of((unsigned int)minor),
				    sizeof(offsets));
	return ret;
}

static void its_own_table(void **state)
{
	(void)state;
	for (int minor = 13; minor <= 14; minor++) {
		const struct word *words = words_of[minor - 13];
		struct python_offsets taken = *python_offsets__of((unsigned int)minor);
		uint64_t table[TABLE_WORDS];

		table_of(minor, table);
		assert_int_equal(python_offsets__check(&taken, table, NULL), 0);
		assert_memory_equal(&taken, python_offsets__of((unsigned int)minor), sizeof(taken));
		table[words[OFFSETS].word] = 80;
		assert_int_equal(python_offsets__check(&taken, table, NULL), 0);
		assert_int_equal(taken.target.state_frame, 80);
		assert_int_equal(check_with(minor, 0, 0), -EPROTO);
		assert_int_equal(check_with(minor, 1, 0x030c01f0), -EPROTO);
		assert_int_equal(check_with(minor, 2, 1), -ENOTSUP);
		for (size_t i = SIZES; i < 24; i++)
			assert_int_equal(check_with(minor, words[i].word, UINT64_MAX), -EPROTO);
		for (size_t i = OFFSETS; i < 24; i++) {
			assert_int_equal(check_with(minor, words[i].word, UINT64_MAX - 7), -EPROTO);
			assert_int_equal(check_with(minor, words[i].word, 4096), -EPROTO);
		}
		assert_int_equal(check_with(minor, words[SIZES + 1].word, 4), -EPROTO);
		assert_int_equal(check_with(minor, words[SIZES + 2].word, 100), -EPROTO);
	}
}

static void random_tables(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		struct python_offsets offsets = *python_offsets__of(13 + (unsigned int)round % 2);
		uint64_t table[TABLE_WORDS];

		table_of(13 + round % 2, table);
		for (int i = 0; i < 3; i++)
			table[2 + (size_t)rand_r(&seed) % (TABLE_WORDS - 2)] =
				(uint64_t)rand_r(&seed) >> rand_r(&seed) % 31;
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
		cmocka_unit_test(finds_the_interpreter),
		cmocka_unit_test(others_have_none),
		cmocka_unit_test(versions),
		cmocka_unit_test(its_own_table),
		cmocka_unit_test(random_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
