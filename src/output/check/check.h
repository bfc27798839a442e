/* SPDX-License-Identifier: BSD-2-Clause */
/* Output of `gpuprobe check` as text and JSON. */
#ifndef OUTPUT_CHECK_CHECK_H
#define OUTPUT_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "check/list.h"

/*
 * Prints one line for each check, what to do on the next line, and a summary at the end. `brief`
 * leaves out checks that are ok. `width`: of the terminal, where longer lines go on in the next
 * one; 0: none.
 */
void check_text__print(FILE *out, const struct check_list *list, bool brief, size_t width);

/* Prints one JSON object on one line; man/gpuprobe-check.8 describes it. */
void check_json__print(FILE *out, const struct check_list *list);

#endif
