// SPDX-License-Identifier: BSD-2-Clause
// Facts about a trace's lines that every form shows, see line.h and private.h.
#include "output/trace/private.h"

#include "base/clock.h"
#include "output/enum_names.h"

const char *trace_line__reason(enum trace_loss reason)
{
	switch (reason) {
	case TRACE_LOST_RING:
	case TRACE_LOST_RETURN: return enum_names__loss_name(LOSS_RING_FULL);
	case TRACE_LOST_THREAD: return enum_names__loss_name(LOSS_THREAD_STORAGE);
	case TRACE_LOST_DEPTH: return enum_names__loss_name(LOSS_CALL_DEPTH);
	case TRACE_LOST_STACK: return enum_names__loss_name(LOSS_STACK_RING_FULL);
	case TRACE_LOST_STACK_MEMORY: return enum_names__loss_name(LOSS_STACK_NO_ROOM);
	case TRACE_LOST_RANGE: return "no_room";
	default: return "unknown";
	}
}

const char *trace_line__lost_word(const struct trace_line *line)
{
	switch (line->reason) {
	case TRACE_LOST_RETURN: return "lost_returns";
	case TRACE_LOST_STACK:
	case TRACE_LOST_STACK_MEMORY: return "lost_stacks";
	case TRACE_LOST_RANGE: return "lost_ranges";
	default: return "lost";
	}
}

bool trace_line__has_result(const struct trace_line *line)
{
	return line->kind == LINE_CALL || line->kind == LINE_RETURN || line->kind == LINE_RESUMED;
}

bool trace_line__has_duration(const struct trace_line *line)
{
	if (line->kind == LINE_RANGE)
		return line->duration_ns > 0;
	return line->kind != LINE_ENTRY && line->kind != LINE_UNFOLLOWED &&
	       line->kind != LINE_BEFORE;
}

bool trace_line__has_end(const struct trace_line *line)
{
	return trace_line__has_result(line) || line->kind == LINE_GPU;
}

uint64_t trace_line__end_ns(const struct trace_line *line)
{
	return line->kind == LINE_CALL || line->kind == LINE_GPU ?
		       line->start_ns + line->duration_ns + line->held_ns :
		       line->start_ns;
}

const char *trace_line__kernel(const struct trace_line *line)
{
	return line->kernel ? line->kernel : line->kernel_full;
}

const char *trace_line__label(const struct trace_line *line)
{
	return line->kernel_label ? line->kernel_label : trace_line__kernel(line);
}

bool trace_line__bandwidth(const struct trace_view *view, uint64_t *rate)
{
	const struct trace_field *size = view->by_role[TRACE_SIZE];
	const struct trace_line *line = view->line;
	unsigned __int128 value;

	if (!view->function->is_blocking_copy || !trace_line__has_end(line) || line->failed ||
	    !line->duration_ns)
		return false;
	if (!size || size->form != FORM_UNSIGNED)
		return false;
	value = (unsigned __int128)size->number * NS_PER_S / line->duration_ns;
	*rate = value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
	return true;
}
