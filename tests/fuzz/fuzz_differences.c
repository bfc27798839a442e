// SPDX-License-Identifier: BSD-2-Clause
/*
 * Readings that are differences to the one before, as they come out of a chunk: below its checksum
 * and its compression. First comes a keyframe of gpuprobe's own writer, since no input of bytes
 * makes one with all the lists of a model; then records that are bytes of the input, or the
 * writer's own with bytes of the input in them. What the reader accepts must be a reading that can
 * be written and read again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "record/model_codec.h"

/* The random numbers of random_model.h: the input chooses one of 256 series. */
#define TESTS_RANDOM_NUMBERS_H
static uint64_t state;
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}
#include "record/random_model.h"

#define RECORDS_MAX 12
#define BYTES_MAX 4096 /* of a record: random models would take too long otherwise */

enum {
	RECORD_EDITED = 1,   /* the writer's own; else bytes of the input */
	RECORD_GAP = 2,	     /* records before it are missing */
	RECORD_KEYFRAME = 4, /* edited: written whole */
	RECORD_BEGIN = 8,    /* what follows is the difference to the reading before: --from */
};

struct scene {
	struct model_writer *writer;
	struct model_reader *reader;
	struct recorded_reading made;
	struct arena arena;
	bool begun;
};

static void choose_numbers(uint64_t series)
{
	state = 88172645463325252ull + series;
	for (int i = 0; i < 8; i++)
		next_random();
}

/* What the writer makes of the next model of the series; malloc'd. */
static uint8_t *write_next(struct scene *scene, size_t *length)
{
	const uint8_t *bytes;
	uint8_t *copy;

	arena__clear(&scene->arena);
	scene->made = (struct recorded_reading){.model = random_model(&scene->arena)};
	MUST(!model_writer__write(scene->writer, &scene->made, &bytes, length));
	copy = malloc(*length + 1);
	MUST(copy);
	memcpy(copy, bytes, *length);
	return copy;
}

/* Up to three changes: of a byte, a byte more, or the rest left out. */
static void edit(struct input *input, uint8_t *bytes, size_t *length)
{
	for (uint64_t edits = input__number(input, 1) % 4; edits && *length; edits--) {
		uint64_t how = input__number(input, 1);
		size_t at = input__number(input, 2) % *length;

		if (how % 8 == 7)
			*length = at;
		else if (how % 8 == 6)
			bytes[at] = (uint8_t)(bytes[at] + 1);
		else
			bytes[at] = (uint8_t)input__number(input, 1);
	}
}

/* Every list and name of it is reached, and is something that this gpuprobe knows. */
static void check(const struct recorded_reading *reading)
{
	const struct recorded_reading *again;
	struct model_writer *writer;
	struct model_reader *reader;
	const uint8_t *bytes;
	size_t length;

	MUST(!model_writer__new(&writer) && !model_reader__new(&reader));
	MUST(!model_writer__write(writer, reading, &bytes, &length));
	MUST(!model_reader__read(reader, bytes, length, false, &again));
	MUST(!model_reader__left_out(reader));
	MUST(again->model->process_count == reading->model->process_count);
	model_reader__free(reader);
	model_writer__free(writer);
}

static void read_record(struct scene *scene, struct input *input)
{
	uint64_t how = input__number(input, 1);
	const struct recorded_reading *reading = NULL;
	const uint8_t *from;
	uint8_t *bytes, *exact;
	size_t length;
	int ret;

	if (how & RECORD_EDITED) {
		if (how & RECORD_KEYFRAME)
			model_writer__lost(scene->writer);
		bytes = write_next(scene, &length);
		edit(input, bytes, &length);
	} else {
		length = input__bytes(input, input__number(input, 2) % BYTES_MAX, &from);
		bytes = harness__exactly(from, length);
	}
	exact = harness__exactly(bytes, length);
	ret = model_reader__read(scene->reader, exact, length, how & RECORD_GAP, &reading);
	free(exact);
	free(bytes);
	MUST(!ret == !!reading);
	MUST(!ret || ret == -EINVAL || ret == -EAGAIN || ret == -ENOMEM);
	if (!reading)
		return;
	check(reading);
	if (!scene->begun && how & RECORD_BEGIN) {
		MUST(model_reader__begin_here(scene->reader) == reading);
		scene->begun = true;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct scene scene = {0};
	const struct recorded_reading *reading;
	uint8_t *keyframe;
	size_t length;

	MUST(!model_writer__new(&scene.writer) && !model_reader__new(&scene.reader));
	choose_numbers(input__number(&input, 1));
	keyframe = write_next(&scene, &length);
	MUST(!model_reader__read(scene.reader, keyframe, length, false, &reading));
	free(keyframe);
	for (int i = 0; i < RECORDS_MAX && input.left; i++)
		read_record(&scene, &input);
	model_reader__free(scene.reader);
	model_writer__free(scene.writer);
	arena__clear(&scene.arena);
	return 0;
}
