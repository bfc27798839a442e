/* SPDX-License-Identifier: BSD-2-Clause */
/* Compresses a response's body. */
#ifndef SERVE_GZIP_H
#define SERVE_GZIP_H

#include <stddef.h>

/*
 * Compresses `length` bytes into a gzip member at `*out`, which the caller frees. Returns 0,
 * -ENOMEM, or -EFBIG for more than zlib can take at once (4 GiB).
 */
int gzip__compress(const char *data, size_t length, char **out, size_t *out_length);

#endif
