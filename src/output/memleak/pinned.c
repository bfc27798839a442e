// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pinned host memory that grows, see pinned.h:
 *
 *   process 4711 (python3): 3 call sites with pinned host memory, 1 of them growing
 *           1.0 GiB in 1,000 allocations, +12.0 MiB/s over the last 60.0 s  << growing
 */
#include "output/memleak/pinned.h"

#include "base/escape.h"
#include "output/report/line.h"

int memleak_pinned__print(const struct memleak_printer *printer, const struct process *process)
{
	struct memleak_process known;
	struct memleak_level level;
	struct memleak_sums sums;
	FILE *out = printer->out;
	int ret;

	if (process->ended)
		return 0;
	memleak_level__of_pinned(&level, process, printer->growth);
	ret = memleak_process__begin(&known, &level, printer->options);
	if (ret)
		return ret;
	memleak_site__sum(printer->model, &known, printer->options, &sums);
	if (sums.growing) {
		fprintf(out, "process %d (", process->pid);
		escape__text(out, process->comm);
		fprintf(out, "): %s call site%s with pinned host memory, %s of them growing\n",
			memleak_text__count(printer, sums.sites).text,
			report_line__plural(sums.sites),
			memleak_text__count(printer, sums.growing).text);
		memleak_text__sites(printer, &known, sums);
	}
	memleak_process__end(&known);
	return 0;
}
