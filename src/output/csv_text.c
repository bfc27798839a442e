// SPDX-License-Identifier: BSD-2-Clause
// Text in a cell of comma-separated values, see csv_text.h.
#include "output/csv_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text_stream.h"

/*
 * Whether a spreadsheet would take the text for a formula, which may run a program or contact a
 * server. The first character decides, also in its full-width form. A leading tab or line end was
 * already escaped.
 */
static bool is_formula(const char *text)
{
	static const char *const begins[] = {
		"=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static void print_safe(FILE *out, const char *safe)
{
	bool quoted = strpbrk(safe, ",\"") || safe[0] == ' ';

	if (quoted)
		fputc('"', out);
	if (is_formula(safe))
		fputc('\'', out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	if (quoted)
		fputc('"', out);
}

void csv_text__print(FILE *out, const char *text)
{
	char *safe = NULL;
	size_t length = 0;
	FILE *escaped = text_stream__open(&safe, &length);

	if (!escaped)
		return;
	escape__text(escaped, text);
	if (!fclose(escaped))
		print_safe(out, safe);
	free(safe);
}
