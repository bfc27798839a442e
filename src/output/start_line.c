// SPDX-License-Identifier: BSD-2-Clause
// The line at the start of commands that run for a while, see start_line.h.
#include "output/start_line.h"

#include "base/clock.h"
#include "base/escape.h"
#include "base/quantity.h"

#define PIDS_NAMED 8
#define BUSY_LOAD 4 /* threads that want a CPU, for each CPU */

static void write_pids(FILE *out, const struct start_line *start)
{
	fprintf(out, "process%s ", start->pid_count == 1 ? "" : "es");
	for (size_t i = 0; i < start->pid_count && i < PIDS_NAMED; i++)
		fprintf(out, "%s%d", i ? ", " : "", start->pids[i]);
	if (start->pid_count > PIDS_NAMED)
		fprintf(out, " and %zu more", start->pid_count - PIDS_NAMED);
	fprintf(out, " and %s children", start->pid_count == 1 ? "its" : "their");
}

static void write_end(FILE *out, const struct start_line *start)
{
	if (start->duration > 0)
		fprintf(out, "; ends after %s, or by Ctrl-C\n",
			quantity__time(start->duration * (double)NS_PER_S).text);
	else if (start->command || start->pid_count)
		fputs("; ends with them, or by Ctrl-C\n", out);
	else
		fputs("; Ctrl-C ends with a last report\n", out);
}

void start_line__print(FILE *out, const struct start_line *start)
{
	fputs("gpuprobe: watching the CUDA calls of ", out);
	if (start->command) {
		escape__text(out, start->command);
		fputs(" and its descendants", out);
	} else if (start->pid_count) {
		write_pids(out, start);
	} else {
		fputs("all processes", out);
	}
	if (start->only && *start->only) {
		fputs(" (only ", out);
		escape__text(out, start->only);
		fputc(')', out);
	}
	/* Else the only report is that at the end. */
	if (start->interval > 0 && !(start->duration > 0 && start->duration <= start->interval))
		fprintf(out, ", a report every %s",
			quantity__time(start->interval * (double)NS_PER_S).text);
	write_end(out, start);
}

void start_line__print_busy(FILE *out, double load, long cpus)
{
	if (load > BUSY_LOAD * (double)cpus)
		fprintf(out,
			"gpuprobe: the machine is busy (load %s on %ld CPU%s): starting takes "
			"longer\n",
			quantity__count((uint64_t)(load + 0.5)).text, cpus, cpus == 1 ? "" : "s");
}
