// SPDX-License-Identifier: BSD-2-Clause
// A process's tensors as a whole, see tensors.h.
#include "output/memleak/tensors.h"

#include "output/report/line.h"
#include "output/tensors_text.h"

void memleak_tensors__print(FILE *out, const struct process *process,
			    const struct memleak_options *options)
{
	fputs(REPORT_INDENT, out);
	tensors_text__print(out, process, options->form, "\n" REPORT_INDENT);
	fputc('\n', out);
}
