/* SPDX-License-Identifier: BSD-2-Clause */
/* What the value of an option may be, by its name in the option table; for all shells. */
#ifndef COMPLETIONS_VALUES_H
#define COMPLETIONS_VALUES_H

#include <stdbool.h>

#include "cli/options/option_table.h"

enum value_kind {
	VALUE_NONE,    /* the option has no value */
	VALUE_UNKNOWN, /* a number, say */
	VALUE_WORDS,
	VALUE_FILE,
	VALUE_DIRECTORY,
	VALUE_PID,
	VALUE_USER,
};

enum value_kind value_kind__of(const struct option_row *row);

/* Whether the option may stand without its value. */
bool value_kind__is_optional(const struct option_row *row);

/* Prints the words of VALUE_WORDS with a blank after each. */
void value_kind__print_words(const struct option_row *row);

#endif
