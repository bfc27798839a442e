// SPDX-License-Identifier: BSD-2-Clause
// Recordings. The first byte chooses: the input is a whole file (even), or bodies of chunks (odd).
// The target adds intact heads and checksums to these, so that their records are reached.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "harness.h"
#include "output/timeline/timeline.h"
#include "output/trace/output.h"
#include "record/call_reader.h"

#define FILE_MAX (1u << 20)

struct file {
	uint8_t bytes[FILE_MAX];
	size_t length;
};

static void add(struct file *file, const void *bytes, size_t length)
{
	if (length > FILE_MAX - file->length)
		length = FILE_MAX - file->length;
	memcpy(file->bytes + file->length, bytes, length);
	file->length += length;
}

static void add_head(struct file *file)
{
	const struct recording_header header = {.level = RECORDING_CALLS, .program = "0"};
	struct recording_file_head head = {.format = RECORDING_FORMAT,
					   .header_bytes = sizeof(header)};

	memcpy(head.magic, RECORDING_MAGIC, sizeof(head.magic));
	head.header_crc = (uint32_t)crc32(0, (const void *)&header, sizeof(header));
	head.crc =
		(uint32_t)crc32(0, (const void *)&head, offsetof(struct recording_file_head, crc));
	add(file, &head, sizeof(head));
	add(file, &header, sizeof(header));
}

/* A chunk whose flags, number and length the input chooses. Its body is not compressed. */
static void add_chunk(struct file *file, struct input *input)
{
	uint64_t how = input__number(input, 1), length = input__number(input, 2);
	struct recording_chunk chunk = {
		.magic = CHUNK_MAGIC,
		.type = how & 0x40 ? CHUNK_INDEX : CHUNK_RECORDS,
		.flags = CHUNK_STORED | (how & 1 ? CHUNK_KEYFRAME : 0) |
			 (how & 0x20 ? CHUNK_CALLS : 0),
		.number = how >> 1 & 0xf,
		.first_ns = 1,
	};
	const uint8_t *body;

	chunk.stored_bytes = (uint32_t)input__bytes(input, length, &body);
	chunk.raw_bytes = chunk.stored_bytes;
	chunk.body_crc = (uint32_t)crc32_z(0, body, chunk.stored_bytes);
	chunk.crc = (uint32_t)crc32(0, (const void *)&chunk, offsetof(struct recording_chunk, crc));
	add(file, &chunk, sizeof(chunk));
	add(file, body, chunk.stored_bytes);
}

static void check_line(const struct trace_line *line)
{
	MUST(line->field_count <= TRACE_FIELDS_MAX);
	if (line->kind == LINE_GPU)
		MUST(line->gpu && line->process && !line->function);
	else
		MUST(line->kind == LINE_LOST || (line->function && line->process));
	MUST(line->depth < TRACE_DEPTH && line->reason < TRACE_LOSSES);
}

/* A timeline in a form that the input chooses. */
static struct timeline *begin_timeline(int sink, uint64_t which)
{
	const struct timeline_options options = {
		.format = (enum timeline_format)(which % 3),
		.begin_ns = which,
		.plain = which & 8,
		.counts_memory = true,
		.draws_arrows = true,
		.has_gpu_work = true,
	};
	struct timeline *timeline = NULL;

	MUST(!timeline__new(sink, &options, &timeline, NULL));
	return timeline;
}

/* As readers of readings do, which leave the calls out. */
static void read_readings(const void *bytes, size_t length)
{
	struct recording *recording = NULL;
	struct recorded record;
	struct error err;

	if (recording__open(harness__file(bytes, length), "input", &recording, &err))
		return;
	recording__leave_out_calls(recording);
	while (recording__next(recording, &record) == 1)
		MUST(record.length <= RECORDED_MAX);
	MUST(recording__damage(recording)->bytes <= length);
	recording__free(recording);
}

static void read_file(const void *bytes, size_t length)
{
	static struct trace_functions *functions; /* of all inputs, because they cost most */
	const struct trace_output_options options = {.format = TRACE_JSON};
	struct recording *recording = NULL;
	struct trace_output *output = NULL;
	struct timeline *timeline = NULL;
	struct call_reader *calls = NULL;
	struct trace_line line;
	struct error err;
	uint64_t first, last;
	int sink = harness__file("", 0);

	if (!functions)
		functions = trace_functions__new(false);
	if (recording__open(harness__file(bytes, length), "input", &recording, &err))
		goto out;
	calls = call_reader__new(recording, functions, length & 1);
	MUST(functions && calls && !trace_output__new(sink, &options, &output, NULL));
	timeline = begin_timeline(sink, length);
	for (int i = 0; i < 2; i++) {
		while (call_reader__next(calls, &line) == 1) {
			check_line(&line);
			MUST(!trace_output__line(output, &line));
			MUST(!timeline__line(timeline, &line));
		}
		MUST(recording__damage(recording)->bytes <= length * (i + 1ul));
		recording__span(recording, &first, &last);
		MUST(!recording__seek(recording, length % 7));
	}
	MUST(!timeline__finish(timeline));
	read_readings(bytes, length);
out:
	timeline__free(timeline);
	trace_output__free(output);
	call_reader__free(calls);
	recording__free(recording);
	close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	static struct file file;

	if (input__number(&input, 1) % 2 == 0) {
		read_file(input.at, input.left);
		return 0;
	}
	file.length = 0;
	add_head(&file);
	while (input.left)
		add_chunk(&file, &input);
	read_file(file.bytes, file.length);
	return 0;
}
