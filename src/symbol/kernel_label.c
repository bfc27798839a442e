// SPDX-License-Identifier: BSD-2-Clause
// Makes the labels of kernels from their names' trees, see kernel_label.h.
#include "symbol/kernel_label.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kernel_name.h"
#include "symbol/label_text.h"
#include "symbol/label_words.h"
#include "symbol/mangled_label.h"
#include "symbol/name_tree.h"
#include "symbol/plain_label.h"

#define LEVEL_MAX 3 /* of brackets in a label */
#define NESTING_MAX 24
#define MASK_BITS 32

struct builder {
	const struct name_tree *tree;
	struct label_text text;
	unsigned int level, nesting; /* of what is added */
};

static void add_argument(struct builder *builder, uint16_t argument);

static const struct name_part *part_of(const struct builder *builder, uint16_t index)
{
	return &builder->tree->parts[index];
}

static void add_word(struct builder *builder, enum label_word_kind kind, const char *text,
		     size_t length)
{
	struct label_word word = {
		.kind = kind, .level = builder->level, .nesting = builder->nesting};

	snprintf(word.text, sizeof(word.text), "%.*s", (int)length, text);
	label_text__add(&builder->text, &word);
}

static void add_type(struct builder *builder, const char *type)
{
	add_word(builder, label_words__is_index(type) ? LABEL_WORD_INDEX : LABEL_WORD_TYPE, type,
		 strlen(type));
}

/* The data type that the part is, or NULL. */
static const char *type_of(const struct builder *builder, const struct name_part *part)
{
	if (part->arguments && name_part__is(part, "complex"))
		return label_words__complex(part_of(builder, part->arguments));
	return label_words__type(part);
}

/* The part that says what the class is: the last one, without "::type" and the like. */
static uint16_t last_part(const struct builder *builder, uint16_t first)
{
	uint16_t last = first;

	for (uint16_t i = part_of(builder, first)->inner; i; i = part_of(builder, i)->inner) {
		const struct name_part *part = part_of(builder, i);

		if (!name_part__is(part, "type") && !name_part__is(part, "value_type") &&
		    !name_part__is(part, "data_type"))
			last = i;
	}
	return last;
}

/* The last bit stands for all arguments from there on. */
static bool has_bit(unsigned int mask, unsigned int bit)
{
	return mask >> (bit < MASK_BITS ? bit : MASK_BITS - 1) & 1;
}

/* Adds those of the arguments whose bit is set. */
static void add_arguments(struct builder *builder, uint16_t argument, unsigned int mask)
{
	for (unsigned int bit = 0; argument; bit++) {
		if (has_bit(mask, bit))
			add_argument(builder, argument);
		argument = part_of(builder, argument)->next;
	}
}

/* PyTorch copies elements of a size, whatever their type: "8B". */
static void add_bytes(struct builder *builder, uint16_t argument)
{
	const struct name_part *size = part_of(builder, argument);
	char text[LABEL_WORD_SIZE];
	int length = snprintf(text, sizeof(text), "%.*sB", size->length, size->text);

	if (argument && length < (int)sizeof(text))
		add_word(builder, LABEL_WORD_TYPE, text, (size_t)length);
}

/* Adds the data types anywhere in the arguments. */
static void add_types(struct builder *builder, uint16_t argument)
{
	for (; argument; argument = part_of(builder, argument)->next) {
		for (uint16_t i = argument; i; i = part_of(builder, i)->inner) {
			const struct name_part *part = part_of(builder, i);
			const char *type = type_of(builder, part);

			if (type)
				add_type(builder, type);
			else if (label_words__class(part)->form == LABEL_BYTES)
				add_bytes(builder, part->arguments);
			else
				add_types(builder, part->arguments);
		}
	}
}

/* The number that the argument is, or that is the only argument of it, such as cute::C<128>. */
static const struct name_part *shape_number(const struct builder *builder, uint16_t argument)
{
	const struct name_part *part = part_of(builder, argument), *only;

	if (part->kind == NAME_NUMBER)
		return part;
	part = part_of(builder, last_part(builder, argument));
	only = part_of(builder, part->arguments);
	return part->arguments && only->kind == NAME_NUMBER && !only->next ? only : NULL;
}

/* "128x64x32"; the data types if there are no numbers. */
static void add_shape(struct builder *builder, uint16_t argument)
{
	char text[LABEL_WORD_SIZE] = "";
	size_t used = 0;

	for (uint16_t i = argument; i; i = part_of(builder, i)->next) {
		const struct name_part *number = shape_number(builder, i);

		if (!number || used + number->length + 2 > sizeof(text))
			continue;
		if (used)
			text[used++] = 'x';
		memcpy(text + used, number->text, number->length);
		used += number->length;
	}
	if (used)
		add_word(builder, LABEL_WORD_NUMBER, text, used);
	else
		add_types(builder, argument);
}

/* The type and the head size, which is the first number. */
static void add_flash_traits(struct builder *builder, uint16_t argument)
{
	const struct name_part *first = part_of(builder, argument);

	for (uint16_t i = argument; i; i = part_of(builder, i)->next) {
		const char *type = label_words__type(part_of(builder, last_part(builder, i)));

		if (type)
			add_type(builder, type);
	}
	if (first->kind == NAME_NUMBER)
		add_word(builder, LABEL_WORD_NUMBER, first->text, first->length);
}

static void add_named(struct builder *builder, const struct name_part *part, unsigned int mask)
{
	char name[LABEL_WORD_SIZE];

	add_word(builder, LABEL_WORD_NAME, name, label_words__functor(part, name, sizeof(name)));
	if (builder->level == LEVEL_MAX)
		return;
	builder->level++;
	builder->nesting++;
	add_arguments(builder, part->arguments, mask);
	builder->level--;
	builder->nesting--;
}

static void add_class(struct builder *builder, const struct name_part *part,
		      const struct label_class *class)
{
	switch (class->form) {
	case LABEL_NAMED: add_named(builder, part, class->arguments); break;
	case LABEL_OPEN: add_arguments(builder, part->arguments, class->arguments); break;
	case LABEL_TYPES: add_types(builder, part->arguments); break;
	case LABEL_SHAPE: add_shape(builder, part->arguments); break;
	case LABEL_BYTES: add_bytes(builder, part->arguments); break;
	case LABEL_FLASH: add_flash_traits(builder, part->arguments); break;
	case LABEL_LEFT_OUT: break;
	}
	if (class->note && !label_text__has(&builder->text, class->note))
		add_word(builder, LABEL_WORD_NAME, class->note, strlen(class->note));
}

/* The types of a lambda's parameters; a condition's type only if there is no other. */
static void add_parameters(struct builder *builder, uint16_t parameter)
{
	size_t before = builder->text.count;

	add_types(builder, parameter);
	if (builder->text.count - before == 2)
		label_text__remove_bool(&builder->text, before);
}

/* What is known of a lambda. */
struct lambda {
	uint16_t function; /* that it is in; 0: none */
	uint16_t call;	   /* the operator() of the function, or 0 */
	uint16_t inner;	   /* the innermost lambda */
};

static struct lambda find_lambda(const struct builder *builder, uint16_t first)
{
	struct lambda lambda = {0};

	for (uint16_t i = first; i; i = part_of(builder, i)->inner) {
		switch (part_of(builder, i)->kind) {
		case NAME_LAMBDA: lambda.inner = i; break;
		case NAME_OPERATOR:
			if (!lambda.inner)
				lambda.call = i;
			break;
		default:
			if (!lambda.inner)
				lambda.function = i;
		}
	}
	return lambda;
}

/* Adds the name of the lambda's function, unless the label has it. */
static void add_function(struct builder *builder, const struct lambda *lambda)
{
	const struct name_part *number = part_of(builder, lambda->inner);
	char name[LABEL_WORD_SIZE] = "lambda";
	size_t length = strlen(name);

	if (lambda->function)
		length = label_words__function(part_of(builder, lambda->function), name,
					       sizeof(name));
	if (!name_part__is(number, "1") && length + number->length + 1 < sizeof(name))
		length += (size_t)snprintf(name + length, sizeof(name) - length, ".%.*s",
					   number->length, number->text);
	if (!label_text__has(&builder->text, name))
		add_word(builder, LABEL_WORD_NAME, name, length);
}

/* A lambda is the function that it is in, and the types that the two work on. */
static void add_lambda(struct builder *builder, const struct lambda *lambda)
{
	const struct name_part *function = part_of(builder, lambda->function);
	const struct label_class *class = label_words__class(function);

	if (lambda->function && class->form != LABEL_NAMED) {
		add_class(builder, function, class);
		return;
	}
	add_function(builder, lambda);
	builder->nesting++;
	if (lambda->function && function->arguments)
		add_arguments(builder, function->arguments, class->arguments);
	else
		add_parameters(builder, part_of(builder, lambda->inner)->parameters);
	if (lambda->call)
		add_arguments(builder, part_of(builder, lambda->call)->arguments, ~0u);
	builder->nesting--;
}

/* The part of the name that says how to show it: "policy_hub" in "policy_hub<int>::Policy600". */
static uint16_t telling_part(const struct builder *builder, uint16_t first)
{
	for (uint16_t i = first; i; i = part_of(builder, i)->inner) {
		if (label_words__class(part_of(builder, i))->form != LABEL_NAMED)
			return i;
	}
	return last_part(builder, first);
}

static void add_argument(struct builder *builder, uint16_t argument)
{
	const struct name_part *part = part_of(builder, argument);
	const struct lambda lambda = find_lambda(builder, argument);
	const char *type;

	switch (part->kind) {
	case NAME_NUMBER: add_word(builder, LABEL_WORD_NUMBER, part->text, part->length); return;
	case NAME_ENUM: add_word(builder, LABEL_WORD_ENUM, part->text, part->length); return;
	case NAME_BOOL:
		label_text__add_flag(&builder->text,
				     name_part__is(part, "true") || name_part__is(part, "1"),
				     builder->level);
		return;
	default: break;
	}
	if (lambda.inner) {
		add_lambda(builder, &lambda);
		return;
	}
	part = part_of(builder, telling_part(builder, argument));
	type = type_of(builder, part);
	if (type)
		add_type(builder, type);
	else
		add_class(builder, part, label_words__class(part));
}

/* Adds the kernel's own arguments. Some booleans have names. */
static void add_own_arguments(struct builder *builder, const struct name_part *kernel)
{
	const unsigned int shown = label_words__class(kernel)->arguments;
	unsigned int flags = 0, bit = 0;

	for (uint16_t i = kernel->arguments; i; i = part_of(builder, i)->next, bit++) {
		const struct name_part *part = part_of(builder, i);
		const char *name = NULL;

		if (!has_bit(shown, bit))
			continue;
		if (part->kind == NAME_BOOL)
			name = label_words__flag(kernel, flags++);
		if (!name)
			add_argument(builder, i);
		else if (*name && name_part__is(part, "true"))
			add_word(builder, LABEL_WORD_NAME, name, strlen(name));
	}
}

/* The function that a name is of, and the scope before it. */
struct function {
	uint16_t part, scope;
};

/* The last identifier: an operator() or lambda is named by what it belongs to. */
static struct function find_function(const struct builder *builder, uint16_t first)
{
	struct function function = {0};

	for (uint16_t i = first; i; i = part_of(builder, i)->inner) {
		if (part_of(builder, i)->kind != NAME_IDENTIFIER)
			continue;
		function.scope = function.part;
		function.part = i;
	}
	return function;
}

/*
 * The same, where a name that says nothing is replaced by its argument: what cutlass::Kernel2 runs
 * is a class.
 */
static struct function find_kernel(const struct builder *builder, uint16_t first)
{
	struct function function = find_function(builder, first);

	for (unsigned int i = 0; i < NESTING_MAX; i++) {
		const struct name_part *part = part_of(builder, function.part);
		uint16_t only = part->arguments;

		if (!label_words__is_generic(part) || !only || part_of(builder, only)->next ||
		    part_of(builder, only)->kind != NAME_IDENTIFIER)
			break;
		function = find_function(builder, only);
		function.scope = 0;
	}
	return function;
}

static void set_base(struct builder *builder, const struct function *function)
{
	const struct name_part *part = part_of(builder, function->part);
	const struct name_part *scope = part_of(builder, function->scope);
	size_t length = label_words__kernel(part);
	char *base = builder->text.base;

	if (function->scope && label_words__is_generic(part))
		snprintf(base, LABEL_WORD_SIZE, "%.*s::%.*s", scope->length, scope->text,
			 (int)length, part->text);
	else
		snprintf(base, LABEL_WORD_SIZE, "%.*s", (int)length, part->text);
}

/* For an operator, and for a text that is no name. */
static void write_brief(const char *readable, char label[KERNEL_LABEL_SIZE])
{
	char *brief = kernel_name__short(readable);
	const char *text = brief ? brief : readable;

	plain_label__write(text, strlen(text), label);
	free(brief);
}

static void write_label(const char *readable, char label[KERNEL_LABEL_SIZE])
{
	struct name_tree tree;
	struct builder builder = {.tree = &tree};
	const uint16_t first = name_tree__parse(&tree, readable);
	const struct function kernel = first ? find_kernel(&builder, first) : (struct function){0};
	const struct name_part *part = &tree.parts[kernel.part];

	if (!kernel.part) {
		write_brief(readable, label);
		return;
	}
	set_base(&builder, &kernel);
	add_own_arguments(&builder, part);
	if (builder.text.count || kernel.scope)
		label_text__write(&builder.text, label);
	else
		plain_label__write(part->text, part->length, label);
}

void kernel_label__write(const char *readable, char label[KERNEL_LABEL_SIZE])
{
	if (!mangled_label__write(readable, label))
		write_label(readable, label);
	for (char *c = strchr(label, '#'); c; c = strchr(c, '#'))
		*c = '.'; /* '#' is for the numbers of equal labels */
}

char *kernel_label__text(uint64_t *spent_ns, const char *mangled, bool full)
{
	char *readable = kernel_name__demangle_whole(spent_ns, mangled), *text;
	char label[KERNEL_LABEL_SIZE];

	if (!readable || full)
		return kernel_name__keep(readable);
	kernel_label__write(readable, label);
	text = strdup(label);
	free(readable);
	return text;
}
