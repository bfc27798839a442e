// SPDX-License-Identifier: BSD-2-Clause
// The steps of a reading, and the walk over a map, see reading.h.
#include "collect/reading.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "collect/ended_keys.h"

static unsigned int conditions(const struct reading *reading)
{
	const struct collector *collector = reading->collector;

	return (reading->reap ? ON_REAP : 0) | (collector->profile_maps ? WITH_PROFILE : 0) |
	       (collector->stacks ? WITH_STACKS : 0) |
	       (collector->options.tensors ? WITH_TENSORS : 0);
}

int reading__run(struct reading *reading, const struct reading_step *steps, size_t count)
{
	unsigned int met = conditions(reading);
	int ret = 0;

	for (size_t i = 0; i < count; i++) {
		const struct reading_step *step = &steps[i];
		int step_ret;

		if (ret && step->on_failure == FAILED_STOP)
			break;
		if ((ret && step->on_failure != FAILED_RUN) || step->only & ~met)
			continue;
		step_ret = step->map ? reading__walk(reading, step) : step->run(reading);
		ret = ret ? ret : step_ret;
	}
	return ret;
}

static const struct bpf_map *map_of(const struct reading *reading)
{
	const char *skeleton = (const char *)reading->collector->skeleton;

	return *(const struct bpf_map *const *)(skeleton + reading->step->map);
}

static uint32_t slot_in(const struct reading_step *step, const void *key)
{
	const char *at = (const char *)key + step->slot_at;
	uint16_t narrow;
	uint32_t slot;

	if (step->slot_size == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	memcpy(&slot, at, sizeof(slot));
	return slot;
}

int reading__delete_later(struct reading *reading, const void *key)
{
	return key_list__add(&reading->to_delete, key, bpf_map__key_size(map_of(reading)));
}

int reading__make_room(struct reading *reading)
{
	return key_list__make_room(&reading->to_delete, bpf_map__key_size(map_of(reading)));
}

int reading__end(struct reading *reading, const struct process *process, const void *key)
{
	return reading__reaps(reading, process) ?
		       ended_keys__add(reading->collector->ended, map_of(reading), key) :
		       0;
}

int reading__delete(struct reading *reading)
{
	struct key_list *list = &reading->to_delete;
	const struct bpf_map *map = map_of(reading);
	size_t size = bpf_map__key_size(map);

	for (size_t i = 0; i < list->count; i++) {
		if (reading->step->delete)
			reading->step->delete (reading, list->keys + i * size);
		else
			bpf_map__delete_elem(map, list->keys + i * size, size, 0);
	}
	list->count = 0;
	return 0;
}

int reading__take(const void *key, const void *value, void *arg)
{
	struct reading *reading = arg;
	const struct reading_step *step = reading->step;
	struct process *process = collector__process_at(reading->collector, slot_in(step, key));
	int ret = ELEMENT_KEEP;

	if (!process && !step->of_unknown)
		return 0;
	if (step->take)
		ret = step->take(reading, process, key, value);
	if (ret < 0)
		return ret;
	if (ret == ELEMENT_SKIP)
		return 0;
	if (process && reading__reaps(reading, process))
		return reading__end(reading, process, key);
	return ret == ELEMENT_DELETE ? reading__delete_later(reading, key) : 0;
}

void reading__begin_walk(struct reading *reading, const struct reading_step *step)
{
	reading->step = step;
	reading->to_delete.count = 0;
}

int reading__walk(struct reading *reading, const struct reading_step *step)
{
	int ret;

	reading__begin_walk(reading, step);
	ret = map_reader__each(reading->collector->reader, map_of(reading), reading__take, reading);
	reading__delete(reading);
	return ret;
}
