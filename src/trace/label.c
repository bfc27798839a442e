// SPDX-License-Identifier: BSD-2-Clause
// Names and columns of arguments; see label.h.
#include "trace/label.h"

#include <string.h>
#include <strings.h>

uint8_t trace_label__word_of(const struct api_function *row, enum role role)
{
	uint8_t location = row->desc.location[role];

	return location == LOCATION_NONE ? TRACE_NO_WORD : location & LOCATION_MASK;
}

bool trace_label__has_role(const struct api_function *row, const struct api_argument *argument,
			   enum role role)
{
	return argument->word != LOCATION_NONE && trace_label__word_of(row, role) == argument->word;
}

bool trace_label__is_flags(const char *name)
{
	size_t length = strlen(name);

	return length >= 5 && strcasecmp(name + length - 5, "flags") == 0;
}

/* Sets the label if the row creates an object that has its own column or name. */
static bool label_of_object(const struct function_desc *desc, struct trace_label *label)
{
	if (desc->kind == OBJECT_STREAM)
		*label = (struct trace_label){"stream", TRACE_STREAM};
	else if (desc->kind == OBJECT_EVENT)
		*label = (struct trace_label){"event", TRACE_NO_ROLE};
	else
		return false;
	return true;
}

/* Sets the label of the argument that is, or receives, the address or object of the call. */
static bool label_subject(const struct api_function *row, const struct api_argument *argument,
			  struct trace_label *label)
{
	const struct function_desc *desc = &row->desc;

	if (trace_label__has_role(row, argument, ROLE_OUT) && desc->operation == OP_CREATE)
		return label_of_object(desc, label);
	if (trace_label__has_role(row, argument, ROLE_HANDLE) && desc->operation == OP_DESTROY)
		return label_of_object(desc, label);
	if (!trace_label__has_role(row, argument, ROLE_PTR) &&
	    !(trace_label__has_role(row, argument, ROLE_OUT) && desc->operation == OP_ALLOC) &&
	    !(trace_label__has_role(row, argument, ROLE_HANDLE) && desc->operation == OP_FREE))
		return false;
	*label = (struct trace_label){"ptr", TRACE_PTR};
	return true;
}

static const struct {
	uint8_t role; /* enum role */
	struct trace_label label;
} role_labels[] = {
	{ROLE_SIZE, {"size", TRACE_SIZE}},	  {ROLE_STREAM, {"stream", TRACE_STREAM}},
	{ROLE_SHMEM, {"shmem", TRACE_SHMEM}},	  {ROLE_EVENT, {"event", TRACE_NO_ROLE}},
	{ROLE_DEVICE, {"device", TRACE_NO_ROLE}}, {ROLE_WIDTH, {"width", TRACE_NO_ROLE}},
	{ROLE_HEIGHT, {"height", TRACE_NO_ROLE}}, {ROLE_PITCHOUT, {"pitch", TRACE_NO_ROLE}},
};

/* The only stream of a function without a family also has its column. */
static bool is_only_stream(const struct api_function *row, const struct api_argument *argument)
{
	unsigned int streams = 0, i;
	const char *type;

	for (i = 0; i < row->argument_count; i++) {
		type = row->arguments[i].type;
		streams += strcmp(type, "CUstream") == 0 || strcmp(type, "cudaStream_t") == 0;
	}
	type = argument->type;
	return streams == 1 && (strcmp(type, "CUstream") == 0 || strcmp(type, "cudaStream_t") == 0);
}

/* Arguments that have the name and meaning of a column, although the row gives them no role. */
static const struct {
	const char *type;
	struct trace_label label;
} own_labels[] = {
	{"size_t", {"size", TRACE_SIZE}},
	{"CUdeviceptr", {"ptr", TRACE_PTR}},
	{"void *", {"ptr", TRACE_PTR}},
	{"const void *", {"ptr", TRACE_PTR}},
	{"void *", {"dst", TRACE_DST}},
	{"const void *", {"src", TRACE_SRC}},
	{"enum cudaMemcpyKind", {"kind", TRACE_KIND}},
};

static struct trace_label own_label(const struct api_argument *argument)
{
	size_t i;

	for (i = 0; i < sizeof(own_labels) / sizeof(own_labels[0]); i++) {
		if (strcmp(argument->name, own_labels[i].label.name) == 0 &&
		    strcmp(argument->type, own_labels[i].type) == 0)
			return own_labels[i].label;
	}
	/* The columns for the sides of a copy show addresses; an array is not an address. */
	if (strncmp(argument->type, "cudaArray_", 10) == 0 && strcmp(argument->name, "dst") == 0)
		return (struct trace_label){"dstArray", TRACE_NO_ROLE};
	if (strncmp(argument->type, "cudaArray_", 10) == 0 && strcmp(argument->name, "src") == 0)
		return (struct trace_label){"srcArray", TRACE_NO_ROLE};
	return (struct trace_label){argument->name, TRACE_NO_ROLE};
}

/* A side of a copy. The sides of a batch are arrays of addresses, which keep their names. */
static struct trace_label label_side(const struct api_argument *argument, enum type_reading reading,
				     const char *name, enum trace_role role)
{
	if (strstr(argument->type, "**") || strstr(argument->type, "*const *") ||
	    argument->passing == PASSING_ADDRESS || reading > READING_ADDRESS)
		return (struct trace_label){argument->name, TRACE_NO_ROLE};
	return (struct trace_label){name, (uint8_t)role};
}

struct trace_label trace_label__of(const struct api_function *row,
				   const struct api_argument *argument, enum type_reading reading)
{
	struct trace_label label = {argument->name, TRACE_NO_ROLE};
	size_t i;

	if (trace_label__has_role(row, argument, ROLE_DST))
		return label_side(argument, reading, "dst", TRACE_DST);
	if (trace_label__has_role(row, argument, ROLE_SRC))
		return label_side(argument, reading, "src", TRACE_SRC);
	if (trace_label__has_role(row, argument, ROLE_KIND) && row->desc.operation == OP_COPY)
		return (struct trace_label){"kind", TRACE_KIND};
	if (label_subject(row, argument, &label))
		return label;
	for (i = 0; i < sizeof(role_labels) / sizeof(role_labels[0]); i++) {
		if (trace_label__has_role(row, argument, role_labels[i].role))
			return role_labels[i].label;
	}
	if (is_only_stream(row, argument))
		return (struct trace_label){"stream", TRACE_STREAM};
	if (trace_label__has_role(row, argument, ROLE_FLAGS) &&
	    trace_label__is_flags(argument->name))
		return (struct trace_label){"flags", TRACE_NO_ROLE};
	return own_label(argument);
}
