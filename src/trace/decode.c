// SPDX-License-Identifier: BSD-2-Clause
// Decodes the record of a call into the fields of its line, by the steps of its function (steps.h).
// This runs for every printed call, so it allocates nothing and makes no text.
//
// The event is hostile: every length in it is checked against what is left.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/steps.h"

#define BLOCK_MISSING 0xfffe /* not in the event */

struct block {
	const uint8_t *data;
	uint16_t length; /* or TRACE_UNREADABLE or BLOCK_MISSING */
};

struct reader {
	const struct trace_function *function;
	const struct trace_event *event;
	struct trace_line *line;
	const uint8_t *words;
	size_t words_size;
	const uint8_t *at, *end; /* the rest of the payload */
	struct block block[TRACE_READS];
	uint64_t product;
	unsigned int factors; /* found so far */
};

static uint64_t word_at(const struct reader *r, uint8_t word)
{
	uint64_t value = 0;

	if ((word + 1u) * 8 <= r->words_size)
		memcpy(&value, r->words + word * 8u, sizeof(value));
	return value;
}

static struct block take_block(struct reader *r)
{
	struct block block = {NULL, BLOCK_MISSING};
	uint16_t length;

	if (r->end - r->at < (ptrdiff_t)sizeof(length))
		goto none;
	memcpy(&length, r->at, sizeof(length));
	if (length == TRACE_UNREADABLE) {
		r->at += sizeof(length);
		block.length = length;
		return block;
	}
	if (r->end - r->at - (ptrdiff_t)sizeof(length) < length)
		goto none;
	block.data = r->at + sizeof(length);
	block.length = length;
	r->at = block.data + length;
	return block;
none:
	r->at = r->end;
	return block;
}

/* Takes one of the words after the arguments. */
static uint64_t take_word(struct reader *r)
{
	uint64_t word = 0;

	if ((size_t)(r->end - r->at) < sizeof(word)) {
		r->at = r->end;
		return 0;
	}
	memcpy(&word, r->at, sizeof(word));
	r->at += sizeof(word);
	return word;
}

/* Finds the words; the driver's handle of a launch follows them. */
static uint64_t open_event(struct reader *r, size_t size)
{
	const struct trace_plan *plan = &r->function->plan;
	uint64_t handle;

	r->words = (const uint8_t *)r->event->payload;
	r->end = (const uint8_t *)r->event + size;
	r->words_size = r->event->words * 8u;
	if (r->words_size > (size_t)(r->end - r->words))
		r->words_size = (size_t)(r->end - r->words) & ~(size_t)7;
	r->at = r->words + r->words_size;
	if (!(plan->flags & TRACE_PLAN_KERNEL))
		return 0;
	handle = take_word(r);
	return handle ? handle : word_at(r, plan->kernel_word);
}

static struct trace_field *next_field(struct reader *r, const char *name, uint8_t role,
				      uint8_t form)
{
	struct trace_field *field;

	if (r->line->field_count == TRACE_FIELDS_MAX)
		return NULL;
	field = &r->line->fields[r->line->field_count++];
	field->name = name;
	field->role = role;
	field->form = form;
	field->cut = false;
	field->length = 0;
	return field;
}

static void put_number(struct reader *r, const char *name, uint8_t role, uint8_t form,
		       uint64_t number)
{
	struct trace_field *field = next_field(r, name, role, form);

	if (field)
		field->number = number;
}

static void put_word(struct reader *r, const char *name, uint8_t role, const char *text,
		     int64_t number)
{
	struct trace_field *field = next_field(r, name, role, text ? FORM_WORD : FORM_SIGNED);

	if (!field)
		return;
	field->number = (uint64_t)number;
	field->text = text;
}

static void put_bytes(struct reader *r, const char *name, uint8_t role, uint8_t form,
		      const uint8_t *data, uint32_t length)
{
	struct trace_field *field = next_field(r, name, role, form);

	if (!field)
		return;
	field->text = (const char *)data;
	field->length = length;
}

static uint64_t load(const uint8_t *data, uint8_t size, bool is_signed)
{
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (size) {
	case 8: memcpy(&wide, data, sizeof(wide)); return wide;
	case 4:
		memcpy(&word, data, sizeof(word));
		return is_signed ? (uint64_t)(int64_t)(int32_t)word : word;
	case 2: memcpy(&half, data, sizeof(half)); return half;
	default: return *data;
	}
}

static void put_dim3(struct reader *r, const struct trace_step *step, const uint8_t *data)
{
	struct trace_field *field = next_field(r, step->name, step->role, FORM_DIM3);

	if (field)
		memcpy(field->dims, data, sizeof(field->dims));
}

/*
 * Returns the double that prints as the shortest decimal for this float: 0.057108, not
 * 0.05710799992084503.
 */
static double widen(float narrow)
{
	char text[32];

	for (int digits = 6; digits <= 9; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, (double)narrow);
		if (strtof(text, NULL) == narrow)
			return strtod(text, NULL);
	}
	return narrow;
}

static void put_real(struct reader *r, const struct trace_step *step, const uint8_t *data)
{
	struct trace_field *field = next_field(r, step->name, step->role, FORM_REAL);
	float narrow;

	if (!field)
		return;
	if (step->size == sizeof(narrow)) {
		memcpy(&narrow, data, sizeof(narrow));
		field->real = widen(narrow);
	} else {
		memcpy(&field->real, data, sizeof(field->real));
	}
}

/* Adds the field of a string, of which at most TRACE_STRING_SIZE bytes are there. */
static void put_text(struct reader *r, const struct trace_step *step, const struct block *block)
{
	struct trace_field *field = next_field(r, step->name, step->role, FORM_TEXT);

	if (!field)
		return;
	field->text = (const char *)block->data;
	field->cut = block->length > TRACE_STRING_SIZE;
	field->length = field->cut ? TRACE_STRING_SIZE : block->length;
}

static const char *name_of(const struct trace_step *step, int32_t value)
{
	uint32_t low = 0, high = step->value_count, middle;

	/* Most enumerations count from 0 without gaps. */
	if ((uint32_t)value < high && step->values[value].value == value)
		return step->values[value].name;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (step->values[middle].value == value)
			return step->values[middle].name;
		if (step->values[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void put_value(struct reader *r, const struct trace_step *step, const uint8_t *data)
{
	uint64_t number;

	switch (step->form) {
	case FORM_DIM3: put_dim3(r, step, data); return;
	case FORM_REAL: put_real(r, step, data); return;
	case FORM_BYTES: put_bytes(r, step->name, step->role, FORM_BYTES, data, step->size); return;
	default: break;
	}
	number = load(data, step->size, step->form == FORM_SIGNED) * step->unit;
	if (step->flags & STEP_FACTOR) {
		r->product *= number;
		r->factors++;
	}
	put_number(r, step->name, step->role, step->form, number);
}

static void put_dims(struct reader *r, const struct trace_step *step)
{
	struct trace_field *field;
	uint32_t dims[3];
	int i;

	for (i = 0; i < 3; i++) {
		if (step->words[i] == TRACE_NO_WORD)
			dims[i] = 1;
		else if ((step->words[i] + 1u) * 8 <= r->words_size)
			memcpy(&dims[i], r->words + step->words[i] * 8u, sizeof(dims[i]));
		else
			return;
	}
	field = next_field(r, step->name, step->role, FORM_DIM3);
	if (field)
		memcpy(field->dims, dims, sizeof(dims));
}

static void put_side(struct reader *r, const char *name, const char *array_name, uint8_t role,
		     bool array, uint64_t address)
{
	put_number(r, array ? array_name : name, array ? TRACE_NO_ROLE : role, FORM_ADDRESS,
		   address);
}

static void put_box(struct reader *r, const struct trace_step *step, const uint8_t *data)
{
	struct copy_descriptor box;

	copy_descriptor__read(step->box, data, &box);
	put_side(r, "dst", "dstArray", TRACE_DST, box.dst_array, box.dst);
	put_side(r, "src", "srcArray", TRACE_SRC, box.src_array, box.src);
	if (box.has_bytes)
		put_number(r, "size", TRACE_SIZE, FORM_UNSIGNED, box.bytes);
	if (step->flags & STEP_WAY)
		put_word(r, "kind", TRACE_KIND, trace_type__copy_kind(box.kind), box.kind);
}

/* Where a step's bytes are; NULL if they are missing. */
static const uint8_t *source_of(const struct reader *r, const struct trace_step *step)
{
	const struct block *block;

	if (step->block == STEP_FROM_WORDS)
		return (size_t)step->offset + step->size <= r->words_size ?
			       r->words + step->offset :
			       NULL;
	block = &r->block[step->block];
	if (block->length >= BLOCK_MISSING || step->offset + step->size > block->length)
		return NULL;
	return block->data + step->offset;
}

/*
 * Adds the field for a missing block: the address that could not be read, the null pointer that was
 * passed, or an empty string; nothing if the call returned nothing.
 */
static void put_stand_in(struct reader *r, const struct trace_step *step)
{
	const struct trace_read *read = &r->function->plan.read[step->block];
	const struct trace_block_field *stands = &r->function->block[step->block];
	const struct block *block = &r->block[step->block];
	uint64_t address = word_at(r, read->word);

	if (block->length == TRACE_UNREADABLE)
		put_number(r, stands->name, stands->role, FORM_UNREADABLE, address);
	else if (block->length)
		return;
	else if (!read->at_return && !address)
		put_number(r, stands->name, stands->role, FORM_ADDRESS, 0);
	else if (read->kind == TRACE_READ_STRING && address &&
		 !(read->at_return && trace_function__is_failure(r->function, r->event->result)))
		put_text(r, step, block);
}

/* Adds the field of a step whose bytes are there. */
static void put_field(struct reader *r, const struct trace_step *step, const uint8_t *data)
{
	int32_t code;

	switch (step->kind) {
	case STEP_VALUE: put_value(r, step, data); break;
	case STEP_WORD:
		code = (int32_t)load(data, 4, true);
		put_word(r, step->name, step->role, name_of(step, code), code);
		break;
	case STEP_RESULT:
		code = (int32_t)load(data, 4, true);
		put_word(r, step->name, step->role, api__error_name((enum layer)step->layer, code),
			 code);
		break;
	case STEP_DIMS: put_dims(r, step); break;
	case STEP_CONSTANT:
		put_word(r, step->name, step->role, step->text, step->value_count);
		break;
	case STEP_BOX: put_box(r, step, data); break;
	case STEP_PRODUCT:
		if (r->factors == step->words[0])
			put_number(r, step->name, step->role, FORM_UNSIGNED, r->product);
		break;
	}
}

/* Handles a step whose block is a string or is missing. Returns whether it did. */
static bool take_block_step(struct reader *r, const struct trace_step *step)
{
	const struct block *block = &r->block[step->block];

	if (!block->length || block->length >= BLOCK_MISSING) {
		if (step->flags & STEP_FIRST)
			put_stand_in(r, step);
		return true;
	}
	if (step->form != FORM_TEXT)
		return false;
	put_text(r, step, block);
	return true;
}

static void take_step(struct reader *r, const struct trace_step *step)
{
	const uint8_t *data;

	if (step->block != STEP_FROM_WORDS && take_block_step(r, step))
		return;
	if (step->form == FORM_UNKNOWN) {
		put_number(r, step->name, step->role, FORM_UNKNOWN, 0);
		return;
	}
	data = source_of(r, step);
	if (data)
		put_field(r, step, data);
}

static void take_reads(struct reader *r, bool at_return)
{
	const struct trace_plan *plan = &r->function->plan;
	unsigned int i;

	for (i = 0; i < plan->reads; i++) {
		if (plan->read[i].at_return == at_return)
			r->block[i] = take_block(r);
	}
}

static void put_kernel_args(struct reader *r, const struct block *block)
{
	const struct trace_plan *plan = &r->function->plan;
	struct trace_field *field;
	uint64_t address = word_at(r, plan->args_word);

	if (block->length == TRACE_UNREADABLE) {
		if (!address && plan->extra_word != TRACE_NO_WORD)
			address = word_at(r, plan->extra_word);
		put_number(r, "args", TRACE_ARGS, FORM_UNREADABLE, address);
		return;
	}
	if (block->length == BLOCK_MISSING || block->length < 8)
		return;
	field = next_field(r, "args", TRACE_ARGS, FORM_WORDS);
	if (!field)
		return;
	field->words = (const uint64_t *)(const void *)block->data;
	field->length = block->length / 8u;
}

uint64_t trace_function__stack(const struct trace_function *function,
			       const struct trace_event *event, size_t size)
{
	struct reader r = {.function = function, .event = event};

	if (size < sizeof(*event))
		return 0;
	open_event(&r, size);
	return take_word(&r);
}

void trace_function__decode(const struct trace_function *function, const struct trace_event *event,
			    size_t size, unsigned int kernel_args, bool has_stack,
			    struct trace_line *line, uint64_t *handle)
{
	struct reader r = {.function = function, .event = event, .line = line, .product = 1};
	struct block args = {NULL, BLOCK_MISSING};
	size_t i;

	line->field_count = 0;
	*handle = 0;
	if (size < sizeof(*event))
		return;
	*handle = open_event(&r, size);
	if (has_stack)
		take_word(&r);
	take_reads(&r, false);
	if (kernel_args && function->plan.flags & TRACE_PLAN_ARGS)
		args = take_block(&r);
	if (event->type == TRACE_ENTRY)
		r.at = r.end;
	take_reads(&r, true);
	for (i = 0; i < function->step_count; i++)
		take_step(&r, &function->steps[i]);
	if (function->plan.flags & TRACE_PLAN_ARGS)
		put_kernel_args(&r, &args);
}

uint64_t trace_function__launched(const struct trace_function *function,
				  const struct trace_event *event, size_t size)
{
	struct reader r = {.function = function, .event = event};

	if (!(function->plan.flags & TRACE_PLAN_KERNEL) || size < sizeof(*event))
		return 0;
	open_event(&r, size);
	return word_at(&r, function->plan.kernel_word);
}
