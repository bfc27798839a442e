// SPDX-License-Identifier: BSD-2-Clause
// Records to the journal: by its own protocol with fields, as lines where that is impossible.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/journal.h"

static const struct journal_field fields[] = {
	{"GPUPROBE_FINDING", "oom"},
	{"GPUPROBE_PID", "7\nPRIORITY=0"},
};
static const struct journal_record record = {
	.priority = JOURNAL_ERROR,
	.message = "critical oom",
	.fields = fields,
	.field_count = 2,
};

static void expect_line(const char *socket_path, const char *expected)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct journal *journal = journal__new(socket_path, out);

	assert_non_null(journal);
	journal__write(journal, &record);
	journal__free(journal);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_lines(void **state)
{
	(void)state;
	expect_line(NULL, "gpuprobe: critical oom\n");
	/* Nobody listens there. */
	expect_line("/tmp/gpuprobe-no-journal", "<3>critical oom\n");
}

static void test_fields(void **state)
{
	char path[] = "/tmp/gpuprobe-journal-XXXXXX", text[512];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ssize_t length;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_line(address.sun_path, "");
	length = recv(fd, text, sizeof(text) - 1, 0);
	assert_true(length > 0);
	text[length] = '\0';
	/* A value cannot begin a field of its own. */
	assert_string_equal(text, "PRIORITY=3\nSYSLOG_IDENTIFIER=gpuprobe\nMESSAGE=critical oom\n"
				  "GPUPROBE_FINDING=oom\nGPUPROBE_PID=7 PRIORITY=0\n");
	close(fd);
	unlink(address.sun_path);
	rmdir(path);
}

static void test_stream(void **state)
{
	FILE *file = tmpfile();
	char stream[64];
	struct stat info;

	(void)state;
	unsetenv("JOURNAL_STREAM");
	assert_false(journal__reads(fileno(file)));
	assert_int_equal(fstat(fileno(file), &info), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)info.st_dev,
		 (unsigned long long)info.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_true(journal__reads(fileno(file)));
	/* Standard error was redirected: what reads it is not the journal. */
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)info.st_dev,
		 (unsigned long long)info.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_false(journal__reads(fileno(file)));
	setenv("JOURNAL_STREAM", "journal", 1);
	assert_false(journal__reads(fileno(file)));
	fclose(file);
}

static void take(void *arg, const struct journal_record *taken)
{
	*(const struct journal_record **)arg = taken;
}

static void another_protocol_takes_records(void **state)
{
	const struct journal_record *taken = NULL;
	struct journal *journal = journal__to(take, &taken);

	(void)state;
	assert_non_null(journal);
	journal__write(journal, &record);
	assert_ptr_equal(taken, &record);
	journal__free(journal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(another_protocol_takes_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
