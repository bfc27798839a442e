// SPDX-License-Identifier: BSD-2-Clause
// Wraps sentences, see prose.h.
#include "output/stat/prose.h"

#include <stdlib.h>

#include "base/text_stream.h"
#include "output/prose.h"

FILE *stat_prose__begin(struct stat_prose *prose, FILE *out)
{
	FILE *text;

	*prose = (struct stat_prose){.out = out};
	text = text_stream__open(&prose->buffer, &prose->length);
	return text ? text : out;
}

void stat_prose__end(struct stat_prose *prose, FILE *text, const struct stat_report *report)
{
	if (text == prose->out || fclose(text))
		return;
	prose__print(prose->out, prose->buffer, stat__width(report));
	free(prose->buffer);
}
