/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text written to memory by stdio. open_memstream does the same, but in want of memory the C library drops what is
 * written, or all of it, and tells nobody.
 */
#ifndef BASE_TEXT_STREAM_H
#define BASE_TEXT_STREAM_H

#include <stdio.h>

/*
 * A stream, NULL without memory, that can be written to and asked by ftell(). fclose() returns 0 and sets *text,
 * to be freed, with a zero byte behind it, and *length; or EOF where anything that was written has been lost: *text
 * is then NULL. Both have to stay until then.
 */
FILE *text_stream__open(char **text, size_t *length);

#endif
