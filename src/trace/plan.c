// SPDX-License-Identifier: BSD-2-Clause
// Makes the plan for recording a function's calls and the steps for printing them, from a row of
// the API table; see steps.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/label.h"
#include "trace/steps.h"

struct list {
	struct trace_step steps[TRACE_FIELDS_MAX];
	size_t count;
};

struct builder {
	const struct api_function *row;
	struct trace_names *names;
	struct trace_function *function;
	struct list given,
		reported;     /* shown in this order: arguments, then what was read at return */
	uint8_t factors;      /* in both lists */
	bool reported_factor; /* the last factor is read at return */
	bool out_of_memory;
};

static struct trace_step *add(struct list *list, const struct trace_step *step)
{
	if (list->count == TRACE_FIELDS_MAX)
		return NULL;
	list->steps[list->count] = *step;
	if (!step->unit)
		list->steps[list->count].unit = 1;
	return &list->steps[list->count++];
}

static void keep_words(struct builder *b, const struct api_argument *argument)
{
	struct trace_plan *plan = &b->function->plan;
	unsigned int end;

	if (argument->word == LOCATION_NONE)
		return;
	end = argument->word + (argument->size + 7u) / 8;
	if (end > plan->words)
		plan->words = end < TRACE_WORDS ? (uint8_t)end : TRACE_WORDS;
}

/* Sets up the step for a value of `type`; structures have been split up before. */
static void set_value(struct trace_step *step, const struct trace_type *type,
		      const char *argument_name)
{
	step->form = type->form;
	step->size = type->size;
	if (type->sort == SORT_WORD) {
		step->kind = STEP_WORD;
		step->values = type->values;
		step->value_count = (uint16_t)type->value_count;
	} else if (type->sort == SORT_RESULT) {
		step->kind = STEP_RESULT;
		step->layer = type->layer;
	} else if (type->sort == SORT_BOX) {
		step->kind = STEP_BOX;
		step->box = type->box;
	} else if (trace_label__is_flags(argument_name) &&
		   (step->form == FORM_UNSIGNED || step->form == FORM_SIGNED)) {
		step->form = FORM_FLAGS;
	}
}

/*
 * Whether the argument or member is a factor of the bytes, in a call that does not state them as
 * one number.
 */
static bool is_factor(const struct builder *b, const struct api_argument *argument,
		      const char *member)
{
	const struct function_desc *desc = &b->row->desc;
	bool alloc = desc->operation == OP_ALLOC;

	if (trace_label__word_of(b->row, ROLE_SIZE) != TRACE_NO_WORD ||
	    (!alloc && desc->operation != OP_COPY && desc->operation != OP_SET))
		return false;
	if (!member) {
		if (trace_label__has_role(b->row, argument, ROLE_HEIGHT))
			return !alloc ||
			       trace_label__word_of(b->row, ROLE_PITCHOUT) != TRACE_NO_WORD;
		return trace_label__has_role(b->row, argument, alloc ? ROLE_PITCHOUT : ROLE_WIDTH);
	}
	/* The rows of a pitched allocation are one pitch apart. */
	if (desc->params == PARAMS_PITCHED && trace_label__has_role(b->row, argument, ROLE_OUT))
		return strcmp(member, "pitch") == 0;
	if (desc->params == PARAMS_PITCHED && trace_label__has_role(b->row, argument, ROLE_EXTENT))
		return strcmp(member, "width") != 0;
	return desc->params == PARAMS_EXTENT &&
	       trace_label__has_role(b->row, argument, ROLE_EXTENT);
}

static void note_factor(struct builder *b, struct trace_step *step, const struct list *list)
{
	step->flags |= STEP_FACTOR;
	b->factors++;
	b->reported_factor |= list == &b->reported;
}

/* Adds the members of a structure at `offset` in the words or in a block. */
static void add_members(struct builder *b, struct list *list, const struct api_argument *argument,
			const struct trace_label *label, const struct trace_layout *layout,
			const struct trace_step *at)
{
	const struct trace_member *member;
	struct trace_type type;
	struct trace_step step, *added;
	unsigned int i;

	for (i = 0; i < layout->count; i++) {
		member = &layout->members[i];
		step = *at;
		step.offset = (uint16_t)(at->offset + member->offset);
		step.flags = i || at->block == STEP_FROM_WORDS ? 0 : STEP_FIRST;
		trace_type__of(member->type, PASSING_ADDRESS, &type);
		if (strchr(member->type, '*'))
			type = (struct trace_type){.form = FORM_ADDRESS, .size = 8};
		set_value(&step, &type, member->name);
		/* The role of a structure belongs to its first member. */
		if (!i && label->role != TRACE_NO_ROLE) {
			step.name = label->name;
			step.role = label->role;
		} else {
			step.role = TRACE_NO_ROLE;
			step.name = trace_names__join(b->names, argument->name, member->name);
			b->out_of_memory |= !step.name;
		}
		added = add(list, &step);
		if (added && is_factor(b, argument, member->name))
			note_factor(b, added, list);
	}
}

/*
 * Returns the number of the new read in the plan, or -1 if there is no room; then the address is
 * shown.
 */
static int add_read(struct builder *b, const struct api_argument *argument,
		    const struct trace_label *label, enum type_reading reading,
		    const struct trace_type *type)
{
	struct trace_plan *plan = &b->function->plan;
	struct trace_read *read = &plan->read[plan->reads];

	if (plan->reads == TRACE_READS || argument->word >= TRACE_WORDS)
		return -1;
	read->word = argument->word;
	read->at_return = reading != READING_AT_ENTRY;
	read->kind = type->form == FORM_TEXT ? TRACE_READ_STRING : TRACE_READ_BYTES;
	if (reading == READING_TEXT_BEHIND)
		read->kind = TRACE_READ_POINTED;
	read->size = read->kind == TRACE_READ_BYTES ? type->size : 0;
	b->function->block[plan->reads] = (struct trace_block_field){label->name, label->role};
	return plan->reads++;
}

/* Adds an argument or its target, with the steps that follow from its type. */
static void add_argument(struct builder *b, const struct api_argument *argument)
{
	struct trace_type type;
	enum type_reading reading = trace_type__of(argument->type, argument->passing, &type);
	struct trace_label label = trace_label__of(b->row, argument, reading);
	struct trace_step step = {.name = label.name, .role = label.role, .block = STEP_FROM_WORDS};
	struct list *list = &b->given;
	int block = -1;

	keep_words(b, argument);
	if (argument->word == LOCATION_NONE) {
		step.form = FORM_UNKNOWN;
		add(list, &step);
		return;
	}
	if (reading > READING_ADDRESS)
		block = add_read(b, argument, &label, reading, &type);
	if (block >= 0) {
		list = b->function->plan.read[block].at_return ? &b->reported : list;
		step.block = (uint8_t)block;
		step.flags = STEP_FIRST;
	} else {
		step.offset = (uint16_t)(argument->word * 8);
	}
	if (block < 0 && reading != READING_NONE)
		type = (struct trace_type){.form = FORM_ADDRESS, .size = 8};
	if (type.sort == SORT_STRUCTURE) {
		add_members(b, list, argument, &label, type.layout, &step);
		return;
	}
	set_value(&step, &type, argument->name);
	if (label.role == TRACE_SIZE || trace_label__has_role(b->row, argument, ROLE_WIDTH))
		step.unit = b->row->desc.unit;
	if (is_factor(b, argument, NULL))
		note_factor(b, &step, list);
	/* If the function does not determine the kind, the structure does. */
	if (step.kind == STEP_BOX &&
	    (b->row->desc.operation != OP_COPY || b->row->desc.kind > COPY_P2P))
		step.flags |= STEP_WAY;
	add(list, &step);
}

/* Adds "size" if the bytes are a product, and "kind" if it follows from the function. */
static void add_conclusions(struct builder *b)
{
	struct trace_step size = {
		.name = "size",
		.role = TRACE_SIZE,
		.kind = STEP_PRODUCT,
		.block = STEP_FROM_WORDS,
		.words = {b->factors},
	};
	struct trace_step kind = {
		.name = "kind",
		.role = TRACE_KIND,
		.kind = STEP_CONSTANT,
		.block = STEP_FROM_WORDS,
	};
	size_t last = b->given.count;

	if (b->factors > 1) {
		add(b->reported_factor ? &b->reported : &b->given, &size);
		/* Moves the kind and the stream, which follow the factors, after their product. */
		while (!b->reported_factor && last &&
		       !(b->given.steps[last - 1].flags & STEP_FACTOR)) {
			b->given.steps[last] = b->given.steps[last - 1];
			b->given.steps[--last] = size;
			b->given.steps[last].unit = 1;
		}
	}
	if (b->row->desc.operation != OP_COPY || b->row->desc.kind > COPY_P2P)
		return;
	kind.text = trace_type__copy_kind(b->row->desc.kind);
	kind.value_count = b->row->desc.kind;
	add(&b->given, &kind);
}

static void add_dims(struct builder *b, const struct trace_label *label, enum role x)
{
	const uint8_t *location = b->row->desc.location;
	struct trace_step step = {
		.name = label->name,
		.role = label->role,
		.form = FORM_DIM3,
		.kind = STEP_DIMS,
		.block = STEP_FROM_WORDS,
	};
	int i;

	if (location[x] == LOCATION_NONE)
		return;
	if (!(location[x] & LOCATION_32)) { /* a dim3, in two words */
		step.kind = STEP_VALUE;
		step.offset = (uint16_t)((location[x] & LOCATION_MASK) * 8);
		step.size = 12;
	} else {
		for (i = 0; i < 3; i++)
			step.words[i] = trace_label__word_of(b->row, (enum role)(x + i));
	}
	add(&b->given, &step);
}

static const struct api_argument *argument_at(const struct api_function *row, uint8_t word)
{
	unsigned int i;

	for (i = 0; word != TRACE_NO_WORD && i < row->argument_count; i++) {
		if (row->arguments[i].word == word)
			return &row->arguments[i];
	}
	return NULL;
}

/* Adds grid, block, shmem and stream of a launch configuration, which are its first members. */
static void add_config(struct builder *b, const struct api_argument *argument)
{
	static const struct trace_label labels[] = {
		{"grid", TRACE_GRID},
		{"block", TRACE_BLOCK},
		{"shmem", TRACE_SHMEM},
		{"stream", TRACE_STREAM},
	};
	static const struct trace_label own = {"config", TRACE_NO_ROLE};
	struct trace_step step = {.block = 0};
	struct trace_type type;
	size_t i;

	if (trace_type__of(argument->type, PASSING_BY_TYPE, &type) != READING_AT_ENTRY ||
	    !type.layout)
		return;
	step.block = (uint8_t)add_read(b, argument, &own, READING_AT_ENTRY, &type);
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		const struct trace_member *member = &type.layout->members[i];
		struct trace_type value;

		trace_type__of(member->type, PASSING_ADDRESS, &value);
		step.name = labels[i].name;
		step.role = labels[i].role;
		step.offset = member->offset;
		step.flags = i ? 0 : STEP_FIRST;
		set_value(&step, &value, labels[i].name);
		add(&b->given, &step);
	}
}

/* Records where the kernel's arguments are: an array of their addresses, or a buffer. */
static void keep_kernel_args(struct builder *b)
{
	struct trace_plan *plan = &b->function->plan;
	const struct api_argument *args, *extra = NULL;
	unsigned int i;

	for (i = 0; i < b->row->argument_count; i++) {
		if (strcmp(b->row->arguments[i].name, "extra") == 0)
			extra = &b->row->arguments[i];
	}
	args = argument_at(b->row, trace_label__word_of(b->row, ROLE_ARGS));
	if (!args)
		return;
	plan->flags |= TRACE_PLAN_ARGS;
	plan->args_word = args->word;
	keep_words(b, args);
	if (extra) {
		plan->extra_word = extra->word;
		keep_words(b, extra);
	}
}

static void build_launch(struct builder *b, bool kernel_args)
{
	static const struct trace_label grid = {"grid", TRACE_GRID}, block = {"block", TRACE_BLOCK};
	const struct api_argument *config =
		argument_at(b->row, trace_label__word_of(b->row, ROLE_CONFIG));
	static const enum role kept[] = {ROLE_FUNC,  ROLE_CONFIG, ROLE_GRIDX,  ROLE_GRIDY,
					 ROLE_GRIDZ, ROLE_BLOCKX, ROLE_BLOCKY, ROLE_BLOCKZ};
	static const enum role shown[] = {ROLE_SHMEM, ROLE_STREAM};
	const struct api_argument *argument;
	size_t i;

	b->function->plan.flags |= TRACE_PLAN_KERNEL;
	b->function->plan.kernel_word = trace_label__word_of(b->row, ROLE_FUNC);
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		argument = argument_at(b->row, trace_label__word_of(b->row, kept[i]));
		if (argument)
			keep_words(b, argument);
	}
	if (config)
		add_config(b, config);
	add_dims(b, &grid, ROLE_GRIDX);
	add_dims(b, &block, ROLE_BLOCKX);
	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		argument = argument_at(b->row, trace_label__word_of(b->row, shown[i]));
		if (argument)
			add_argument(b, argument);
	}
	if (kernel_args)
		keep_kernel_args(b);
}

/* __cudaLaunchKernel, which only jumps to cudaLaunchKernel, is shown as a launch. */
static bool is_launch(const struct api_function *row)
{
	if (row->desc.operation == OP_LAUNCH)
		return true;
	return row->desc.operation == OP_NONE && row->desc.location[ROLE_FUNC] != LOCATION_NONE &&
	       row->desc.location[ROLE_GRIDX] != LOCATION_NONE;
}

/* Whether kernel handles may be reused for other kernels after this call. */
static bool ends_kernels(const struct function_desc *desc)
{
	if (desc->operation == OP_DESTROY)
		return desc->kind == OBJECT_MODULE || desc->kind == OBJECT_LIBRARY;
	return desc->operation == OP_CONTEXT &&
	       (desc->kind == CONTEXT_DESTROY || desc->kind == CONTEXT_DETACH ||
		desc->kind == CONTEXT_RESET || desc->kind == CONTEXT_RELEASE);
}

static int take_steps(struct trace_function *function, const struct list *given,
		      const struct list *reported)
{
	size_t rest = TRACE_FIELDS_MAX - given->count,
	       more = reported->count < rest ? reported->count : rest;

	function->step_count = given->count + more;
	function->steps =
		calloc(function->step_count ? function->step_count : 1, sizeof(*function->steps));
	if (!function->steps)
		return -ENOMEM;
	memcpy(function->steps, given->steps, given->count * sizeof(*function->steps));
	memcpy(function->steps + given->count, reported->steps, more * sizeof(*function->steps));
	return 0;
}

static void begin(struct trace_plan *plan, enum layer layer)
{
	memset(plan, 0, sizeof(*plan));
	plan->kernel_word = plan->args_word = plan->extra_word = TRACE_NO_WORD;
	plan->layer = (uint8_t)layer;
}

int trace_plan__build_raw(enum layer layer, struct trace_function *function)
{
	static const char *const names[] = {"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"};
	static const struct list none;
	struct list given = {.count = 0};
	struct trace_step step = {.form = FORM_ADDRESS, .size = 8, .block = STEP_FROM_WORDS};
	uint8_t i;

	begin(&function->plan, layer);
	function->plan.words = sizeof(names) / sizeof(names[0]);
	for (i = 0; i < function->plan.words; i++) {
		step.name = names[i];
		step.offset = (uint16_t)(i * 8);
		add(&given, &step);
	}
	return take_steps(function, &given, &none);
}

int trace_plan__build(const struct api_function *row, bool kernel_args, struct trace_names *names,
		      struct trace_function *function)
{
	struct builder b = {.row = row, .names = names, .function = function};
	unsigned int i;
	int rc;

	if (row->unrecorded) {
		rc = trace_plan__build_raw((enum layer)row->desc.layer, function);
		function->plan.returns = row->returns;
		return rc;
	}
	begin(&function->plan, (enum layer)row->desc.layer);
	function->plan.returns = row->returns;
	if (ends_kernels(&row->desc))
		function->plan.flags |= TRACE_PLAN_ENDS;
	if (is_launch(row)) {
		function->operation = OP_LAUNCH;
		build_launch(&b, kernel_args);
	} else {
		for (i = 0; i < row->argument_count; i++)
			add_argument(&b, &row->arguments[i]);
		add_conclusions(&b);
	}
	return b.out_of_memory ? -ENOMEM : take_steps(function, &b.given, &b.reported);
}
