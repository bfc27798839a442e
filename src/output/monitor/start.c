// SPDX-License-Identifier: BSD-2-Clause
// The lines at the start of the monitor, see monitor.h.
#include <string.h>

#include "base/escape.h"
#include "output/monitor/monitor.h"

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
	start_line__print(out, &start->watched);
	write_metrics(out, start);
}
