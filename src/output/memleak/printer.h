/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writers of memleak's text share: where they print, and how sites and amounts look. */
#ifndef OUTPUT_MEMLEAK_PRINTER_H
#define OUTPUT_MEMLEAK_PRINTER_H

#include "output/memleak/memleak.h"
#include "output/memleak/site.h"

struct memleak_printer {
	FILE *out;
	const struct model *model;
	const struct memleak_growth *growth;
	const struct memleak_options *options;
};

struct quantity memleak_text__count(const struct memleak_printer *printer, uint64_t count);

/* Prints "1.0 GiB in 1,000 allocations", or tensors. */
void memleak_text__amount(const struct memleak_printer *printer, bool of_tensors, uint64_t bytes,
			  uint64_t count);

/* Prints `what` and the reason, "15 allocations beyond --max-allocations". */
void memleak_text__untracked(const struct memleak_printer *printer, const char *what,
			     enum loss loss);

/* Prints the largest sites, and the sum of the others; `rest` is the sum of all. */
void memleak_text__sites(const struct memleak_printer *printer, const struct memleak_process *known,
			 struct memleak_sums rest);

#endif
