/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that the lines of a trace are text whatever the records contain. */
#ifndef FUZZ_TRACE_TEXT_H
#define FUZZ_TRACE_TEXT_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "harness.h"
#include "output/trace/output.h"

/* The whole output in `fd` must be text: UTF-8 without control characters. */
static inline void must_be_output(int fd, enum trace_format format)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = malloc((size_t)size + 1);

	MUST(text && pread(fd, text, (size_t)size, 0) == size);
	text[size] = '\0';
	MUST(strlen(text) == (size_t)size);
	for (const char *at = text; *at;) {
		size_t length = json__utf8_length(at);

		MUST(length &&
		     ((uint8_t)*at >= 0x20 || *at == '\n' || (*at == '\t' && format == TRACE_TSV)));
		MUST(*at != 0x7f);
		at += length;
	}
	free(text);
}

#endif
