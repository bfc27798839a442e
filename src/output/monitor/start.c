// SPDX-License-Identifier: BSD-2-Clause
// The lines at the start of the monitor, see monitor.h.
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/quantity.h"
#include "output/monitor/parts.h"

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
	fputs("gpuprobe watches the CUDA calls of ", out);
	if (start->command) {
		escape__text(out, start->command);
		fputs(" and its descendants", out);
	} else if (start->pid_count) {
		write_pids(out, start);
	} else {
		fputs("all processes", out);
	}
	if (start->interval > 0)
		fprintf(out, ", and reports every %s",
			quantity__time(start->interval * (double)NS_PER_S).text);
	fputs(start->command || start->pid_count ? "; it ends with them, or by Ctrl-C" :
						   "; Ctrl-C ends it with a last report",
	      out);
}

static bool is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4) || !strncmp(address, "[::1]", 5) ||
	       !strncmp(address, "localhost:", 10);
}

static void write_metrics(FILE *out, const struct monitor_start *start)
{
	if (!start->metrics) {
		fputs("metrics: none", out);
		return;
	}
	fputs("metrics: http://", out);
	escape__text(out, start->metrics);
	fputs("/metrics", out);
	if (is_loopback(start->metrics))
		fputs(", for this machine only (--metrics-addr)", out);
	else
		fputs(", open to other machines; --metrics-addr 127.0.0.1:9000 limits them to this "
		      "one, none turns them off",
		      out);
}

static void print_sentence(FILE *out, const struct monitor_start *start,
			   void (*write)(FILE *out, const struct monitor_start *start))
{
	const struct monitor_text_options options = {.columns = start->columns};
	const struct monitor_page page = {.options = &options};
	struct monitor_words words;

	if (!monitor_words__begin(&words))
		return;
	write(words.out, start);
	monitor_words__wrap(&words, out, &page, "", 0, 0);
}

void monitor_text__start(FILE *out, const struct monitor_start *start)
{
	print_sentence(out, start, write_watched);
	print_sentence(out, start, write_metrics);
}
