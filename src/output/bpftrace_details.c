// SPDX-License-Identifier: BSD-2-Clause
// A function's arguments for a bpftrace script, see bpftrace_details.h.
#include "output/bpftrace_details.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/words.h"

#define REGISTERS 6

/* A program of bpftrace has 512 bytes of stack: arguments beyond so many, and strings but the first, do not fit. */
#define SHOWN_MAX 10

/* Of $call, what is before the registers: the stack pointer and the time. */
#define CALL_REGISTERS 2

struct writer {
	struct bpftrace_details *details;
	FILE *format, *arguments;
	unsigned int shown;
	bool has_string;
};

static bool writer__open(struct writer *writer, struct bpftrace_details *details)
{
	size_t size;

	*details = (struct bpftrace_details){0};
	*writer = (struct writer){.details = details};
	writer->format = open_memstream(&details->format, &size);
	writer->arguments = open_memstream(&details->arguments, &size);
	return writer->format && writer->arguments;
}

static int writer__close(struct writer *writer, bool made)
{
	if (writer->format && fclose(writer->format))
		made = false;
	if (writer->arguments && fclose(writer->arguments))
		made = false;
	return made ? 0 : -ENOMEM;
}

/* The expression of the word at `place`: "$call.3", "$stack.0". */
static const char *word_at(struct writer *writer, uint8_t place, char text[static 24])
{
	unsigned int slot = place & PLACE_MASK;

	if (slot < REGISTERS) {
		snprintf(text, 24, "$call.%u", slot + CALL_REGISTERS);
		return text;
	}
	slot -= REGISTERS;
	if (writer->details->stack_words <= slot)
		writer->details->stack_words = slot + 1;
	snprintf(text, 24, "$stack.%u", slot);
	return text;
}

static void begin_field(struct writer *writer, const char *name)
{
	fprintf(writer->format, "%s%s=", writer->shown++ ? " " : "", name);
}

static bool is_pointer(const char *type)
{
	return strchr(type, '*') != NULL;
}

static bool is_string(const char *type)
{
	return !strcmp(type, "const char *");
}

/* Numbers of eight bytes that count something; the others of that size are addresses and handles. */
static bool is_count(const char *type)
{
	return !strcmp(type, "size_t") || !strcmp(type, "unsigned long long") || !strcmp(type, "cuuint64_t");
}

/* The type of an integer of bpftrace, for what has `size` bytes. */
static const char *integer(unsigned int size, bool is_signed)
{
	if (is_signed)
		return size == 1 ? "int8" : size == 2 ? "int16" : size == 4 ? "int32" : "int64";
	return size == 1 ? "uint8" : size == 2 ? "uint16" : size == 4 ? "uint32" : "uint64";
}

static bool is_signed(const char *type)
{
	/* Enumerations have negative numbers too (cudaCpuDeviceId); unsigned types say so. */
	return strncmp(type, "unsigned", strlen("unsigned")) && strcmp(type, "cuuint32_t");
}

/* printf's conversion for a number of that C type and size. */
static const char *conversion(const char *type, unsigned int size)
{
	if (size == 8)
		return is_count(type) ? "%lu" : "0x%lx";
	return is_signed(type) ? "%d" : "%u";
}

/* What it points to: "size_t" of "size_t *". */
static void pointed_type(const char *type, char *text, size_t size)
{
	size_t length = strlen(type);

	length -= length && type[length - 1] == '*';
	while (length && type[length - 1] == ' ')
		length--;
	snprintf(text, size, "%.*s", (int)length, type);
}

/* The bytes of what an output argument points to, or 0 for what is no number, address or handle. */
static unsigned int pointed_size(const struct api_function *function, const char *type)
{
	static const char *const four[] = {"int", "unsigned int", "CUdevice", "CUdeviceptr_v1"};

	if (function->desc.flags & FUNCTION_OUT_32)
		return 4;
	for (size_t i = 0; i < sizeof(four) / sizeof(*four); i++)
		if (!strcmp(type, four[i]))
			return 4;
	return 8;
}

/* The meaning of the argument at `place`, or ROLE_COUNT. */
static enum role role_at(const struct api_function *function, uint8_t place)
{
	for (int role = 0; role < ROLE_COUNT; role++)
		if (function->desc.place[role] != PLACE_NONE &&
		    (function->desc.place[role] & PLACE_MASK) == (place & PLACE_MASK))
			return (enum role)role;
	return ROLE_COUNT;
}

/* One word for one thing, whatever the argument is called. */
static const char *field_name(const struct api_function *function, const struct api_argument *argument, enum role role)
{
	switch (role) {
	case ROLE_PTR:
		return "ptr";
	case ROLE_SIZE:
		return function->desc.unit > 1 ? argument->name : "size";
	case ROLE_DST:
		return "dst";
	case ROLE_SRC:
		return "src";
	case ROLE_STREAM:
		return "stream";
	case ROLE_EVENT:
		return "event";
	case ROLE_OUT:
		if (function->desc.operation == OP_ALLOC)
			return "ptr";
		if (function->desc.operation == OP_CREATE)
			return words__object_kind((enum object_kind)function->desc.kind);
		return argument->name;
	default:
		return argument->name;
	}
}

/* What the call writes there. Of the calls without a role, a single one: cudaGetDevice(int *device). */
static bool is_output(const struct api_function *function, const struct api_argument *argument, enum role role)
{
	if (!is_pointer(argument->type) || !strncmp(argument->type, "const ", strlen("const ")))
		return false;
	if (role == ROLE_OUT || role == ROLE_PITCHOUT)
		return true;
	return function->argument_count == 1 &&
	       (!strcmp(argument->type, "int *") || !strcmp(argument->type, "CUdevice *"));
}

static void add_output(struct writer *writer, const struct api_function *function,
		       const struct api_argument *argument, const char *name)
{
	char word[24], type[64];
	unsigned int size;

	pointed_type(argument->type, type, sizeof(type));
	size = pointed_size(function, type);
	begin_field(writer, name);
	fputs(conversion(type, size), writer->format);
	/* A call that failed has written nothing. */
	fprintf(writer->arguments, ", $result == 0 ? *(%s *)uptr(%s) : 0", integer(size, size < 8 && is_signed(type)),
		word_at(writer, argument->place, word));
}

static void add_number(struct writer *writer, const struct api_argument *argument, const char *name)
{
	char word[24];

	begin_field(writer, name);
	fputs(conversion(argument->type, argument->size), writer->format);
	word_at(writer, argument->place, word);
	if (argument->size < 8)
		fprintf(writer->arguments, ", (%s)%s", integer(argument->size, is_signed(argument->type)), word);
	else
		fprintf(writer->arguments, ", %s", word);
}

static void add_string(struct writer *writer, const struct api_argument *argument)
{
	char word[24];

	begin_field(writer, argument->name);
	fputs("%s", writer->format);
	fprintf(writer->arguments, ", str(%s)", word_at(writer, argument->place, word));
	writer->has_string = true;
}

static void add_argument(struct writer *writer, const struct api_function *function,
			 const struct api_argument *argument, enum role role)
{
	const char *name = field_name(function, argument, role);
	char word[24];

	/* In a vector register, or in several places: bpftrace does not come by it. */
	if (argument->place == PLACE_NONE || argument->size > 8) {
		begin_field(writer, name);
		fputc('?', writer->format);
	} else if (role == ROLE_KIND && function->desc.operation == OP_COPY) {
		begin_field(writer, "kind");
		fputs("%s", writer->format);
		fprintf(writer->arguments, ", @copy_kind[(int32)%s]", word_at(writer, argument->place, word));
	} else if (is_string(argument->type) && !writer->has_string) {
		add_string(writer, argument);
	} else {
		add_number(writer, argument, name);
	}
}

/* What goes in, and after it what came out. */
static void add_arguments(struct writer *writer, const struct api_function *function)
{
	for (int outputs = 0; outputs < 2; outputs++) {
		for (size_t i = 0; i < function->argument_count && writer->shown < SHOWN_MAX; i++) {
			const struct api_argument *argument = &function->arguments[i];
			enum role role = role_at(function, argument->place);

			if (is_output(function, argument, role) != outputs)
				continue;
			if (outputs)
				add_output(writer, function, argument, field_name(function, argument, role));
			else
				add_argument(writer, function, argument, role);
		}
	}
}

/* Two words with x and y in the first, z in the second: a dim3 by value. */
static void add_dim3(struct writer *writer, const char *name, uint8_t place)
{
	char first[24], second[24];

	word_at(writer, place, first);
	word_at(writer, (uint8_t)(place + 1), second);
	begin_field(writer, name);
	fputs("(%u,%u,%u)", writer->format);
	fprintf(writer->arguments, ", (uint32)%s, %s >> 32, (uint32)%s", first, first, second);
}

static void add_three(struct writer *writer, const char *name, const uint8_t *places)
{
	char word[24];

	begin_field(writer, name);
	fputs("(%u,%u,%u)", writer->format);
	for (int i = 0; i < 3; i++) {
		if (places[i] == PLACE_NONE) /* cuLaunchGrid has a width and a height alone */
			fputs(", 1", writer->arguments);
		else
			fprintf(writer->arguments, ", (uint32)%s", word_at(writer, places[i], word));
	}
}

/* Grid or block of a launch; `x` is the role of its first dimension. */
static void add_dimensions(struct writer *writer, const struct api_function *function, const char *name, enum role x)
{
	const uint8_t *places = &function->desc.place[x];

	if (places[0] == PLACE_NONE)
		return;
	if (places[1] == PLACE_NONE)
		add_dim3(writer, name, places[0]);
	else
		add_three(writer, name, places);
}

/* cudaLaunchConfig_t and CUlaunchConfig lie alike: grid, block, shared bytes, stream. */
static void add_config(struct writer *writer, const struct api_function *function)
{
	char word[24];

	word_at(writer, function->desc.place[ROLE_CONFIG], word);
	fputs(" grid=(%u,%u,%u) block=(%u,%u,%u) shmem=%u stream=0x%lx", writer->format);
	for (int i = 0; i <= 6; i++)
		fprintf(writer->arguments, ", *(uint32 *)uptr(%s + %d)", word, 4 * i);
	fprintf(writer->arguments, ", *(uint64 *)uptr(%s + 32)", word);
	writer->shown = 1;
}

static void add_word(struct writer *writer, const char *name, const char *form, const char *cast, uint8_t place)
{
	char word[24];

	if (place == PLACE_NONE)
		return;
	begin_field(writer, name);
	fputs(form, writer->format);
	fprintf(writer->arguments, ", %s%s", cast, word_at(writer, place, word));
}

static bool is_launch(const struct api_function *function)
{
	return function->desc.operation == OP_LAUNCH && function->desc.place[ROLE_FUNC] < REGISTERS;
}

static void add_launch(struct writer *writer, const struct api_function *function)
{
	const uint8_t *place = function->desc.place;

	writer->details->kernel =
		function->desc.layer == LAYER_DRIVER ? BPFTRACE_KERNEL_GIVEN : BPFTRACE_KERNEL_INSIDE;
	writer->details->kernel_place = place[ROLE_FUNC];
	/* The driver's handle has the kernel's name behind its second word. */
	fputs("%s", writer->format);
	fputs(", str(*(uint64 *)uptr(@kernel[tid] + 8))", writer->arguments);
	writer->shown = writer->has_string = true;
	if (place[ROLE_CONFIG] != PLACE_NONE) {
		add_config(writer, function);
	} else {
		add_dimensions(writer, function, "grid", ROLE_GRIDX);
		add_dimensions(writer, function, "block", ROLE_BLOCKX);
		add_word(writer, "shmem", "%u", "(uint32)", place[ROLE_SHMEM]);
		add_word(writer, "stream", "0x%lx", "", place[ROLE_STREAM]);
	}
	add_word(writer, "func", "0x%lx", "", place[ROLE_FUNC]);
}

int bpftrace_details__make(struct bpftrace_details *details, const struct api_function *function)
{
	struct writer writer;
	bool opened = writer__open(&writer, details);

	if (opened && is_launch(function))
		add_launch(&writer, function);
	else if (opened)
		add_arguments(&writer, function);
	return writer__close(&writer, opened);
}

int bpftrace_details__make_raw(struct bpftrace_details *details)
{
	static const char *const registers[REGISTERS] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
	struct writer writer;
	bool opened = writer__open(&writer, details);

	for (uint8_t i = 0; opened && i < REGISTERS; i++)
		add_word(&writer, registers[i], "0x%lx", "", i);
	return writer__close(&writer, opened);
}

void bpftrace_details__clear(struct bpftrace_details *details)
{
	free(details->format);
	free(details->arguments);
	*details = (struct bpftrace_details){0};
}
