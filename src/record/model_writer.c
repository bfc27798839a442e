// SPDX-License-Identifier: BSD-2-Clause
// Writes readings of the model, see model_codec.h.
#include <errno.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/array.h"
#include "record/gpu_reading.h"
#include "record/flatten.h"
#include "record/model_codec.h"

/*
 * Readings from one keyframe to the next, which is what damage costs. A whole reading takes some
 * twenty times as much room as a difference. So a keyframe comes as soon as the differences since
 * the latest one have taken as much room as that one: it at most doubles the file. It comes after
 * this many in any case, when little changes.
 */
#define KEYFRAME_EVERY 60

struct model_writer {
	struct layout layout;
	struct names_writer *names;
	struct arena memory[2]; /* of the reading and of the one before, in turns */
	struct flatten_cache ended;
	struct tree_list before;
	unsigned int turn, since_keyframe, keyframe_every;
	size_t keyframe_bytes, since_bytes; /* of the latest keyframe, and of all after it */
	bool fresh;			    /* `before` is valid */
	struct bytes tree, out;
};

int model_writer__new(struct model_writer **out)
{
	struct model_writer *writer = calloc(1, sizeof(*writer));
	int ret = writer ? layout__of(&recorded_recorded_reading, &writer->layout) : -ENOMEM;

	if (!ret) {
		writer->layout.has_runs = true;
		writer->names = names_writer__new();
		ret = writer->names ? 0 : -ENOMEM;
	}
	if (ret) {
		model_writer__free(writer);
		return ret;
	}
	writer->keyframe_every = KEYFRAME_EVERY;
	*out = writer;
	return 0;
}

void model_writer__set_keyframes(struct model_writer *writer, unsigned int count)
{
	writer->keyframe_every = count < KEYFRAME_EVERY ? count : KEYFRAME_EVERY;
}

void model_writer__free(struct model_writer *writer)
{
	if (!writer)
		return;
	layout__clear(&writer->layout);
	names_writer__free(writer->names);
	flatten_cache__clear(&writer->ended);
	arena__clear(&writer->memory[0]);
	arena__clear(&writer->memory[1]);
	free(writer->tree.at);
	free(writer->out.at);
	free(writer);
}

void model_writer__hide_names(struct model_writer *writer, struct pseudonyms *pseudonyms)
{
	names_writer__hide(writer->names, pseudonyms);
}

bool model_writer__is_keyframe(const struct model_writer *writer)
{
	return !writer->fresh || writer->since_keyframe >= writer->keyframe_every ||
	       writer->since_bytes >= writer->keyframe_bytes;
}

void model_writer__lost(struct model_writer *writer)
{
	writer->fresh = false;
}

static int list_slow_rows(const struct model *model, struct recorded_reading *reading)
{
	reading->slow_rows = NULL;
	reading->slow_row_count = 0;
	for (size_t row = 0; model->slow && row < api_function_count; row++)
		if (model->slow[row] && ARRAY_APPEND(reading->slow_rows, reading->slow_row_count,
						     (struct slow_row){.row = (uint16_t)row}))
			return -ENOMEM;
	return 0;
}

static void begin(struct model_writer *writer, bool keyframe)
{
	bytes__clear(&writer->out);
	bytes__clear(&writer->tree);
	bytes__number(&writer->out, keyframe ? READING_KEYFRAME | READING_RUNS : 0);
	if (!keyframe)
		return;
	writer->since_keyframe = 0;
	writer->before = (struct tree_list){0};
	names_writer__restart(writer->names);
	flatten_cache__clear(&writer->ended);
	layout__write(&writer->layout, &writer->out);
}

/* Leaves *made all zero without GPU times. */
static int list_gpu_times(const struct model *model, struct recorded_gpu_times *made,
			  struct recorded_reading *reading)
{
	*made = (struct recorded_gpu_times){0};
	reading->gpu_times = model->gpu_times ? made : NULL;
	return model->gpu_times ? recorded_gpu_times__make(model->gpu_times, made) : 0;
}

/* Names come before the numbers that use them, and are known after these. */
static int write_reading(struct model_writer *writer, const struct recorded_reading *reading)
{
	struct arena *memory = &writer->memory[writer->turn];
	struct tree_list list = {0};
	int ret;

	arena__clear(memory);
	ret = flatten(&writer->layout, reading, writer->names, &writer->ended, memory, &list);
	if (!ret)
		ret = tree_list__write(&list, &writer->before, &writer->layout,
				       writer->layout.count - 1, &writer->tree);
	if (!ret)
		ret = names_writer__write(writer->names, &writer->out);
	bytes__add(&writer->out, writer->tree.at, writer->tree.length);
	writer->before = list;
	writer->turn = !writer->turn;
	return ret || !writer->out.failed ? ret : -ENOMEM;
}

int model_writer__write(struct model_writer *writer, const struct recorded_reading *reading,
			const uint8_t **bytes, size_t *length)
{
	struct recorded_reading whole = *reading;
	struct recorded_gpu_times gpu_times;
	bool keyframe = model_writer__is_keyframe(writer);
	int ret = list_slow_rows(reading->model, &whole);
	int gpu_ret = list_gpu_times(reading->model, &gpu_times, &whole);

	ret = ret ? ret : gpu_ret;
	begin(writer, keyframe);
	if (!ret)
		ret = write_reading(writer, &whole);
	free(whole.slow_rows);
	recorded_gpu_times__clear(&gpu_times);
	writer->fresh = !ret;
	writer->since_keyframe++;
	writer->since_bytes = keyframe ? 0 : writer->since_bytes + writer->out.length;
	if (keyframe)
		writer->keyframe_bytes = writer->out.length;
	*bytes = writer->out.at;
	*length = writer->out.length;
	return ret;
}
