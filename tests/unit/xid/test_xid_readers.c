// SPDX-License-Identifier: BSD-2-Clause
// Lines of the kernel's log about Xids, and records of the driver's tracepoint.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "xid/format.h"
#include "xid/log_line.h"

#define FAULT "NVRM: Xid (PCI:0001:c1:00): 31, pid=1234, name=python, Ch 00000008, intr 0"

static bool parse(const char *text, struct xid_report *report)
{
	memset(report, 0xee, sizeof(*report));
	return log_line__parse(text, strlen(text), report);
}

static void test_fault(void **state)
{
	struct xid_report report;
	char address[PCI_ADDRESS_SIZE];

	(void)state;
	assert_true(parse(FAULT, &report));
	pci_address__text(&report.address, address);
	assert_string_equal(address, "0001:c1:00");
	assert_int_equal(report.number, 31);
	assert_int_equal(report.pid, 1234);
	assert_string_equal(report.comm, "python");
	assert_string_equal(report.text, "Ch 00000008, intr 0");
}

static void test_without_process(void **state)
{
	struct xid_report report;

	(void)state;
	assert_true(parse("NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU "
			  "has fallen off the bus.",
			  &report));
	assert_int_equal(report.pid, 0);
	assert_string_equal(report.comm, "");
	assert_string_equal(report.text, "GPU has fallen off the bus.");
	assert_true(parse("NVRM: Xid (0000:41:00): 48, DBE", &report));
	assert_int_equal(report.number, 48);
	assert_int_equal(report.pid, 0);
	assert_string_equal(report.text, "DBE");
	assert_true(parse("NVRM: Xid (PCI:0000:41:00): 13, pid=7, name=a_name_that_is_far_too_long",
			  &report));
	assert_string_equal(report.comm, "a_name_that_is_");
	assert_string_equal(report.text, "");
}

static void test_other_lines(void **state)
{
	static const char *const others[] = {
		"",
		"NVRM: loading NVIDIA UNIX x86_64 Kernel Module",
		"NVRM: Xid (PCI:0000:41): 31, x",
		"NVRM: Xid (PCI:0000:141:00): 31, x",
		"NVRM: Xid (PCI:0000:41:00): , x",
		"NVRM: Xid (PCI:0000:41:00): 99999999999, x",
		"x NVRM: Xid (PCI:0000:41:00): 31, x",
	};
	struct xid_report report;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(parse(others[i], &report));
}

/* Root may write into the log, but not as the kernel. */
static void test_records(void **state)
{
	static const char *const kernels[] = {"3,1204,5678901,-;" FAULT,
					      "6,1,2,c,caller=T1;" FAULT};
	static const char *const others[] = {"11,1,2,-;" FAULT, "12,1,2,-;" FAULT, "3,1,2,-" FAULT,
					     " " FAULT, FAULT};
	struct xid_report report;

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		assert_true(log_line__parse_record(kernels[i], strlen(kernels[i]), &report));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(log_line__parse_record(others[i], strlen(others[i]), &report));
}

#define COMMON \
	"name: nvidia_dev_xid\nID: 1\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
#define AS_NOW \
	COMMON \
	"\tfield:__data_loc char[] dev;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:u32 error_code;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc char[] msg;\toffset:16;\tsize:4;\tsigned:0;\n"
#define ANOTHER \
	COMMON \
	"\tfield:u32 error_code;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:u64 more_msg;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:__data_loc char[] msg;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc char[] dev;\toffset:28;\tsize:4;\tsigned:0;\n"

static size_t put_text(char *record, size_t field, size_t at, const char *text)
{
	uint32_t place = (uint32_t)(at | (strlen(text) + 1) << 16);

	memcpy(record + field, &place, sizeof(place));
	memcpy(record + at, text, strlen(text) + 1);
	return at + strlen(text) + 1;
}

static size_t make_record(char *record, const struct xid_format *format)
{
	const uint32_t number = 94;
	size_t end = put_text(record, format->device, 64, "0000:41:00.0");

	memcpy(record + format->number, &number, sizeof(number));
	return put_text(record, format->message, end, "Contained");
}

static void test_formats(void **state)
{
	static const char *const texts[] = {AS_NOW, ANOTHER};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char record[256] = {0};
		struct xid_format format;
		struct xid_report report;
		struct error err;
		size_t size;

		assert_int_equal(xid_format__parse(texts[i], &format, &err), 0);
		assert_int_equal(format.message, i ? 24 : 16);
		size = make_record(record, &format);
		assert_true(xid_format__read(&format, record, size, &report));
		assert_int_equal(report.number, 94);
		assert_int_equal(report.address.bus, 0x41);
		assert_string_equal(report.text, "Contained");
		for (size_t cut = 0; cut < size; cut++)
			assert_false(xid_format__read(&format, record, cut, &report));
	}
}

static void test_other_formats(void **state)
{
	static const char *const texts[] = {
		"",
		COMMON,
		("\tfield:u32 dev;\toffset:8;\tsize:4;\n"
		 "\tfield:u32 error_code;\toffset:12;\tsize:4;\n"
		 "\tfield:__data_loc char[] msg;\toffset:16;\tsize:4;\n"),
		("\tfield:__data_loc char[] dev;\toffset:8;\tsize:4;\n"
		 "\tfield:u64 error_code;\toffset:12;\tsize:8;\n"
		 "\tfield:__data_loc char[] msg;\toffset:16;\tsize:4;\n"),
		("\tfield:__data_loc char[] dev;\toffset:99999999;\tsize:4;\n"
		 "\tfield:u32 error_code;\toffset:12;\tsize:4;\n"
		 "\tfield:__data_loc char[] msg;\toffset:16;\tsize:4;\n"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct xid_format format;
		struct error err;

		assert_true(xid_format__parse(texts[i], &format, &err) < 0);
		assert_non_null(strstr(err.text, "nvidia:nvidia_dev_xid"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault),	    cmocka_unit_test(test_without_process),
		cmocka_unit_test(test_other_lines), cmocka_unit_test(test_records),
		cmocka_unit_test(test_formats),	    cmocka_unit_test(test_other_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
