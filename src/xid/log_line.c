// SPDX-License-Identifier: BSD-2-Clause
// Lines of the kernel's log about Xids, see log_line.h.
#include "xid/log_line.h"

#include <string.h>

#define FACILITY_SHIFT 3 /* below it is the level; the kernel's own facility is 0 */

/* A part of the text that is still to be read. */
struct cursor {
	const char *at, *end;
};

static bool skip(struct cursor *cursor, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
		return false;
	cursor->at += length;
	return true;
}

static bool read_number(struct cursor *cursor, uint32_t *value)
{
	const char *before = cursor->at;
	uint64_t number = 0;

	while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
		number = number * 10 + (uint64_t)(*cursor->at++ - '0');
		if (number > INT32_MAX)
			return false;
	}
	*value = (uint32_t)number;
	return cursor->at > before;
}

static bool skip_past(struct cursor *cursor, char c)
{
	const char *found = memchr(cursor->at, c, (size_t)(cursor->end - cursor->at));

	if (found)
		cursor->at = found + 1;
	return found;
}

static void copy(char *out, size_t size, const char *text, size_t length)
{
	if (length >= size)
		length = size - 1;
	memcpy(out, text, length);
	out[length] = '\0';
}

/* "pid=1234, name=python, "; the driver writes pid='<unknown>', name=<unknown> without one. */
static void read_process(struct cursor *cursor, struct xid_report *report)
{
	uint32_t pid = 0;
	const char *name;

	if (!skip(cursor, "pid="))
		return;
	skip(cursor, "'");
	read_number(cursor, &pid);
	report->pid = (int32_t)pid;
	if (!skip_past(cursor, ','))
		return;
	skip(cursor, " ");
	if (!skip(cursor, "name="))
		return;
	name = cursor->at;
	if (!skip_past(cursor, ','))
		cursor->at = cursor->end;
	if (pid)
		copy(report->comm, sizeof(report->comm), name,
		     (size_t)(cursor->at - name) - (cursor->at[-1] == ','));
	skip(cursor, " ");
}

void log_line__parse_rest(const char *text, size_t length, struct xid_report *report)
{
	struct cursor cursor = {text, text + length};

	report->pid = 0;
	report->comm[0] = '\0';
	read_process(&cursor, report);
	copy(report->text, sizeof(report->text), cursor.at, (size_t)(cursor.end - cursor.at));
}

bool log_line__parse(const char *text, size_t length, struct xid_report *report)
{
	struct cursor cursor = {text, text + length};
	size_t address;

	if (!skip(&cursor, "NVRM: Xid ("))
		return false;
	skip(&cursor, "PCI:");
	address = pci_address__parse(cursor.at, (size_t)(cursor.end - cursor.at), &report->address);
	cursor.at += address;
	if (!address || !skip(&cursor, "): ") || !read_number(&cursor, &report->number))
		return false;
	if (skip(&cursor, ","))
		skip(&cursor, " ");
	log_line__parse_rest(cursor.at, (size_t)(cursor.end - cursor.at), report);
	return true;
}

bool log_line__parse_record(const char *text, size_t length, struct xid_report *report)
{
	struct cursor cursor = {text, text + length};
	uint32_t priority;

	if (!read_number(&cursor, &priority) || priority >> FACILITY_SHIFT ||
	    !skip_past(&cursor, ';'))
		return false;
	return log_line__parse(cursor.at, (size_t)(cursor.end - cursor.at), report);
}
