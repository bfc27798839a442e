// SPDX-License-Identifier: BSD-2-Clause
// Reads readings of the model, which may come from a hostile file, see model_codec.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "model/host.h"
#include "model/profile.h"
#include "model/steady_base.h"
#include "model/tensors.h"
#include "record/difference.h"
#include "record/flatten.h"
#include "record/model_codec.h"

/* Of one reading, as numbers and as structures: that of a thousand processes takes 100 MiB. */
#define READING_MAX ((size_t)1 << 30)

struct model_reader {
	struct layout own, file;
	struct unflatten_maps *maps;
	struct names_reader *names;
	struct arena trees[2];	/* of the reading and of the one before, in turns */
	struct arena models[2]; /* the model of the latest reading, and one in the making */
	struct arena first;	/* with first_reading */
	struct tree_list before;
	const struct recorded_reading *latest;
	const struct recorded_reading
		*first_reading; /* readings begin with it; NULL: all is shown */
	unsigned int turn, model_turn;
	bool fresh; /* `before` is valid */
	uint64_t left_out;
};

int model_reader__new(struct model_reader **out)
{
	struct model_reader *reader = calloc(1, sizeof(*reader));
	int ret = reader ? layout__of(&recorded_recorded_reading, &reader->own) : -ENOMEM;

	if (!ret) {
		reader->names = names_reader__new();
		ret = reader->names ? 0 : -ENOMEM;
	}
	if (ret) {
		model_reader__free(reader);
		return ret;
	}
	reader->trees[0].limit = READING_MAX;
	reader->trees[1].limit = READING_MAX;
	reader->models[0].limit = READING_MAX;
	reader->models[1].limit = READING_MAX;
	*out = reader;
	return 0;
}

void model_reader__free(struct model_reader *reader)
{
	if (!reader)
		return;
	unflatten_maps__free(reader->maps);
	layout__clear(&reader->own);
	layout__clear(&reader->file);
	names_reader__free(reader->names);
	arena__clear(&reader->trees[0]);
	arena__clear(&reader->trees[1]);
	arena__clear(&reader->models[0]);
	arena__clear(&reader->models[1]);
	arena__clear(&reader->first);
	free(reader);
}

uint64_t model_reader__left_out(const struct model_reader *reader)
{
	return reader->left_out;
}

const struct recorded_reading *model_reader__begin_here(struct model_reader *reader)
{
	struct arena *memory = &reader->models[!reader->model_turn];

	reader->first = *memory;
	*memory = (struct arena){.limit = READING_MAX};
	reader->first_reading = reader->latest;
	return reader->latest;
}

/* --- what refers to something else in the model --- */

static void finish_profile(struct profile *profile)
{
	if (!profile)
		return;
	if (profile->ended_count > profile->thread_count)
		profile->ended_count = profile->thread_count;
	if (profile->missed_count > profile->thread_count)
		profile->missed_count = profile->thread_count;
	/* Rows have other numbers than when they were sorted. */
	for (size_t i = 0; profile->steady && i < profile->steady->count; i++)
		steady_base__sort(profile->steady->bases[i]);
}

static void finish_process(const struct model *model, struct process *process)
{
	/* Both kinds were written as one list. */
	if (process->object_call_count > process->site_count)
		process->object_call_count = process->site_count;
	process->site_count -= process->object_call_count;
	for (size_t i = 0; i < process->gpu_count; i++)
		if (process->gpus[i].gpu < 0 || (size_t)process->gpus[i].gpu >= model->gpu_count)
			process->gpus[i].gpu = GPU_NONE;
	if (model->host)
		process->host = host_side__find(model->host, process->pid, process->start_ns);
	finish_profile(process->profile);
	if (process->tensors)
		tensors__sort_sites(process->tensors);
}

static void finish_partners(const struct host_process *process, struct host_partner *partners,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (partners[i].thread >= process->thread_count)
			partners[i].thread = HOST_NO_THREAD;
}

static void finish_host(const struct host_side *host)
{
	for (size_t i = 0; host && i < host->process_count; i++) {
		const struct host_process *process = &host->processes[i];

		for (size_t j = 0; j < process->thread_count; j++) {
			struct host_thread *thread = &process->threads[j];

			for (size_t k = 0; k < HOST_ACTIVITIES; k++)
				finish_partners(process, thread->wakers[k], HOST_PARTNERS);
			finish_partners(process, thread->rivals, HOST_PARTNERS);
		}
	}
}

static int finish(const struct recorded_reading *reading, struct model *model, struct arena *memory)
{
	bool *slow = arena__take(memory, api_function_count, sizeof(*slow));

	if (!slow)
		return -ENOMEM;
	for (size_t i = 0; i < reading->slow_row_count; i++)
		slow[reading->slow_rows[i].row] = true;
	if (reading->slow_row_count)
		model->slow = slow;
	finish_host(model->host);
	for (size_t i = 0; i < model->process_count; i++)
		finish_process(model, &model->processes[i]);
	return 0;
}

/* --- one reading --- */

static int read_layout(struct model_reader *reader, struct varint_reader *in, bool has_runs)
{
	int ret;

	unflatten_maps__free(reader->maps);
	reader->maps = NULL;
	layout__clear(&reader->file);
	names_reader__restart(reader->names);
	reader->before = (struct tree_list){0};
	ret = layout__read(&reader->file, in);
	if (ret)
		return ret;
	reader->file.has_runs = has_runs;
	reader->maps = unflatten_maps__new(&reader->own, &reader->file);
	return reader->maps ? 0 : -ENOMEM;
}

static int read_tree(struct model_reader *reader, struct varint_reader *in)
{
	struct arena *memory = &reader->trees[reader->turn];
	struct tree_list list = {0};
	int ret = names_reader__read(reader->names, in);

	arena__clear(memory);
	if (!ret)
		ret = tree_list__read(&list, &reader->before, &reader->file, reader->file.count - 1,
				      in, memory);
	reader->before = list;
	reader->turn = !reader->turn;
	return ret;
}

static int make_reading(struct model_reader *reader, const struct recorded_reading **out)
{
	struct arena *memory = &reader->models[reader->model_turn];
	uint64_t left_out = 0;
	void *object = NULL;
	struct recorded_reading *reading;
	int ret;

	arena__clear(memory);
	ret = unflatten(reader->maps, &reader->before, reader->names, memory, &object, &left_out);
	if (ret)
		return ret;
	reader->left_out += left_out;
	reading = object;
	if (!reading->model)
		return -EINVAL;
	ret = finish(reading, (struct model *)reading->model, memory);
	if (!ret && reader->first_reading)
		ret = recorded_reading__subtract(reading, reader->first_reading, memory);
	if (ret)
		return ret;
	reader->model_turn = !reader->model_turn;
	reader->latest = *out = reading;
	return 0;
}

int model_reader__read(struct model_reader *reader, const uint8_t *bytes, size_t length, bool gap,
		       const struct recorded_reading **out)
{
	struct varint_reader in = varint_reader__of(bytes, length);
	uint64_t flags = varint__take(&in);
	bool keyframe = flags & READING_KEYFRAME;
	int ret = 0;

	*out = NULL;
	if (!keyframe && (gap || !reader->fresh)) {
		reader->fresh = false;
		return -EAGAIN;
	}
	if (keyframe)
		ret = read_layout(reader, &in, flags & READING_RUNS);
	if (!ret)
		ret = read_tree(reader, &in);
	if (!ret)
		ret = make_reading(reader, out);
	reader->fresh = !ret;
	return ret;
}
