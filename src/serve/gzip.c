// SPDX-License-Identifier: BSD-2-Clause
// Compresses a response's body; see gzip.h.
#include "serve/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* zlib's code for a gzip header with the largest window. */
#define GZIP_WINDOW (15 + 16)
#define DEFAULT_MEMORY 8

int gzip__compress(const char *data, size_t length, char **out, size_t *out_length)
{
	z_stream z;
	size_t bound;
	int status;

	memset(&z, 0, sizeof(z));
	/* The fast level: pages are repetitive, and the event loop has other work. */
	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, DEFAULT_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&z, length);
	if (length > UINT_MAX || bound > UINT_MAX) {
		deflateEnd(&z);
		return -EFBIG;
	}
	*out = malloc(bound);
	if (!*out) {
		deflateEnd(&z);
		return -ENOMEM;
	}
	z.next_in = (Bytef *)data;
	z.avail_in = (uInt)length;
	z.next_out = (Bytef *)*out;
	z.avail_out = (uInt)bound;
	status = deflate(&z, Z_FINISH);
	*out_length = z.total_out;
	deflateEnd(&z);
	if (status == Z_STREAM_END)
		return 0;
	free(*out);
	return -ENOMEM;
}
