// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of tab-separated values. \t, \n, \r, \\ and \xNN in a value are escapes; `-` means unknown
 * or not applicable. A line that begins with # is a note, not a call: "# lost 1203 ring_full TIME"
 * reports calls that have no line, "# lost_returns …" calls that only have their first line, "#
 * lost_stacks …" unknown stacks, "# lost_ranges …" lines of NVTX ranges.
 *
 * The result of a line that is not a complete call begins with the kind of the line: <entry>,
 * <returned>, <in progress>, <resumed>, <unfinished>, <not followed> or <began before attach>. That
 * of an NVTX range is <range>.
 */
#include "output/trace/private.h"

char *trace_tsv__header(struct trace_output *output, char *at)
{
	for (size_t i = 0; i < output->options.column_count; i++) {
		const char *word = trace_columns__word(output->options.columns[i]);

		if (i)
			*at++ = '\t';
		at = trace_text__copy(at, word, strlen(word));
	}
	*at++ = '\n';
	return at;
}

static char *write_loss(struct trace_output *output, const struct trace_line *line, char *at)
{
	const char *reason = trace_line__reason(line->reason);

	at = trace_text__word(TRACE_TEXT_CONSTANT(at, "# "), trace_line__lost_word(line),
			      TRACE_WORD_SIZE);
	*at++ = ' ';
	at = trace_text__unsigned(at, line->lost);
	*at++ = ' ';
	at = trace_text__copy(at, reason, strlen(reason));
	*at++ = ' ';
	at = trace_time__write(&output->time, at, line->start_ns);
	*at++ = '\n';
	return at;
}

char *trace_tsv__line(struct trace_output *output, const struct trace_view *view, char *at)
{
	char *begin = at;

	if (view->line->kind == LINE_LOST)
		return write_loss(output, view->line, at);
	for (size_t i = 0; i < output->options.column_count; i++) {
		if (i)
			*at++ = '\t';
		at = trace_cell__write(view, output->options.columns[i], at);
	}
	*at++ = '\n';
	if (*begin != '#')
		return at;
	/* A process may be named "# lost". */
	memmove(begin + 4, begin + 1, (size_t)(at - begin) - 1);
	memcpy(begin, "\\x23", 4);
	return at + 3;
}
