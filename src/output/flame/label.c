// SPDX-License-Identifier: BSD-2-Clause
// Labels of a flame graph's frames, see parts.h.
#include "output/flame/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text_stream.h"
#include "output/frame_text.h"

static char *close_label(FILE *out, char **label)
{
	if (!fclose(out) && **label)
		return *label;
	free(*label);
	return strdup("[not known]");
}

char *flame_label__text(const char *text)
{
	size_t length;
	char *label = NULL;
	FILE *out = text_stream__open(&label, &length);

	if (!out)
		return NULL;
	escape__text(out, text);
	return close_label(out, &label);
}

char *flame_label__frame(const struct stack_frame *frame)
{
	size_t length;
	char *label = NULL;
	FILE *out = text_stream__open(&label, &length);

	if (!out)
		return NULL;
	frame_text__print_label(out, frame);
	return close_label(out, &label);
}

char *flame_label__process(const struct process *process)
{
	size_t length;
	char *label = NULL;
	FILE *out = text_stream__open(&label, &length);

	if (!out)
		return NULL;
	escape__text(out, process->comm);
	fprintf(out, " (%d)", process->pid);
	return close_label(out, &label);
}
