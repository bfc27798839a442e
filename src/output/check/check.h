/* SPDX-License-Identifier: BSD-2-Clause */
/* The forms of output of `gpuprobe check`. */
#ifndef OUTPUT_CHECK_CHECK_H
#define OUTPUT_CHECK_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "check/list.h"

/* One line each, with what to do on the next, and a last one with the sum. `brief`: without those that are ok. */
void check_text__print(FILE *out, const struct check_list *list, bool brief);

/* One JSON object, on one line; man/gpuprobe-check.8 describes it. */
void check_json__print(FILE *out, const struct check_list *list);

#endif
