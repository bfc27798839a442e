// SPDX-License-Identifier: BSD-2-Clause
// Records of the tracepoint, see format.h.
#include "xid/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "xid/log_line.h"

#define FIELD_SIZE 4 /* of all three */
#define RECORD_MOST 8192
#define LENGTH_SHIFT 16 /* __data_loc: the length, above the offset */

/*
 * Finds "field:TYPE NAME;\toffset:8;\tsize:4;" of 4 bytes. `dynamic`: its type is an array of
 * unknown length.
 */
static bool find(const char *text, const char *name, bool dynamic, uint32_t *offset)
{
	for (const char *line = strstr(text, "field:"); line; line = strstr(line + 1, "field:")) {
		const char *end = strchr(line, ';');
		size_t length = strlen(name);
		uint32_t size;

		if (!end)
			return false;
		if ((size_t)(end - line) <= length || end[-(ptrdiff_t)length - 1] != ' ' ||
		    memcmp(end - length, name, length) != 0)
			continue;
		return !strncmp(line, "field:__data_loc ", strlen("field:__data_loc ")) ==
			       dynamic &&
		       sscanf(end, ";%*[ \t]offset:%" SCNu32 ";%*[ \t]size:%" SCNu32, offset,
			      &size) == 2 &&
		       size == FIELD_SIZE && *offset <= RECORD_MOST;
	}
	return false;
}

int xid_format__parse(const char *text, struct xid_format *format, struct error *err)
{
	if (find(text, "dev", true, &format->device) &&
	    find(text, "error_code", false, &format->number) &&
	    find(text, "msg", true, &format->message))
		return 0;
	return error__set(err, -ENOTSUP,
			  "the tracepoint nvidia:nvidia_dev_xid has fields of another form");
}

/* Finds the text that the field points to; false if it is outside of the record. */
static bool find_text(const char *record, size_t size, uint32_t offset, const char **text,
		      size_t *length)
{
	uint32_t place;

	if (offset + sizeof(place) > size)
		return false;
	memcpy(&place, record + offset, sizeof(place));
	*text = record + (place & ((1u << LENGTH_SHIFT) - 1));
	*length = place >> LENGTH_SHIFT;
	if ((size_t)(*text - record) + *length > size)
		return false;
	*length = strnlen(*text, *length);
	return true;
}

bool xid_format__read(const struct xid_format *format, const void *record, size_t size,
		      struct xid_report *report)
{
	const char *text;
	size_t length;

	if (!find_text(record, size, format->device, &text, &length) ||
	    !pci_address__parse(text, length, &report->address) ||
	    format->number + sizeof(report->number) > size)
		return false;
	memcpy(&report->number, (const char *)record + format->number, sizeof(report->number));
	if (!find_text(record, size, format->message, &text, &length))
		return false;
	log_line__parse_rest(text, length, report);
	return true;
}
