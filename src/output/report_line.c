// SPDX-License-Identifier: BSD-2-Clause
// Common pieces of the text report, see report_line.h.
#include "output/report_line.h"

#include "base/escape.h"

size_t report_line__cut(const struct report_options *options, size_t count)
{
	return options->top && count > options->top ? options->top : count;
}

void report_line__process(FILE *out, const struct process *process)
{
	fprintf(out, "process %d (", process->pid);
	escape__text(out, process->comm);
	fputc(')', out);
	if (process->since_attach)
		fputs(" since attach", out);
	if (process->ended)
		fputs(process->since_attach ? ", ended" : " ended", out);
	fputc('\n', out);
}

const char *report_line__plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
