/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function names in text for people. They are spelled as in <cuda.h>, so without the version suffix
 * that it adds (cuMemAlloc for cuMemAlloc_v2). An older version keeps its number (cuMemAlloc_v1).
 * Output for scripts has the exported names.
 */
#ifndef OUTPUT_FUNCTION_TEXT_H
#define OUTPUT_FUNCTION_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Prints the name for a row of api_functions. A variant for the per-thread default stream is marked
 * as such (cuMemcpyHtoD_ptds).
 */
void function_text__print(FILE *out, size_t row);

/*
 * Prints a sentence that contains exported names, escaped. If memory runs out, the exported names
 * stay.
 */
void function_text__print_sentence(FILE *out, const char *text);

#endif
