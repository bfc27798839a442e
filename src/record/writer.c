// SPDX-License-Identifier: BSD-2-Clause
// Writes the file of a recording, see writer.h.
#include "record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/chunk_ring.h"
#include "record/varint.h"

#define LEVEL_QUICK 3 /* events shrink little more with a higher one */

/* Of a record besides its bytes: kind, length, time. */
#define RECORD_HEAD_MAX (3 * VARINT_MAX)

#define LAST_ROOM 4096u /* of max_bytes, for the last chunk */

/* Room that max_bytes leaves for the index. */
#define INDEX_ROOM(count) \
	(sizeof(struct recording_chunk) + sizeof(struct recording_index) + \
	 ((count) + 1) * sizeof(struct recording_index_entry) + sizeof(struct recording_file_end))

struct recording_writer {
	int fd;			 /* -1: chunks go into the ring */
	struct chunk_ring *ring; /* NULL: into the file */
	int failure; /* a negative errno: nothing more is written, except for the index */
	bool broken; /* the file ends with a part of a chunk that could not be removed */
	z_stream deflate;
	uint64_t max_bytes, size, chunks, dropped;
	uint64_t reserve;	    /* of max_bytes */
	uint64_t first_ns, last_ns; /* of the written chunks */

	/* the current chunk */
	uint8_t *raw;
	size_t raw_bytes, raw_room;
	uint64_t records, chunk_first_ns, chunk_last_ns, time_ns;
	bool keyframe;
	bool has_others; /* records that are not of calls */

	uint8_t *stored;
	size_t stored_room;
	struct recording_index_entry *entries;
	size_t entry_count;
	unsigned int entry_step; /* one of so many keyframes has an entry */
	uint64_t keyframes;
};

static uint32_t crc_of(const void *bytes, size_t length)
{
	return (uint32_t)crc32_z(0, bytes, length);
}

static int64_t clock_offset(clockid_t clock, uint64_t boot_ns)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec - (int64_t)boot_ns;
}

static void read_boot_id(char text[40])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, 36);

	text[length > 0 ? length : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static void copy_text(char *to, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(to, text, length);
	memset(to + length, 0, size - length);
}

void recording_header__fill(struct recording_header *header)
{
	uint64_t now = clock__boot_ns();
	struct utsname machine;

	header->begin_ns = now;
	header->wall_offset_ns = clock_offset(CLOCK_REALTIME, now);
	header->monotonic_offset_ns = clock_offset(CLOCK_MONOTONIC, now);
	copy_text(header->program, sizeof(header->program), GPUPROBE_VERSION);
	if (uname(&machine))
		memset(&machine, 0, sizeof(machine));
	copy_text(header->kernel, sizeof(header->kernel), machine.release);
	if (header->flags & RECORDING_ANONYMOUS)
		return;
	copy_text(header->host, sizeof(header->host), machine.nodename);
	read_boot_id(header->boot_id);
}

/* Writes all of it. Returns 0 or a negative errno. */
static int write_all(int fd, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	while (length) {
		ssize_t written = write(fd, at, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		at += written;
		length -= (size_t)written;
	}
	return 0;
}

/*
 * Appends to the file. If only a part could be written, it is cut off again, so that the index can
 * follow whole chunks.
 */
static int append(struct recording_writer *writer, const void *bytes, size_t length)
{
	int ret = write_all(writer->fd, bytes, length);

	if (!ret)
		writer->size += length;
	else if (ftruncate(writer->fd, (off_t)writer->size) ||
		 lseek(writer->fd, (off_t)writer->size, SEEK_SET) < 0)
		writer->broken = true;
	return ret;
}

static int write_header(struct recording_writer *writer, const struct recording_header *header)
{
	struct {
		struct recording_file_head head;
		struct recording_header header;
	} start = {
		.head = {.format = header->flags & RECORDING_READINGS ? RECORDING_FORMAT_OF_BOTH :
									RECORDING_FORMAT_OF_ONE,
			 .header_bytes = sizeof(*header)},
		.header = *header,
	};

	memcpy(start.head.magic, RECORDING_MAGIC, sizeof(start.head.magic));
	memcpy(start.head.program, header->program, sizeof(start.head.program));
	start.head.header_crc = crc_of(&start.header, sizeof(start.header));
	start.head.crc = crc_of(&start.head, offsetof(struct recording_file_head, crc));
	return append(writer, &start, sizeof(start));
}

/* Makes room for a body of `bytes` before and after compression. */
static int make_room(struct recording_writer *writer, size_t bytes)
{
	size_t room = bytes > 2ul * CHUNK_TARGET ? bytes : 2ul * CHUNK_TARGET;
	uint8_t *raw;

	if (bytes <= writer->raw_room)
		return 0;
	raw = realloc(writer->raw, room);
	if (!raw)
		return -ENOMEM;
	writer->raw = raw;
	writer->raw_room = room;
	return 0;
}

int recording_writer__new(int fd, const struct recording_header *header,
			  const struct recording_options *options, struct recording_writer **out,
			  struct error *err)
{
	struct recording_writer *writer = calloc(1, sizeof(*writer));
	int level = options->compression ? options->compression : LEVEL_QUICK, ret;

	if (!writer) {
		if (fd >= 0)
			close(fd);
		return error__set(err, -ENOMEM, "out of memory");
	}
	writer->fd = fd;
	writer->ring = options->ring;
	writer->max_bytes = options->max_bytes;
	writer->reserve = LAST_ROOM;
	writer->entry_step = 1;
	if (make_room(writer, CHUNK_TARGET) || deflateInit(&writer->deflate, level) != Z_OK) {
		recording_writer__free(writer);
		return error__set(err, -ENOMEM, "out of memory");
	}
	ret = writer->ring ? 0 : write_header(writer, header);
	if (ret) {
		recording_writer__free(writer);
		return error__set(err, ret, "cannot write the recording: %s", strerror(-ret));
	}
	*out = writer;
	return 0;
}

void recording_writer__free(struct recording_writer *writer)
{
	if (!writer)
		return;
	deflateEnd(&writer->deflate);
	if (writer->fd >= 0)
		close(writer->fd);
	free(writer->raw);
	free(writer->stored);
	free(writer->entries);
	free(writer);
}

/* Takes the current chunk, a keyframe, into the index. Without memory it has no entry. */
static void add_entry(struct recording_writer *writer, uint64_t offset)
{
	struct recording_index_entry entry = {offset, writer->chunk_first_ns, writer->chunks};

	if (writer->keyframes++ % writer->entry_step)
		return;
	if (writer->entry_count == INDEX_ENTRIES_MAX) {
		for (size_t i = 0; i < writer->entry_count / 2; i++)
			writer->entries[i] = writer->entries[2 * i];
		writer->entry_count /= 2;
		writer->entry_step *= 2;
	}
	if (!ARRAY_RESERVE(writer->entries, writer->entry_count, 1))
		writer->entries[writer->entry_count++] = entry;
}

/*
 * Compresses the body behind the room for the chunk's head in writer->stored. Returns 0 or
 * -ENOMEM.
 */
static int compress_body(struct recording_writer *writer, const uint8_t *body, size_t length,
			 struct recording_chunk *chunk)
{
	size_t room = sizeof(*chunk) + deflateBound(&writer->deflate, length);
	z_stream *deflating = &writer->deflate;

	if (room > writer->stored_room) {
		uint8_t *stored = realloc(writer->stored, room);

		if (!stored)
			return -ENOMEM;
		writer->stored = stored;
		writer->stored_room = room;
	}
	deflateReset(deflating);
	deflating->next_in = (uint8_t *)body;
	deflating->avail_in = (unsigned int)length;
	deflating->next_out = writer->stored + sizeof(*chunk);
	deflating->avail_out = (unsigned int)(room - sizeof(*chunk));
	if (deflate(deflating, Z_FINISH) != Z_STREAM_END)
		return -ENOMEM;
	chunk->raw_bytes = (uint32_t)length;
	chunk->stored_bytes = (uint32_t)deflating->total_out;
	return 0;
}

static void finish_head(const struct recording_writer *writer, struct recording_chunk *chunk)
{
	chunk->magic = CHUNK_MAGIC;
	chunk->number = writer->chunks;
	chunk->crc = crc_of(chunk, offsetof(struct recording_chunk, crc));
}

/* Writes a chunk whose type, flags and times are set. `reserve` bytes must fit after it. */
static int write_chunk(struct recording_writer *writer, struct recording_chunk *chunk,
		       const uint8_t *body, size_t length, size_t reserve)
{
	int ret = compress_body(writer, body, length, chunk);
	size_t total = sizeof(*chunk) + chunk->stored_bytes;

	if (ret)
		return ret;
	if (writer->max_bytes && writer->size + total + reserve > writer->max_bytes)
		return RECORDING_FULL;
	chunk->body_crc = crc_of(writer->stored + sizeof(*chunk), chunk->stored_bytes);
	finish_head(writer, chunk);
	memcpy(writer->stored, chunk, sizeof(*chunk));
	return writer->ring ?
		       chunk_ring__add(writer->ring, chunk, writer->stored + sizeof(*chunk)) :
		       append(writer, writer->stored, total);
}

static void begin_chunk(struct recording_writer *writer)
{
	writer->raw_bytes = 0;
	writer->records = 0;
	writer->keyframe = writer->has_others = false;
}

static void note_written(struct recording_writer *writer)
{
	if (!writer->chunks || writer->chunk_first_ns < writer->first_ns)
		writer->first_ns = writer->chunk_first_ns;
	if (writer->chunk_last_ns > writer->last_ns)
		writer->last_ns = writer->chunk_last_ns;
	writer->chunks++;
}

int recording_writer__end_chunk(struct recording_writer *writer)
{
	struct recording_chunk chunk = {
		.type = CHUNK_RECORDS,
		.flags = (writer->keyframe ? CHUNK_KEYFRAME : 0) |
			 (writer->has_others ? 0 : CHUNK_CALLS),
		.first_ns = writer->chunk_first_ns,
		.last_ns = writer->chunk_last_ns,
	};
	uint64_t offset = writer->size;
	int ret;

	if (writer->failure || !writer->records)
		return writer->failure;
	ret = write_chunk(writer, &chunk, writer->raw, writer->raw_bytes,
			  INDEX_ROOM(writer->entry_count) + writer->reserve);
	if (ret) {
		writer->dropped += writer->records;
	} else {
		if (writer->keyframe && !writer->ring)
			add_entry(writer, offset);
		note_written(writer);
	}
	/* A ring has room again with the next keyframe. */
	if (!writer->ring)
		writer->failure = ret;
	begin_chunk(writer);
	return ret;
}

int recording_writer__append(struct recording_writer *writer, const struct recording_chunk *chunk,
			     const uint8_t *body)
{
	struct recording_chunk head = *chunk;
	uint64_t offset = writer->size;

	if (writer->failure)
		return writer->failure;
	finish_head(writer, &head);
	writer->failure = append(writer, &head, sizeof(head));
	if (writer->failure)
		return writer->failure;
	writer->failure = append(writer, body, head.stored_bytes);
	/* It ends with a head without its body. */
	writer->broken = writer->failure;
	if (writer->failure)
		return writer->failure;
	writer->chunk_first_ns = head.first_ns;
	writer->chunk_last_ns = head.last_ns;
	if (head.flags & CHUNK_KEYFRAME)
		add_entry(writer, offset);
	note_written(writer);
	return 0;
}

void recording_writer__keyframe(struct recording_writer *writer)
{
	writer->keyframe = true;
}

static void note_time(struct recording_writer *writer, uint64_t time_ns)
{
	if (!writer->records) {
		writer->chunk_first_ns = writer->chunk_last_ns = writer->time_ns = time_ns;
		return;
	}
	if (time_ns > writer->chunk_last_ns)
		writer->chunk_last_ns = time_ns;
}

int recording_writer__add(struct recording_writer *writer, enum recorded_kind kind,
			  uint64_t time_ns, const void *bytes, size_t length)
{
	uint8_t *at;
	int ret = 0;

	if (length > RECORDED_MAX)
		return -E2BIG;
	if (writer->raw_bytes && writer->raw_bytes + length + RECORD_HEAD_MAX > CHUNK_TARGET)
		ret = recording_writer__end_chunk(writer);
	if (!ret && !writer->failure)
		ret = make_room(writer, writer->raw_bytes + length + RECORD_HEAD_MAX);
	if (ret || writer->failure) {
		writer->dropped++;
		return ret ? ret : writer->failure;
	}
	note_time(writer, time_ns);
	at = varint__put(writer->raw + writer->raw_bytes, kind);
	at = varint__put(at, length);
	at = varint__put_signed(at, (int64_t)(time_ns - writer->time_ns));
	memcpy(at, bytes, length);
	writer->raw_bytes = (size_t)(at - writer->raw) + length;
	writer->time_ns = time_ns;
	writer->has_others |= kind > RECORDED_CALLS_LAST;
	writer->records++;
	return 0;
}

void recording_writer__use_reserve(struct recording_writer *writer)
{
	writer->reserve = 0;
	if (writer->failure == RECORDING_FULL)
		writer->failure = 0;
}

size_t recording_writer__bytes(const struct recording_writer *writer)
{
	return writer->raw_bytes;
}

uint64_t recording_writer__size(const struct recording_writer *writer)
{
	return writer->ring ? chunk_ring__bytes(writer->ring) : writer->size;
}

uint64_t recording_writer__dropped(const struct recording_writer *writer)
{
	return writer->dropped;
}

static int write_index(struct recording_writer *writer)
{
	size_t entries = writer->entry_count * sizeof(*writer->entries);
	struct recording_index index = {writer->chunks, (uint32_t)writer->entry_count, 0};
	struct recording_file_end end = {.index_offset = writer->size, .magic = CHUNK_MAGIC};
	struct recording_chunk chunk = {
		.type = CHUNK_INDEX,
		.first_ns = writer->first_ns,
		.last_ns = writer->last_ns,
	};
	int ret = make_room(writer, sizeof(index) + entries);

	if (ret)
		return ret;
	memcpy(writer->raw, &index, sizeof(index));
	if (entries)
		memcpy(writer->raw + sizeof(index), writer->entries, entries);
	ret = write_chunk(writer, &chunk, writer->raw, sizeof(index) + entries, sizeof(end));
	end.crc = crc_of(&end, offsetof(struct recording_file_end, crc));
	return ret ? ret : append(writer, &end, sizeof(end));
}

int recording_writer__close(struct recording_writer *writer, struct error *err)
{
	int failure = recording_writer__end_chunk(writer), ret = 0;

	if (failure == RECORDING_FULL)
		failure = 0;
	if (!writer->broken)
		ret = write_index(writer);
	/* Without an index the file is complete, but for readers it looks as if gpuprobe died. */
	if (!failure)
		failure = ret;
	return failure ? error__set(err, failure, "cannot write the recording: %s",
				    strerror(-failure)) :
			 0;
}
