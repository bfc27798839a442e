// SPDX-License-Identifier: BSD-2-Clause
// A function's arguments for a bpftrace script; see bpftrace_details.h.
#include "trace/bpftrace_details.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "trace/steps.h"

#define REGISTERS 6

/* members of $call before the registers: the stack pointer and the time */
#define CALL_REGISTERS 2

/* bpftrace can read only sarg0 to sarg9 of the stack. */
#define STACK_WORDS_MAX 10

/*
 * A bpftrace program has 512 bytes of stack, which must hold all values of printf. More values than
 * these, and more than one string, do not fit.
 */
#define VALUES_MAX 12

#define EXPRESSION_SIZE 96

struct writer {
	const struct trace_function *function;
	struct bpftrace_details *details;
	FILE *format, *arguments;
	unsigned int fields, values, factors;
	bool has_string;
	char product[8 * EXPRESSION_SIZE];
};

static void begin_field(struct writer *writer, const char *name, unsigned int values)
{
	fprintf(writer->format, "%s%s=", writer->fields++ ? " " : "", name);
	writer->values += values;
}

/*
 * The expression of an argument word: "$call.3", "$stack.0". Returns false if bpftrace cannot read
 * it.
 */
static bool word_at(struct writer *writer, unsigned int word, char text[static EXPRESSION_SIZE])
{
	if (word < REGISTERS) {
		snprintf(text, EXPRESSION_SIZE, "$call.%u", word + CALL_REGISTERS);
		return true;
	}
	word -= REGISTERS;
	if (word >= STACK_WORDS_MAX)
		return false;
	if (writer->details->stack_words <= word)
		writer->details->stack_words = word + 1;
	snprintf(text, EXPRESSION_SIZE, "$stack.%u", word);
	return true;
}

static const char *integer(unsigned int size, bool is_signed)
{
	if (is_signed)
		return size == 1 ? "int8" : (size == 2 ? "int16" : (size == 4 ? "int32" : "int64"));
	return size == 1 ? "uint8" : (size == 2 ? "uint16" : (size == 4 ? "uint32" : "uint64"));
}

static bool returns_error(const struct writer *writer)
{
	return writer->function->plan.returns == TRACE_RETURNS_ERROR;
}

/* The expression of a number of `size` bytes, at `offset` from the step's bytes. */
static bool number_at(struct writer *writer, const struct trace_step *step, unsigned int offset,
		      unsigned int size, char text[static EXPRESSION_SIZE])
{
	const struct trace_read *read;
	bool is_signed = step->kind != STEP_VALUE || step->form == FORM_SIGNED;
	const char *type = integer(size, is_signed && size < 8);
	char word[EXPRESSION_SIZE];

	offset += step->offset;
	if (step->block == STEP_FROM_WORDS) {
		if (!word_at(writer, offset / 8, word))
			return false;
		if (size == 8)
			snprintf(text, EXPRESSION_SIZE, "%s", word);
		else if (offset % 8)
			snprintf(text, EXPRESSION_SIZE, "(%s)(%.24s >> %u)", type, word,
				 offset % 8 * 8);
		else
			snprintf(text, EXPRESSION_SIZE, "(%s)%.24s", type, word);
		return true;
	}
	read = &writer->function->plan.read[step->block];
	if (!word_at(writer, read->word, word))
		return false;
	/* A call that failed has not written its outputs. */
	if (read->at_return && returns_error(writer))
		snprintf(text, EXPRESSION_SIZE, "$result == 0 ? *(%s *)uptr(%.24s + %u) : 0", type,
			 word, offset);
	else
		snprintf(text, EXPRESSION_SIZE, "*(%s *)uptr(%.24s + %u)", type, word, offset);
	return true;
}

static void add_unknown(struct writer *writer, const char *name)
{
	begin_field(writer, name, 0);
	fputc('?', writer->format);
}

/* Prints the address if its target cannot be printed. */
static void add_address(struct writer *writer, const char *name, const struct trace_step *step)
{
	char word[EXPRESSION_SIZE];

	if (step->block == STEP_FROM_WORDS ||
	    !word_at(writer, writer->function->plan.read[step->block].word, word)) {
		add_unknown(writer, name);
		return;
	}
	begin_field(writer, name, 1);
	fputs("0x%lx", writer->format);
	fprintf(writer->arguments, ", %s", word);
}

static void add_string(struct writer *writer, const struct trace_step *step)
{
	const struct trace_read *read =
		step->block == STEP_FROM_WORDS ? NULL : &writer->function->plan.read[step->block];
	char word[EXPRESSION_SIZE];

	if (writer->has_string || !read || read->kind == TRACE_READ_BYTES ||
	    !word_at(writer, read->word, word)) {
		add_address(writer, step->name, step);
		return;
	}
	begin_field(writer, step->name, 1);
	writer->has_string = true;
	fputs("%s", writer->format);
	if (read->kind == TRACE_READ_POINTED)
		fprintf(writer->arguments, ", str($result == 0 ? *(uint64 *)uptr(%s) : 0)", word);
	else if (read->at_return)
		fprintf(writer->arguments, ", str($result == 0 ? %s : 0)", word);
	else
		fprintf(writer->arguments, ", str(%s)", word);
}

static void note_factor(struct writer *writer, const struct trace_step *step,
			const char *expression)
{
	size_t length = strlen(writer->product);

	if (!(step->flags & STEP_FACTOR))
		return;
	snprintf(writer->product + length, sizeof(writer->product) - length, "%s(%s) * %u",
		 writer->factors++ ? " * " : "", expression, step->unit);
}

static void add_dim3(struct writer *writer, const struct trace_step *step)
{
	struct trace_step plain = *step;
	char number[EXPRESSION_SIZE];

	plain.form = FORM_UNSIGNED;
	begin_field(writer, step->name, 3);
	fputs("(%u,%u,%u)", writer->format);
	for (unsigned int i = 0; i < 3; i++)
		fprintf(writer->arguments, ", %s",
			number_at(writer, &plain, 4 * i, 4, number) ? number : "0");
}

/* Three ints, each a word of its own. */
static void add_dims(struct writer *writer, const struct trace_step *step)
{
	char word[EXPRESSION_SIZE];

	begin_field(writer, step->name, 3);
	fputs("(%u,%u,%u)", writer->format);
	for (int i = 0; i < 3; i++) {
		if (step->words[i] == TRACE_NO_WORD || !word_at(writer, step->words[i], word))
			fputs(", 1", writer->arguments);
		else
			fprintf(writer->arguments, ", (uint32)%s", word);
	}
}

static const char *conversion(const struct trace_step *step)
{
	if (step->form == FORM_ADDRESS || step->form == FORM_FLAGS)
		return "0x%lx";
	if (step->form == FORM_SIGNED)
		return step->size == 8 ? "%ld" : "%d";
	return step->size == 8 || step->unit > 1 ? "%lu" : "%u";
}

static void add_value(struct writer *writer, const struct trace_step *step)
{
	char number[EXPRESSION_SIZE];

	if (step->form == FORM_DIM3) {
		add_dim3(writer, step);
		return;
	}
	if (step->form == FORM_REAL || step->form == FORM_BYTES || !step->size || step->size > 8 ||
	    !number_at(writer, step, 0, step->size, number)) {
		add_address(writer, step->name, step);
		return;
	}
	begin_field(writer, step->name, 1);
	fputs(conversion(step), writer->format);
	if (step->unit > 1)
		fprintf(writer->arguments, ", (%s) * %u", number, step->unit);
	else
		fprintf(writer->arguments, ", %s", number);
	note_factor(writer, step, number);
}

/* The script only has the names of one enumeration, cudaMemcpyKind. */
static void add_word(struct writer *writer, const struct trace_step *step)
{
	char number[EXPRESSION_SIZE];

	if (!number_at(writer, step, 0, 4, number)) {
		add_unknown(writer, step->name);
		return;
	}
	begin_field(writer, step->name, 1);
	fputs(step->role == TRACE_KIND ? "%s" : "%d", writer->format);
	fprintf(writer->arguments, step->role == TRACE_KIND ? ", @copy_kind[%s]" : ", %s", number);
}

static void add_step(struct writer *writer, const struct trace_step *step)
{
	if (step->form == FORM_UNKNOWN) {
		add_unknown(writer, step->name);
	} else if (step->form == FORM_TEXT && step->block != STEP_FROM_WORDS) {
		add_string(writer, step);
	} else if (step->kind == STEP_VALUE) {
		add_value(writer, step);
	} else if (step->kind == STEP_WORD || step->kind == STEP_RESULT) {
		add_word(writer, step);
	} else if (step->kind == STEP_DIMS) {
		add_dims(writer, step);
	} else if (step->kind == STEP_BOX) {
		if (step->block != STEP_FROM_WORDS)
			add_address(writer, writer->function->block[step->block].name, step);
	} else if (step->kind == STEP_CONSTANT) {
		begin_field(writer, step->name, 0);
		fputs(step->text, writer->format);
	} else if (step->kind == STEP_PRODUCT && writer->factors == step->words[0]) {
		begin_field(writer, step->name, 1);
		fputs("%lu", writer->format);
		fprintf(writer->arguments, ", %s", writer->product);
	}
}

/* The second word of the driver's handle points to the kernel's name. */
static void begin_launch(struct writer *writer)
{
	writer->details->kernel = writer->function->plan.layer == LAYER_DRIVER ?
					  BPFTRACE_KERNEL_GIVEN :
					  BPFTRACE_KERNEL_INSIDE;
	writer->details->kernel_word = writer->function->plan.kernel_word;
	fputs("%s", writer->format);
	fputs(", str(*(uint64 *)uptr(@kernel[tid] + 8))", writer->arguments);
	writer->fields = writer->values = 1;
	writer->has_string = true;
}

static void end_launch(struct writer *writer)
{
	char word[EXPRESSION_SIZE];

	if (!word_at(writer, writer->function->plan.kernel_word, word))
		return;
	begin_field(writer, "func", 1);
	fputs("0x%lx", writer->format);
	fprintf(writer->arguments, ", %s", word);
}

static void add_steps(struct writer *writer)
{
	const struct trace_plan *plan = &writer->function->plan;
	bool launch = plan->flags & TRACE_PLAN_KERNEL && plan->kernel_word < REGISTERS;

	if (launch)
		begin_launch(writer);
	for (size_t i = 0; i < writer->function->step_count; i++)
		if (writer->values < VALUES_MAX)
			add_step(writer, &writer->function->steps[i]);
	if (launch)
		end_launch(writer);
}

int bpftrace_details__make(struct bpftrace_details *details, const struct trace_function *function)
{
	struct writer writer = {.function = function, .details = details};
	size_t size;
	int ret = 0;

	*details = (struct bpftrace_details){0};
	writer.format = text_stream__open(&details->format, &size);
	writer.arguments = text_stream__open(&details->arguments, &size);
	if (writer.format && writer.arguments)
		add_steps(&writer);
	else
		ret = -ENOMEM;
	if (writer.format && fclose(writer.format))
		ret = -ENOMEM;
	if (writer.arguments && fclose(writer.arguments))
		ret = -ENOMEM;
	return ret;
}

void bpftrace_details__clear(struct bpftrace_details *details)
{
	free(details->format);
	free(details->arguments);
	*details = (struct bpftrace_details){0};
}
