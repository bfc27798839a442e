// SPDX-License-Identifier: BSD-2-Clause
// Writes a file, compressed or not, see packed_file.h.
#include "output/timeline/packed_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "output/trace/buffer.h"

#define BLOCK_SIZE (256u << 10) /* before compression; larger if one part is */
#define PIECE_SIZE (64u << 10)	/* of gzip's output */
#define LEVEL 3			/* half the time of the default, for some percent more */
#define GZIP_WINDOW (15 + 16)	/* zlib's code for gzip with the largest window */
#define ZLIB_WINDOW 15
#define MEMORY_LEVEL 8 /* zlib's default */

struct packed_file {
	struct trace_buffer out;
	enum packed_form form;
	packed_head_fn *head;
	z_stream zip;
	bool has_zip;
	char *raw;
	size_t length, capacity;
	uint64_t raw_bytes; /* of earlier blocks */
};

struct packed_file *packed_file__new(int fd, enum packed_form form, packed_head_fn *head)
{
	struct packed_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->form = form;
	file->head = head;
	file->capacity = BLOCK_SIZE;
	file->raw = malloc(file->capacity);
	file->has_zip = deflateInit2(&file->zip, LEVEL, Z_DEFLATED,
				     form == PACKED_GZIP ? GZIP_WINDOW : ZLIB_WINDOW, MEMORY_LEVEL,
				     Z_DEFAULT_STRATEGY) == Z_OK;
	if (file->raw && file->has_zip && !trace_buffer__init(&file->out, fd))
		return file;
	packed_file__free(file);
	return NULL;
}

void packed_file__free(struct packed_file *file)
{
	if (!file)
		return;
	if (file->has_zip)
		deflateEnd(&file->zip);
	trace_buffer__free(&file->out);
	free(file->raw);
	free(file);
}

void packed_file__stop_by(struct packed_file *file, int fd)
{
	file->out.stop_fd = fd;
}

int packed_file__error(const struct packed_file *file)
{
	return file->out.error;
}

uint64_t packed_file__raw_bytes(const struct packed_file *file)
{
	return file->raw_bytes + file->length;
}

static void begin_input(struct packed_file *file)
{
	file->zip.next_in = (unsigned char *)file->raw;
	file->zip.avail_in = (unsigned int)file->length;
}

/* Continues the gzip stream; `flush` is zlib's Z_NO_FLUSH or Z_FINISH. */
static void pack_stream(struct packed_file *file, int flush)
{
	z_stream *zip = &file->zip;

	begin_input(file);
	do {
		char *at = trace_buffer__room(&file->out, PIECE_SIZE);

		if (!at)
			return;
		zip->next_out = (unsigned char *)at;
		zip->avail_out = PIECE_SIZE;
		deflate(zip, flush);
		trace_buffer__commit(&file->out, (char *)zip->next_out, false);
	} while (!zip->avail_out);
}

/* The head depends on the compressed length, so the block moves behind it. */
static void pack_block(struct packed_file *file)
{
	z_stream *zip = &file->zip;
	size_t most = deflateBound(zip, file->length);
	char *at = trace_buffer__room(&file->out, PACKED_HEAD_MAX + most), *end;

	if (!at)
		return;
	deflateReset(zip);
	begin_input(file);
	zip->next_out = (unsigned char *)at + PACKED_HEAD_MAX;
	zip->avail_out = (unsigned int)most;
	deflate(zip, Z_FINISH);
	end = file->head(at, most - zip->avail_out);
	memmove(end, at + PACKED_HEAD_MAX, most - zip->avail_out);
	trace_buffer__commit(&file->out, end + (most - zip->avail_out), false);
}

static void copy(struct packed_file *file)
{
	char *at = trace_buffer__room(&file->out, file->length);

	if (!at)
		return;
	memcpy(at, file->raw, file->length);
	trace_buffer__commit(&file->out, at + file->length, false);
}

static void pack(struct packed_file *file)
{
	if (!file->length)
		return;
	switch (file->form) {
	case PACKED_NOT: copy(file); break;
	case PACKED_GZIP: pack_stream(file, Z_NO_FLUSH); break;
	case PACKED_BLOCKS: pack_block(file); break;
	}
	file->raw_bytes += file->length;
	file->length = 0;
}

char *packed_file__room(struct packed_file *file, size_t size)
{
	if (file->out.error)
		return NULL;
	if (size > file->capacity - file->length)
		pack(file);
	if (size > file->capacity) {
		char *raw = size <= UINT32_MAX ? realloc(file->raw, size) : NULL;

		if (!raw) {
			file->out.error = -ENOMEM;
			return NULL;
		}
		file->raw = raw;
		file->capacity = size;
	}
	return file->out.error ? NULL : file->raw + file->length;
}

void packed_file__commit(struct packed_file *file, const char *end)
{
	file->length = (size_t)(end - file->raw);
}

void packed_file__finish(struct packed_file *file)
{
	if (file->out.error)
		return;
	pack(file);
	if (file->form == PACKED_GZIP && !file->out.error)
		pack_stream(file, Z_FINISH);
	if (!file->out.error)
		trace_buffer__flush(&file->out);
}
