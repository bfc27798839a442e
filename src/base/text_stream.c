// SPDX-License-Identifier: BSD-2-Clause
// Text written to memory; see text_stream.h.
#include "base/text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 1024

struct text_stream {
	char **text;
	size_t *length;
	char *content;
	size_t used, room; /* one more byte is allocated for the terminating zero */
	bool failed;
};

static bool make_room(struct text_stream *stream, size_t size)
{
	size_t room = stream->room;
	char *grown;

	if (size <= room - stream->used)
		return true;
	while (size > room - stream->used)
		room *= 2;
	grown = realloc(stream->content, room + 1);
	if (!grown)
		return false;
	stream->content = grown;
	stream->room = room;
	return true;
}

/* A return value of 0 means failure to stdio. */
static ssize_t write_some(void *cookie, const char *text, size_t size)
{
	struct text_stream *stream = cookie;

	if (stream->failed || !make_room(stream, size)) {
		stream->failed = true;
		errno = ENOMEM;
		return 0;
	}
	memcpy(stream->content + stream->used, text, size);
	stream->used += size;
	return (ssize_t)size;
}

/* Returns the position for ftell; no other position is supported because text is only appended. */
static int report(void *cookie, off64_t *offset, int whence)
{
	const struct text_stream *stream = cookie;

	if (*offset || whence == SEEK_SET) {
		errno = EINVAL;
		return -1;
	}
	*offset = (off64_t)stream->used;
	return 0;
}

static int finish(void *cookie)
{
	struct text_stream *stream = cookie;
	bool failed = stream->failed;

	if (failed) {
		free(stream->content);
	} else {
		stream->content[stream->used] = '\0';
		*stream->text = stream->content;
		*stream->length = stream->used;
	}
	free(stream);
	errno = ENOMEM;
	return failed ? EOF : 0;
}

FILE *text_stream__open(char **text, size_t *length)
{
	static const cookie_io_functions_t functions = {
		.write = write_some, .seek = report, .close = finish};
	struct text_stream *stream = malloc(sizeof(*stream));
	char *content = malloc(FIRST_ROOM + 1);
	FILE *out = NULL;

	*text = NULL;
	*length = 0;
	if (stream && content) {
		*stream = (struct text_stream){
			.text = text,
			.length = length,
			.content = content,
			.room = FIRST_ROOM,
		};
		out = fopencookie(stream, "w", functions);
	}
	if (!out) {
		free(content);
		free(stream);
	}
	return out;
}
