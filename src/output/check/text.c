// SPDX-License-Identifier: BSD-2-Clause
// The text of `gpuprobe check`, see check.h.
#include <stdlib.h>

#include "base/escape.h"
#include "output/check/check.h"
#include "output/prose.h"

#define INDENT 10 /* indentation of topics: the width of a state's word and two blanks */

static void print_line(FILE *out, const struct check_line *line)
{
	fprintf(out, "%-*s%s: ", INDENT, check_state__word(line->state), line->topic);
	escape__text(out, line->text);
	fputc('\n', out);
	if (!line->advice)
		return;
	fprintf(out, "%*s-> ", INDENT, "");
	escape__text(out, line->advice);
	fputc('\n', out);
}

static void print(FILE *out, const struct check_list *list, bool brief)
{
	size_t degraded = check_list__in_state(list, CHECK_DEGRADED),
	       missing = check_list__in_state(list, CHECK_MISSING);

	for (size_t i = 0; i < list->count; i++)
		if (!brief || list->lines[i].state != CHECK_OK)
			print_line(out, &list->lines[i]);
	fprintf(out, "%zu ok, %zu degraded, %zu missing: %s\n",
		check_list__in_state(list, CHECK_OK), degraded, missing,
		missing ? "gpuprobe cannot fully work here" :
			  (degraded ? "gpuprobe works, with degraded features" : "gpuprobe works"));
}

void check_text__print(FILE *out, const struct check_list *list, bool brief, size_t width)
{
	struct prose prose;
	FILE *text = prose__begin(&prose, out, width);

	print(text, list, brief);
	prose__end(&prose, text);
}
