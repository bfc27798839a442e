// SPDX-License-Identifier: BSD-2-Clause
// What options take, for the completions of all shells, see values.h.
#include "values.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum value_kind value_kind__of(const struct option_row *row)
{
	static const struct {
		const char *value;
		enum value_kind kind;
	} known[] = {
		{"FILE", VALUE_FILE}, {"PATH", VALUE_DIRECTORY}, {"[DIR]", VALUE_DIRECTORY},
		{"PID", VALUE_PID},   {"USER", VALUE_USER},
	};

	if (!row->value)
		return VALUE_NONE;
	if (strchr(row->value, '|'))
		return VALUE_WORDS;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(row->value, known[i].value))
			return known[i].kind;
	return VALUE_UNKNOWN;
}

bool value_kind__is_optional(const struct option_row *row)
{
	return row->value && *row->value == '[';
}

/* Skips upper-case words, such as PERCENT: they only stand for a value. */
void value_kind__print_words(const struct option_row *row)
{
	char words[128], *rest = words, *word;

	snprintf(words, sizeof(words), "%s", row->value);
	while ((word = strsep(&rest, "[]|")))
		if (*word && !isupper((unsigned char)*word))
			printf("%s ", word);
}
