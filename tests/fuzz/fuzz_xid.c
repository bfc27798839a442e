// SPDX-License-Identifier: BSD-2-Clause
// Xids: the first byte chooses a line of the kernel's log, the tracepoint's format, or a record.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "xid/format.h"
#include "xid/log_line.h"

static void must_be_report(const struct xid_report *report)
{
	MUST(report->pid >= 0);
	MUST(memchr(report->comm, '\0', sizeof(report->comm)));
	MUST(memchr(report->text, '\0', sizeof(report->text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct xid_format usual = {.device = 8, .number = 12, .message = 16};
	struct xid_format format;
	struct xid_report report;
	struct error err;
	char *text;

	if (!size || !(text = malloc(size)))
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] % 3 == 0 && log_line__parse_record(text, size - 1, &report))
		must_be_report(&report);
	if (data[0] % 3 == 1 && !xid_format__parse(text, &format, &err))
		MUST(format.device <= 8192 && format.message <= 8192);
	if (data[0] % 3 == 2 && xid_format__read(&usual, text, size - 1, &report))
		must_be_report(&report);
	free(text);
	return 0;
}
