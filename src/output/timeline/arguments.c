// SPDX-License-Identifier: BSD-2-Clause
// The arguments of calls and marks, see arguments.h.
#include "output/timeline/arguments.h"

#include <string.h>

#include "output/trace/line.h"
#include "output/trace/text.h"

/* NULL writes nothing. */
static void write_text(const struct argument_writer *writer, void *to, const char *name,
		       const char *text)
{
	if (text)
		writer->text(to, name, text);
}

static void write_begin(const struct trace_line *line, const struct argument_writer *writer,
			void *to)
{
	write_text(writer, to, "kernel", trace_line__kernel(line));
	write_text(writer, to, "kernel_label", line->kernel_label);
	for (size_t i = 0; i < line->field_count; i++)
		writer->field(to, &line->fields[i]);
	write_text(writer, to, "at", line->kernel_location);
}

static void write_end(const struct timeline_call *call, const struct argument_writer *writer,
		      void *to)
{
	const struct trace_line *line = call->line;
	char buffer[RESULT_SIZE];

	if (call->is_unfinished)
		writer->text(to, "unfinished", "it did not return while it was watched");
	if (!line)
		return;
	write_text(writer, to, "returned", timeline_call__result(call, buffer));
	if (line->device >= 0)
		writer->number(to, "gpu", (uint64_t)line->device);
	if (line->held_ns)
		writer->number(to, "held_ns", line->held_ns);
	if (call->cover.launches)
		writer->number(to, "covers_launches", call->cover.launches);
	if (call->cover.copies)
		writer->number(to, "covers_copies", call->cover.copies);
}

void timeline_call__write(const struct timeline_call *call, const struct argument_writer *writer,
			  void *to)
{
	if (call->line && call->part != PART_END)
		write_begin(call->line, writer, to);
	if (call->part != PART_BEGIN)
		write_end(call, writer, to);
}

size_t timeline_span__room(const struct timeline_span *span)
{
	return (strlen(span->name) + (span->payload ? strlen(span->payload) : 0)) *
	       TRACE_TEXT_EXPANSION;
}

void timeline_span__write(const struct timeline_span *span, const struct argument_writer *writer,
			  void *to)
{
	if (!span->is_range)
		writer->number(to, "launches", span->launches);
	write_text(writer, to, "payload", span->payload);
	if (span->is_unfinished)
		writer->text(to, "unfinished", "it had not ended while it was watched");
}

size_t timeline_mark__room(const struct timeline_mark *mark)
{
	return (strlen(mark->name) + (mark->note ? strlen(mark->note) : 0)) * TRACE_TEXT_EXPANSION;
}

void timeline_mark__write(const struct timeline_mark *mark, const struct argument_writer *writer,
			  void *to)
{
	if (mark->key)
		writer->number(to, mark->key, mark->value);
	write_text(writer, to, "note", mark->note);
}
