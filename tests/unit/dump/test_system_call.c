// SPDX-License-Identifier: BSD-2-Clause
// System calls by number, and calls hidden by restart_syscall(2).
#include <asm/unistd_64.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dump/system_call.h"

#define ADDRESS 0x7f0012345678
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void calls_have_names_and_forms(void **state)
{
	static const struct {
		uint64_t number;
		const char *name;
		enum call_form form;
	} known[] = {{0, "read", CALL_READ},
		     {7, "poll", CALL_POLL},
		     {16, "ioctl", CALL_ON_FILE},
		     {61, "wait4", CALL_WAIT4},
		     {202, "futex", CALL_LOCK},
		     {230, "clock_nanosleep", CALL_SLEEP},
		     {270, "pselect6", CALL_SELECT},
		     {281, "epoll_pwait", CALL_EPOLL},
		     {441, "epoll_pwait2", CALL_EPOLL},
		     {455, "futex_wait", CALL_LOCK}};

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		struct system_call call = system_call__of(known[i].number);

		assert_non_null(call.name);
		assert_string_equal(call.name, known[i].name);
		assert_int_equal(call.form, known[i].form);
	}
}

static void other_numbers_have_none(void **state)
{
	static const uint64_t numbers[] = {39 /* getpid */, 335,	456,
					   100000,	    UINT32_MAX, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		assert_null(system_call__of(numbers[i]).name);
		assert_int_equal(system_call__of(numbers[i]).form, CALL_OTHER);
	}
}

/* As in glibc: an instruction loads the number, others may follow, then "syscall". */
static void code_reports_what_is_restarted(void **state)
{
	static const uint64_t numbers[] = {__NR_nanosleep, __NR_clock_nanosleep, __NR_poll,
					   __NR_futex};
	const uint64_t none[6] = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		for (size_t at = 0; at + 7 <= SYSTEM_CALL_CODE_SIZE; at++) {
			uint8_t code[SYSTEM_CALL_CODE_SIZE];

			memset(code, 0x90, sizeof(code));
			code[at] = 0xb8;
			memcpy(code + at + 1, &(uint32_t){(uint32_t)numbers[i]}, 4);
			memcpy(code + sizeof(code) - 2, "\x0f\x05", 2);
			assert_int_equal(system_call__restarted(code, none), numbers[i]);
		}
	}
}

static void arguments_report_where_code_does_not(void **state)
{
	static const struct {
		uint64_t number, arguments[6];
	} calls[] = {{__NR_clock_nanosleep, {1, 0, ADDRESS, ADDRESS}},
		     {__NR_clock_nanosleep, {0, 0, ADDRESS, 0}},
		     {__NR_nanosleep, {ADDRESS, ADDRESS}},
		     {__NR_nanosleep, {ADDRESS, 0}},
		     {__NR_futex, {ADDRESS, FUTEX_WAIT_PRIVATE, 1, ADDRESS}},
		     {__NR_futex,
		      {ADDRESS, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1, ADDRESS}},
		     {__NR_poll, {ADDRESS, 1, 1000}},
		     {__NR_poll, {ADDRESS, 20, 1000}}};
	uint8_t code[SYSTEM_CALL_CODE_SIZE] = {0xb8, 0xe6}; /* no "syscall" follows */

	(void)state;
	for (size_t i = 0; i < COUNT(calls); i++)
		assert_int_equal(system_call__restarted(code, calls[i].arguments), calls[i].number);
}

/* A number that is never restarted this way is not believed, wherever it comes from. */
static void code_is_not_trusted(void **state)
{
	const uint64_t arguments[6] = {ADDRESS, ADDRESS};
	uint8_t code[SYSTEM_CALL_CODE_SIZE] = {0};

	(void)state;
	memcpy(code + sizeof(code) - 7, "\xb8\x3d\x00\x00\x00\x0f\x05", 7);
	assert_int_equal(system_call__restarted(code, arguments), __NR_nanosleep);
	memset(code, 0xb8, sizeof(code));
	assert_int_equal(system_call__restarted(code, arguments), __NR_nanosleep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_names_and_forms),
		cmocka_unit_test(other_numbers_have_none),
		cmocka_unit_test(code_reports_what_is_restarted),
		cmocka_unit_test(arguments_report_where_code_does_not),
		cmocka_unit_test(code_is_not_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
