// SPDX-License-Identifier: BSD-2-Clause
// Messages about processes that cannot be watched: each reason with advice, and many processes in
// few lines.
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "cli/session/unwatchable.h"
#include "probe/attach_failure.h"

#define BIT(n) (UINT64_C(1) << (n))

static void names_what_lacks_alone(void **state)
{
	const uint64_t both = BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH);

	(void)state;
	assert_non_null(strstr(attach_failure__advice(0, true),
			       "with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"));
	assert_null(strstr(attach_failure__advice(0, false), "CAP_DAC_READ_SEARCH"));
	assert_null(strstr(attach_failure__advice(BIT(CAP_SYS_PTRACE), true), "CAP_SYS_PTRACE"));
	assert_null(strstr(attach_failure__advice(BIT(CAP_DAC_READ_SEARCH), true),
			   "CAP_DAC_READ_SEARCH"));
	assert_non_null(strstr(attach_failure__advice(both, true), "sandbox"));
	assert_non_null(strstr(attach_failure__advice(BIT(CAP_SYS_PTRACE), false), "sandbox"));
}

static void knows_reasons_of_files(void **state)
{
	(void)state;
	assert_non_null(
		strstr(file_attach_failure__of(-EPERM, true).advice, "CAP_CHECKPOINT_RESTORE"));
	assert_non_null(strstr(file_attach_failure__of(-EPERM, true).what, "deleted or replaced"));
	/* Missing permissions on the process take precedence. */
	assert_null(file_attach_failure__of(-EACCES, true).advice);
	assert_non_null(strstr(file_attach_failure__of(-EREMOTE, false).advice, "--libcuda-path"));
	assert_non_null(strstr(file_attach_failure__of(-EOVERFLOW, false).what,
			       "the list of mounts is longer than 16 MiB: it gets"));
	assert_non_null(
		strstr(file_attach_failure__of(-EOVERFLOW, false).advice, "--libcuda-path"));
	assert_non_null(
		strstr(file_attach_failure__of(-EINVAL, false).what, "not an x86-64 ELF file"));
	assert_null(file_attach_failure__of(-EACCES, false).advice);
	assert_string_equal(file_attach_failure__of(-EACCES, false).what,
			    " cannot be read: Permission denied");
}

static void names_process_and_file(void **state)
{
	struct attach_failure attach_failure = {.whole = false};
	char name[16], who[64];

	(void)state;
	/* The name of the running program, under valgrind. */
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	snprintf(who, sizeof(who), "process %d (%s): ", getpid(), name);
	assert_int_equal(attach_failure__of_process(getpid(), -EACCES, &attach_failure), -EACCES);
	assert_true(attach_failure.whole);
	assert_memory_equal(attach_failure.text.text, who, strlen(who));
	assert_non_null(
		strstr(attach_failure.text.text, "cannot read its mappings: Permission denied"));
	attach_failure.whole = false;
	assert_int_equal(attach_failure__of_file(getpid(), "/x/libcuda.so.1", false, -EACCES,
						 &attach_failure),
			 -EACCES);
	assert_memory_equal(attach_failure.text.text, who, strlen(who));
	assert_non_null(strstr(attach_failure.text.text,
			       ": /x/libcuda.so.1 cannot be read: Permission denied: "));
}

static void counts_a_process_once(void **state)
{
	static struct unwatchable refusals = {.named = 2};
	const struct attach_failure none = {.whole = false}, some = {.text = {"no"}};

	(void)state;
	unwatchable__report(&refusals, 1, &none, NULL);
	assert_int_equal(refusals.count, 0);
	for (pid_t pid = 1; pid <= 5; pid++) {
		unwatchable__report(&refusals, pid, &some, NULL);
		unwatchable__report(&refusals, 1, &some, NULL);
	}
	assert_int_equal(refusals.count, 5);
	/* The pids go beyond the list, without gaps. */
	for (pid_t pid = 6; pid <= UNWATCHABLE_KNOWN + 10; pid++)
		unwatchable__report(&refusals, pid, &some, NULL);
	assert_int_equal(refusals.count, UNWATCHABLE_KNOWN);
	assert_true(refusals.more);
}

/* The messages printed at the end. */
static void expect_rest(const struct unwatchable *refusals, const char *expected)
{
	const struct log log = {.level = LOG_WARN};
	int saved = dup(STDERR_FILENO), file = memfd_create("told", 0);
	char reported[256] = "";

	assert_true(saved >= 0 && file >= 0);
	fflush(stderr);
	dup2(file, STDERR_FILENO);
	unwatchable__report_rest(refusals, &log);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	assert_true(pread(file, reported, sizeof(reported) - 1, 0) >= 0);
	close(file);
	close(saved);
	assert_string_equal(reported, expected);
}

/* Processes that do not fit the list are not counted again each time. */
static void reports_no_wrong_number(void **state)
{
	static struct unwatchable refusals = {.named = 2};
	const struct attach_failure some = {.text = {"no"}};

	(void)state;
	expect_rest(&refusals, "");
	for (int i = 0; i < UNWATCHABLE_KNOWN; i++) {
		unwatchable__report(&refusals, INT_MAX - i, &some, NULL);
		if (i == 1)
			expect_rest(&refusals, "");
		else if (i == 2)
			expect_rest(&refusals, "gpuprobe: warning: 1 more process could not be "
					       "watched: --verbose names it\n");
	}
	expect_rest(&refusals, "gpuprobe: warning: 4094 more processes could not be watched: "
			       "--verbose names them\n");
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 2; i++)
			unwatchable__report(&refusals, INT_MAX - UNWATCHABLE_KNOWN - i, &some,
					    NULL);
	expect_rest(&refusals, "gpuprobe: warning: at least 4095 more processes could not be "
			       "watched: --verbose names them\n");
}

/* A reused pid is another process. */
static void knows_processes_by_their_start(void **state)
{
	static struct unwatchable refusals = {.named = 2};
	const struct attach_failure some = {.text = {"no"}};

	(void)state;
	unwatchable__report(&refusals, getpid(), &some, NULL);
	unwatchable__report(&refusals, getpid(), &some, NULL);
	assert_int_equal(refusals.count, 1);
	assert_true(refusals.known[0].start_ns);
	refusals.known[0].start_ns--;
	unwatchable__report(&refusals, getpid(), &some, NULL);
	assert_int_equal(refusals.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_lacks_alone),
		cmocka_unit_test(knows_reasons_of_files),
		cmocka_unit_test(names_process_and_file),
		cmocka_unit_test(counts_a_process_once),
		cmocka_unit_test(reports_no_wrong_number),
		cmocka_unit_test(knows_processes_by_their_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
