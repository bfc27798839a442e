// SPDX-License-Identifier: BSD-2-Clause
// The lines at the start of the monitor, see monitor.h.
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/quantity.h"
#include "output/monitor/monitor.h"

#define PIDS_NAMED 8

static void write_pids(FILE *out, const struct monitor_start *start)
{
	fprintf(out, "process%s ", start->pid_count == 1 ? "" : "es");
	for (size_t i = 0; i < start->pid_count && i < PIDS_NAMED; i++)
		fprintf(out, "%s%d", i ? ", " : "", start->pids[i]);
	if (start->pid_count > PIDS_NAMED)
		fprintf(out, " and %zu more", start->pid_count - PIDS_NAMED);
	fprintf(out, " and %s children", start->pid_count == 1 ? "its" : "their");
}

static void write_watched(FILE *out, const struct monitor_start *start)
{
	bool all = !start->command && !start->pid_count;

	fputs("gpuprobe: watching the CUDA calls of ", out);
	if (start->command) {
		escape__text(out, start->command);
		fputs(" and its descendants", out);
	} else if (start->pid_count) {
		write_pids(out, start);
	} else {
		fputs("all processes", out);
	}
	if (start->interval > 0)
		fprintf(out, ", a report every %s",
			quantity__time(start->interval * (double)NS_PER_S).text);
	fputs(all ? "; Ctrl-C ends with a last report\n" : "; ends with them, or by Ctrl-C\n", out);
}

static bool is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4) || !strncmp(address, "[::1]", 5) ||
	       !strncmp(address, "localhost:", 10);
}

static void write_metrics(FILE *out, const struct monitor_start *start)
{
	if (!start->metrics) {
		fputs("gpuprobe: metrics are off\n", out);
		return;
	}
	fputs("gpuprobe: metrics at http://", out);
	escape__text(out, start->metrics);
	fputs(is_loopback(start->metrics) ?
		      "/metrics, for this machine only\n" :
		      "/metrics, open to other machines; --metrics-addr 127.0.0.1:9000, or none, "
		      "limits that\n",
	      out);
}

void monitor_text__start(FILE *out, const struct monitor_start *start)
{
	write_watched(out, start);
	write_metrics(out, start);
}
