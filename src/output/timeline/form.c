// SPDX-License-Identifier: BSD-2-Clause
// Facts about calls that all formats of a timeline show, see form.h.
#include "output/timeline/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "output/trace/field.h"
#include "output/trace/line.h"
#include "output/trace/text.h"
#include "trace/function.h"

/* Numbers, keys and punctuation of a call besides its texts. */
#define CALL_ROOM 4096

static size_t text_room(const char *text)
{
	return text ? strlen(text) * TRACE_TEXT_EXPANSION : 0;
}

size_t timeline_call__room(const struct timeline_call *call)
{
	const struct trace_line *line = call->line;

	return CALL_ROOM + trace_field__room(line) +
	       text_room(trace_function__symbol(line->function)) +
	       text_room(trace_line__kernel(line)) + text_room(line->kernel_label) +
	       text_room(line->kernel_location);
}

const char *timeline_call__family(const struct timeline_call *call)
{
	return call->row ? call->row->family : "other";
}

const char *timeline_call__result(const struct timeline_call *call, char buffer[RESULT_SIZE])
{
	const struct trace_line *line = call->line;
	enum trace_returns returns = trace_function__returns(line->function);
	const char *name;

	if (!trace_line__has_result(line) || returns == TRACE_RETURNS_NOTHING)
		return NULL;
	if (returns == TRACE_RETURNS_VALUE) {
		snprintf(buffer, RESULT_SIZE, "0x%" PRIx64, line->result);
		return buffer;
	}
	if (!line->result)
		return NULL;
	name = trace_function__result_name(line->function, (int32_t)line->result);
	if (!name)
		snprintf(buffer, RESULT_SIZE, "error %" PRId32, (int32_t)line->result);
	return name ? name : buffer;
}
