// SPDX-License-Identifier: BSD-2-Clause
// The difference of two readings by the tables of their members, see difference.h.
// process_difference.c has what is special in some structures.
#include "record/difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/host.h"
#include "model/profile.h"
#include "model/steps.h"

#define KEY_MAX 128 /* bytes of all keys of a structure */

/* --- numbers --- */

static uint64_t load(const void *at, uint32_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)at;
	case 2: return *(const uint16_t *)at;
	case 4: return *(const uint32_t *)at;
	default: return *(const uint64_t *)at;
	}
}

static void store(void *at, uint32_t size, uint64_t value)
{
	switch (size) {
	case 1: *(uint8_t *)at = (uint8_t)value; break;
	case 2: *(uint16_t *)at = (uint16_t)value; break;
	case 4: *(uint32_t *)at = (uint32_t)value; break;
	default: *(uint64_t *)at = value; break;
	}
}

/* Estimates may fall: then nothing was counted. Returns whether something is left. */
static bool subtract_numbers(const struct recorded_field *field, char *object, const char *before)
{
	bool is_left = false;

	for (uint32_t i = 0; i < field->count; i++) {
		uint32_t at = field->offset + i * field->size;
		uint64_t value = load(object + at, field->size),
			 less = load(before + at, field->size);

		value = value > less ? value - less : 0;
		store(object + at, field->size, value);
		is_left = is_left || value;
	}
	return is_left;
}

/* --- structures with equal keys --- */

static size_t bytes_of(const struct recorded_field *field)
{
	switch (field->kind) {
	case FIELD_STRING:
	case FIELD_STACK: return sizeof(void *);
	case FIELD_STRUCTS: return field->type->size * field->count;
	default: return (size_t)field->size * field->count;
	}
}

/* Equal texts and stacks have one address in a reader. Returns the number of bytes. */
static size_t key_of(const struct recorded_type *type, const char *object, uint8_t key[KEY_MAX])
{
	size_t length = 0;

	for (size_t i = 0; i < type->keys; i++) {
		const struct recorded_field *field = &type->fields[i];
		size_t bytes = bytes_of(field);

		if (field->kind == FIELD_SKIPPED || length + bytes > KEY_MAX)
			continue;
		memcpy(key + length, object + field->offset, bytes);
		length += bytes;
	}
	/* Time outside of CUDA is told apart by the system call as well. */
	if (type == &recorded_host_location) {
		const struct host_location *location = (const void *)object;

		memcpy(key + length, &location->call_name, sizeof(location->call_name));
		length += sizeof(location->call_name);
	}
	return length;
}

/* Finds structures of the earlier list: indices plus 1, by hash. */
struct finder {
	const struct recorded_type *type;
	const char *items;
	size_t count, mask;
	uint32_t *slots; /* NULL: the list is empty, or has no keys */
};

static int make_finder(struct finder *finder)
{
	size_t size = 8;

	if (!finder->count || !finder->type->keys)
		return 0;
	while (size < 2 * finder->count)
		size *= 2;
	finder->slots = calloc(size, sizeof(*finder->slots));
	if (!finder->slots)
		return -ENOMEM;
	finder->mask = size - 1;
	for (size_t i = 0; i < finder->count; i++) {
		uint8_t key[KEY_MAX];
		size_t length = key_of(finder->type, finder->items + i * finder->type->size, key),
		       at = hash__of(key, length) & finder->mask;

		while (finder->slots[at])
			at = (at + 1) & finder->mask;
		finder->slots[at] = (uint32_t)(i + 1);
	}
	return 0;
}

/* The one with the same keys; NULL: there is none. */
static const void *find(const struct finder *finder, const void *object)
{
	uint8_t key[KEY_MAX], other[KEY_MAX];
	size_t length;

	if (!finder->slots)
		return NULL;
	length = key_of(finder->type, object, key);
	for (size_t at = hash__of(key, length) & finder->mask; finder->slots[at];
	     at = (at + 1) & finder->mask) {
		const char *item =
			finder->items + (size_t)(finder->slots[at] - 1) * finder->type->size;

		if (key_of(finder->type, item, other) == length && !memcmp(key, other, length))
			return item;
	}
	return NULL;
}

/* --- lists --- */

static bool has_totals(const struct recorded_type *type)
{
	for (size_t i = 0; i < type->field_count; i++) {
		const struct recorded_field *field = &type->fields[i];

		if (field->total ||
		    (field->kind == FIELD_STRUCTS && !field->kept && has_totals(field->type)))
			return true;
	}
	return false;
}

/*
 * Lists of what was counted: an entry that counted nothing does not belong there. The others are of
 * what exists, whether or not it did something.
 */
static bool has_only_counted(const struct recorded_type *type)
{
	static const struct recorded_type *const existing[] = {
		&recorded_process,	 &recorded_device_totals, &recorded_thread_profile,
		&recorded_tensor_device, &recorded_tensor_site,	  &recorded_object_site,
		&recorded_host_process,	 &recorded_host_thread,	  &recorded_recorded_gpu_process,
	};

	for (size_t i = 0; i < sizeof(existing) / sizeof(existing[0]); i++)
		if (existing[i] == type)
			return false;
	return has_totals(type);
}

/* Calls in progress stay, however many have returned. */
static bool is_in_progress(const struct recorded_type *type, const void *object)
{
	if (type == &recorded_function_totals)
		return ((const struct function_totals *)object)->open;
	if (type == &recorded_profile_function)
		return ((const struct profile_function *)object)->open;
	return false;
}

/* Returns whether something is left. */
static bool subtract_one(struct differ *differ, const struct recorded_type *type, void *object,
			 const void *before)
{
	void *earlier = malloc(type->size);
	bool is_left;

	if (!earlier) {
		differ->failure = -ENOMEM;
		return true;
	}
	memcpy(earlier, object, type->size);
	is_left = differ__subtract(differ, type, object, before);
	differ__finish(differ, type, object, earlier, before);
	free(earlier);
	return is_left || is_in_progress(type, object);
}

size_t differ__subtract_list(struct differ *differ, const struct recorded_type *type, void *items,
			     size_t count, const void *before, size_t before_count)
{
	struct finder finder = {.type = type, .items = before, .count = before_count};
	bool drops = has_only_counted(type);
	size_t kept = 0;

	if (!has_totals(type) && type != &recorded_host_process)
		return count;
	if (make_finder(&finder))
		differ->failure = -ENOMEM;
	for (size_t i = 0; i < count && !differ->failure; i++) {
		char *object = (char *)items + i * type->size;
		const void *found = find(&finder, object);

		if (found && !subtract_one(differ, type, object, found) && drops)
			continue;
		if (kept < i)
			memcpy((char *)items + kept * type->size, object, type->size);
		kept++;
	}
	free(finder.slots);
	return kept;
}

/* The steps of a process: pointers to threads. None is taken out. */
static void subtract_step_threads(struct differ *differ, const struct process_steps *steps,
				  const struct process_steps *before)
{
	for (size_t i = 0; i < steps->count; i++)
		for (size_t j = 0; j < before->count; j++)
			if (steps->threads[i]->tid == before->threads[j]->tid &&
			    steps->threads[i]->start_ns == before->threads[j]->start_ns)
				subtract_one(differ, &recorded_step_thread, steps->threads[i],
					     before->threads[j]);
}

static void subtract_list(struct differ *differ, const struct recorded_field *field, char *object,
			  const char *before)
{
	size_t *count = (size_t *)(object + field->count_offset);

	if (field->type == &recorded_step_thread)
		subtract_step_threads(differ, (const void *)object, (const void *)before);
	/* process_difference.c has what is in steady, threads with their estimates, and sites. */
	if (field->kind != FIELD_LIST || field->type == &recorded_thread_profile ||
	    field->type == &recorded_thread_missed)
		return;
	*count = differ__subtract_list(differ, field->type, *(void **)(object + field->offset),
				       *count, *(void *const *)(before + field->offset),
				       *(const size_t *)(before + field->count_offset));
}

/* --- structures --- */

static bool subtract_structs(struct differ *differ, const struct recorded_field *field,
			     char *object, const char *before)
{
	bool is_left = false;

	for (uint32_t i = 0; i < field->count; i++) {
		size_t at = field->offset + i * field->type->size;

		if (!has_totals(field->type))
			return false;
		/* Most have nothing special: without a copy. */
		if (field->type == &recorded_time_totals || field->type == &recorded_wait_totals)
			is_left |= differ__subtract(differ, field->type, object + at, before + at);
		else
			is_left |= subtract_one(differ, field->type, object + at, before + at);
	}
	return is_left;
}

static void subtract_pointer(struct differ *differ, const struct recorded_field *field,
			     char *object, const char *before)
{
	void *pointer = *(void **)(object + field->offset);
	const void *earlier = *(void *const *)(before + field->offset);

	if (pointer && earlier && field->type != &recorded_steady &&
	    field->type != &recorded_workload)
		subtract_one(differ, field->type, pointer, earlier);
}

bool differ__subtract(struct differ *differ, const struct recorded_type *type, void *object,
		      const void *before)
{
	bool is_left = false;

	for (size_t i = 0; i < type->field_count && !differ->failure; i++) {
		const struct recorded_field *field = &type->fields[i];

		if (field->total)
			is_left |= subtract_numbers(field, object, before);
		else if (field->kind == FIELD_STRUCTS && !field->kept)
			is_left |= subtract_structs(differ, field, object, before);
		else if (field->kind == FIELD_LIST || field->kind == FIELD_POINTERS)
			subtract_list(differ, field, object, before);
		else if (field->kind == FIELD_POINTER)
			subtract_pointer(differ, field, object, before);
	}
	return is_left;
}

int recorded_reading__subtract(struct recorded_reading *reading,
			       const struct recorded_reading *before, struct arena *memory)
{
	struct differ differ = {.from_ns = before->model->now_ns, .memory = memory};

	subtract_one(&differ, &recorded_model, (void *)reading->model, before->model);
	if (reading->gpu_times && before->gpu_times)
		subtract_one(&differ, &recorded_recorded_gpu_times, reading->gpu_times,
			     before->gpu_times);
	reading->began_ns = differ.from_ns;
	return differ.failure;
}
