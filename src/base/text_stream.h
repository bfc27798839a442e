/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text written to memory by stdio. open_memstream does the same, but if memory runs out, the C
 * library drops some or all of the text without an error.
 */
#ifndef BASE_TEXT_STREAM_H
#define BASE_TEXT_STREAM_H

#include <stdio.h>

/*
 * Opens a stream for writing that supports ftell(); NULL if out of memory. fclose() returns 0 and
 * sets *text, which ends with a zero byte and which the caller frees, and *length. If anything
 * written was lost, fclose() returns EOF and *text is NULL. `text` and `length` must stay valid
 * until fclose().
 */
FILE *text_stream__open(char **text, size_t *length);

#endif
