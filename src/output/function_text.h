/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of functions in text for people: as <cuda.h> has them, so without the version that it means (cuMemAlloc for
 * cuMemAlloc_v2); an older version has its number (cuMemAlloc_v1). All that scripts read has the exported names.
 */
#ifndef OUTPUT_FUNCTION_TEXT_H
#define OUTPUT_FUNCTION_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Of the row of api_functions; a form for the thread's own stream is marked as such (cuMemcpyHtoD_ptds). */
void function_text__print(FILE *out, size_t row);

/* A sentence with exported names in it, escaped. Without memory it has these. */
void function_text__print_sentence(FILE *out, const char *text);

#endif
