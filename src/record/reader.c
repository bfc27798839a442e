// SPDX-License-Identifier: BSD-2-Clause
// Reads the file of a recording, see reader.h.
#include "record/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "record/chunks.h"
#include "record/open_gap.h"
#include "record/varint.h"

struct recording {
	struct chunk_file file;
	struct recording_header header;
	struct recording_damage damage;
	uint64_t data;	 /* offset of the first chunk */
	uint64_t offset; /* of the next chunk */
	uint64_t number; /* that the next chunk should have */
	uint64_t latest_ns;
	bool gap; /* to be told with the next record */
	struct open_gap open_gap;
	bool complete; /* the chunk with the index, the last one, was reached */
	bool ended;
	bool leaves_out_calls;

	/* the current chunk */
	struct chunk_body body;
	struct varint_reader records;
	uint64_t time_ns;
	bool keyframe;

	bool indexed; /* the following are known */
	uint64_t first_ns, last_ns;
	struct recording_index_entry *entries;
	size_t entry_count;
};

static uint32_t crc_of(const void *bytes, size_t length)
{
	return (uint32_t)crc32_z(0, bytes, length);
}

static void end_text(char *text, size_t size)
{
	text[size - 1] = '\0';
}

#define END_TEXT(array) end_text(array, sizeof(array))

/* Texts without an end, which only a hostile file has, are cut. */
static void end_texts(struct recording_header *header)
{
	END_TEXT(header->program);
	END_TEXT(header->boot_id);
	END_TEXT(header->host);
	END_TEXT(header->kernel);
	END_TEXT(header->options);
}

/* A version for a message: the file's bytes as far as they are printable. */
static void copy_version(char text[32], const char *program)
{
	size_t i;

	for (i = 0; i < 31 && program[i] > ' ' && program[i] < 0x7f; i++)
		text[i] = program[i];
	text[i] = '\0';
}

static int check_head(const struct recording_file_head *head, int64_t count, const char *name,
		      struct error *err)
{
	char version[32];

	if (!count)
		return error__set(err, -EINVAL, "%s is empty: nothing has been recorded to it",
				  name);
	if (count < (int64_t)sizeof(*head) ||
	    memcmp(head->magic, RECORDING_MAGIC, sizeof(head->magic)) != 0)
		return error__set(err, -EINVAL, "%s is no recording of gpuprobe", name);
	if (head->crc != crc_of(head, offsetof(struct recording_file_head, crc)))
		return error__set(err, -EINVAL, "%s: the beginning of the recording is damaged",
				  name);
	copy_version(version, head->program);
	if (head->format > RECORDING_FORMAT)
		return error__set(err, -EINVAL,
				  "%s: recording of gpuprobe %s, format %u; this gpuprobe reads up "
				  "to format %u",
				  name, version, head->format, RECORDING_FORMAT);
	if (!head->format || head->header_bytes > RECORDING_HEADER_MAX)
		return error__set(err, -EINVAL, "%s: the beginning of the recording is malformed",
				  name);
	return 0;
}

/* A newer header is longer, an older one shorter. */
static int read_header(struct recording *recording, const char *name, struct error *err)
{
	struct recording_file_head head;
	int64_t count = chunk_file__read(&recording->file, 0, &head, sizeof(head));
	size_t known;
	uint8_t *bytes;
	int ret;

	if (count < 0)
		return error__set(err, (int)count, "cannot read %s: %s", name,
				  strerror((int)-count));
	ret = check_head(&head, count, name, err);
	if (ret)
		return ret;
	bytes = malloc(head.header_bytes + 1ul);
	if (!bytes)
		return error__set(err, -ENOMEM, "out of memory");
	count = chunk_file__read(&recording->file, sizeof(head), bytes, head.header_bytes);
	if (count != head.header_bytes || head.header_crc != crc_of(bytes, head.header_bytes)) {
		free(bytes);
		return error__set(err, -EINVAL, "%s: the beginning of the recording is damaged",
				  name);
	}
	known = head.header_bytes < sizeof(recording->header) ? head.header_bytes :
								sizeof(recording->header);
	memcpy(&recording->header, bytes, known);
	end_texts(&recording->header);
	free(bytes);
	recording->data = sizeof(head) + head.header_bytes;
	return 0;
}

/* Returns whether the index was read. */
static bool take_index(struct recording *recording, const struct recording_chunk *chunk)
{
	struct recording_index index;
	size_t bytes;

	if (chunk->type != CHUNK_INDEX || recording->body.length < sizeof(index))
		return false;
	memcpy(&index, recording->body.raw, sizeof(index));
	bytes = index.count * sizeof(*recording->entries);
	if (index.count > INDEX_ENTRIES_MAX || recording->body.length - sizeof(index) < bytes)
		return false;
	if (index.count && ARRAY_RESERVE(recording->entries, 0, index.count))
		return false;
	if (index.count)
		memcpy(recording->entries, recording->body.raw + sizeof(index), bytes);
	recording->entry_count = index.count;
	recording->first_ns = chunk->first_ns;
	recording->last_ns = chunk->last_ns;
	recording->indexed = true;
	return true;
}

/* Reads the index of a closed file. Whatever is wrong with it, the chunks tell the same. */
static void read_index(struct recording *recording)
{
	struct recording_file_end end;
	struct recording_chunk chunk;
	uint64_t size = recording->file.size, offset;

	recording->damage.unclosed = true;
	if (size < recording->data + sizeof(end) ||
	    chunk_file__read(&recording->file, size - sizeof(end), &end, sizeof(end)) !=
		    sizeof(end))
		return;
	if (end.magic != CHUNK_MAGIC ||
	    end.crc != crc_of(&end, offsetof(struct recording_file_end, crc)))
		return;
	recording->damage.unclosed = false;
	offset = end.index_offset;
	if (offset < recording->data || offset >= size ||
	    chunk_file__find(&recording->file, &offset, &chunk) != 1)
		return;
	if (chunk_body__read(&recording->body, &recording->file, offset, &chunk) == 1)
		take_index(recording, &chunk);
}

int recording__open(int fd, const char *name, struct recording **out, struct error *err)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct stat status;
	int ret;

	if (!recording) {
		close(fd);
		return error__set(err, -ENOMEM, "out of memory");
	}
	recording->file.fd = fd;
	if (fstat(fd, &status))
		ret = error__set(err, -errno, "cannot read %s: %s", name, strerror(errno));
	else if (!S_ISREG(status.st_mode))
		ret = error__set(err, -EINVAL, "%s is no regular file", name);
	else
		ret = 0;
	recording->file.size = ret ? 0 : (uint64_t)status.st_size;
	if (!ret)
		ret = read_header(recording, name, err);
	if (ret) {
		recording__free(recording);
		return ret;
	}
	read_index(recording);
	recording->offset = recording->data;
	*out = recording;
	return 0;
}

void recording__free(struct recording *recording)
{
	if (!recording)
		return;
	close(recording->file.fd);
	chunk_body__clear(&recording->body);
	free(recording->entries);
	free(recording);
}

const struct recording_header *recording__header(const struct recording *recording)
{
	return &recording->header;
}

const struct recording_damage *recording__damage(const struct recording *recording)
{
	return &recording->damage;
}

void recording__leave_out_calls(struct recording *recording)
{
	recording->leaves_out_calls = true;
}

/* --- index --- */

static int add_entry(struct recording *recording, uint64_t *step, uint64_t *keyframes,
		     const struct recording_index_entry *entry)
{
	if ((*keyframes)++ % *step)
		return 0;
	if (recording->entry_count == INDEX_ENTRIES_MAX) {
		for (size_t i = 0; i < recording->entry_count / 2; i++)
			recording->entries[i] = recording->entries[2 * i];
		recording->entry_count /= 2;
		*step *= 2;
	}
	return ARRAY_APPEND(recording->entries, recording->entry_count, *entry);
}

/* Makes the index from the heads of the chunks. */
static int rebuild_index(struct recording *recording)
{
	uint64_t offset = recording->data, step = 1, keyframes = 0;
	struct recording_chunk chunk;
	bool any = false;
	int ret;

	recording->entry_count = 0;
	recording->last_ns = 0;
	while ((ret = chunk_file__find(&recording->file, &offset, &chunk)) == 1) {
		struct recording_index_entry entry = {offset, chunk.first_ns, chunk.number};

		offset = chunk_file__end(&recording->file, offset, &chunk);
		if (chunk.type != CHUNK_RECORDS)
			continue;
		if (!any)
			recording->first_ns = chunk.first_ns;
		any = true;
		if (chunk.last_ns > recording->last_ns)
			recording->last_ns = chunk.last_ns;
		if (chunk.flags & CHUNK_KEYFRAME)
			ret = add_entry(recording, &step, &keyframes, &entry);
		if (ret < 0)
			break;
	}
	recording->indexed = ret >= 0;
	return ret < 0 ? ret : 0;
}

void recording__span(struct recording *recording, uint64_t *first_ns, uint64_t *last_ns)
{
	if (!recording->indexed)
		rebuild_index(recording);
	*first_ns = recording->first_ns;
	*last_ns = recording->last_ns;
}

/* Whether the chunk of an index entry is there and intact: 1 or 0, or a negative errno. */
static int is_readable(struct recording *recording, const struct recording_index_entry *entry)
{
	uint64_t offset = entry->offset;
	struct recording_chunk chunk;
	int ret = offset < recording->data || offset > recording->file.size ?
			  0 :
			  chunk_file__find(&recording->file, &offset, &chunk);

	if (ret != 1 || offset != entry->offset || chunk.number != entry->number ||
	    chunk.type != CHUNK_RECORDS)
		return ret < 0 ? ret : 0;
	return chunk_body__read(&recording->body, &recording->file, offset, &chunk);
}

/* A hostile index may have thousands that are not. */
#define UNREADABLE_MAX 16

/*
 * Makes *count smaller, so that the last of so many entries is readable; 0 if none near by is.
 * Returns 0 or a negative errno.
 */
static int skip_unreadable(struct recording *recording, size_t *count)
{
	for (size_t tries = 0; *count && tries < UNREADABLE_MAX; tries++, (*count)--) {
		int ret = is_readable(recording, &recording->entries[*count - 1]);

		if (ret)
			return ret < 0 ? ret : 0;
	}
	*count = 0;
	return 0;
}

int recording__seek(struct recording *recording, uint64_t time_ns)
{
	size_t low = 0, high;
	int ret = recording->indexed ? 0 : rebuild_index(recording);

	if (ret)
		return ret;
	high = recording->entry_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (recording->entries[middle].first_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	ret = skip_unreadable(recording, &low);
	if (ret)
		return ret;
	recording->offset = low ? recording->entries[low - 1].offset : recording->data;
	recording->number = low ? recording->entries[low - 1].number : 0;
	recording->latest_ns = low ? recording->entries[low - 1].first_ns : 0;
	recording->gap = recording->ended = recording->complete = false;
	recording->open_gap = (struct open_gap){0};
	recording->records = (struct varint_reader){0};
	return 0;
}

/* --- records --- */

static void note_gap(struct recording *recording, uint64_t from_ns)
{
	recording->gap = true;
	open_gap__begin(&recording->open_gap, &recording->damage, from_ns);
}

void recording__lose(struct recording *recording, uint64_t from_ns)
{
	recording->gap = true;
	open_gap__go_on(&recording->open_gap, &recording->damage, from_ns);
}

/* Compares the number of an intact chunk with the one that should follow. */
static void follow(struct recording *recording, const struct recording_chunk *chunk)
{
	if (chunk->number != recording->number) {
		if (chunk->number > recording->number)
			recording->damage.chunks += chunk->number - recording->number;
		note_gap(recording, recording->latest_ns);
	}
	recording->number = chunk->number + 1;
}

static void begin_records(struct recording *recording, const struct recording_chunk *chunk)
{
	recording->records = varint_reader__of(recording->body.raw, recording->body.length);
	recording->time_ns = chunk->first_ns;
	recording->keyframe = chunk->flags & CHUNK_KEYFRAME;
	if (chunk->last_ns > recording->latest_ns)
		recording->latest_ns = chunk->last_ns;
}

/*
 * The end of the chunks, without the index, which tells how many there are. What is behind
 * `offset` is a part of a chunk.
 */
static void note_end(struct recording *recording, uint64_t offset, bool is_last_damaged)
{
	struct recording_damage *damage = &recording->damage;
	uint64_t end = recording->file.size;

	if (!damage->unclosed)
		end -= sizeof(struct recording_file_end);
	if (offset >= end && !is_last_damaged)
		return;
	if (offset < end)
		damage->bytes += end - offset;
	damage->cut = damage->unclosed;
	damage->chunks++;
	note_gap(recording, recording->latest_ns);
}

static bool is_left_out(const struct recording *recording, const struct recording_chunk *chunk)
{
	return chunk->type != CHUNK_RECORDS ||
	       (recording->leaves_out_calls && chunk->flags & CHUNK_CALLS);
}

/*
 * Reads the next chunk with records. Returns 1, 0 at the end, or a negative errno.
 */
static int next_chunk(struct recording *recording)
{
	struct recording_damage *damage = &recording->damage;
	struct chunk_file *file = &recording->file;
	bool is_last_damaged = false;

	for (;;) {
		uint64_t before = recording->offset, next;
		struct recording_chunk chunk;
		int ret = chunk_file__find(file, &recording->offset, &chunk);

		if (ret < 0)
			return ret;
		if (!ret) {
			if (!recording->complete)
				note_end(recording, before, is_last_damaged);
			recording->ended = true;
			return 0;
		}
		if (recording->offset != before)
			damage->bytes += recording->offset - before;
		next = chunk_file__end(file, recording->offset, &chunk);
		ret = is_left_out(recording, &chunk) ?
			      1 :
			      chunk_body__read(&recording->body, file, recording->offset, &chunk);
		if (ret < 0)
			return ret;
		if (!ret)
			damage->bytes += next - recording->offset;
		recording->offset = next;
		is_last_damaged = !ret;
		if (!ret)
			continue;
		follow(recording, &chunk);
		if (!is_left_out(recording, &chunk)) {
			begin_records(recording, &chunk);
			return 1;
		}
		recording->complete = chunk.type == CHUNK_INDEX;
		damage->unknown += chunk.type != CHUNK_INDEX && chunk.type != CHUNK_RECORDS;
	}
}

static bool take_record(struct recording *recording, struct recorded *out)
{
	struct varint_reader *records = &recording->records;
	uint64_t kind = varint__take(records), length = varint__take(records);
	int64_t later = varint__take_signed(records);

	out->bytes = varint__take_bytes(records, length);
	if (records->failed || kind > UINT32_MAX) {
		recording->damage.records++;
		recording->gap = true;
		records->at = records->end;
		return false;
	}
	recording->time_ns += (uint64_t)later;
	out->kind = (uint32_t)kind;
	out->length = length;
	out->time_ns = recording->time_ns;
	out->keyframe = recording->keyframe;
	out->gap = recording->gap;
	open_gap__end(&recording->open_gap, recording->time_ns);
	recording->keyframe = recording->gap = false;
	return true;
}

int recording__next(struct recording *recording, struct recorded *out)
{
	for (;;) {
		if (recording->records.at < recording->records.end) {
			if (take_record(recording, out))
				return 1;
			continue;
		}
		if (recording->ended)
			return 0;
		int ret = next_chunk(recording);

		if (ret <= 0)
			return ret;
	}
}
