/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the readers of demangled names share: where words, bracket groups and operators end. Names
 * may be malformed; nothing here reads beyond the terminating zero.
 */
#ifndef SYMBOL_NAME_SCAN_H
#define SYMBOL_NAME_SCAN_H

#include <stdbool.h>

/* Whether the character can be part of an identifier. */
bool name_scan__is_word(char c);

/*
 * Returns the end of the bracket group that begins at `s`: after its last character, or the text's
 * end if it is not closed. Within round, square or curly brackets a '<' or '>' may be an operator,
 * so a closing bracket also closes all angle brackets opened since its own opening.
 */
const char *name_scan__skip_group(const char *s);

/* Returns the end of an operator's symbol or type; `s` is after the word "operator". */
const char *name_scan__skip_operator(const char *s);

/*
 * Whether the group from `group` to `end` is part of a name: "(anonymous namespace)", or followed
 * by "::".
 */
bool name_scan__is_scope(const char *group, const char *end);

#endif
