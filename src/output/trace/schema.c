// SPDX-License-Identifier: BSD-2-Clause
// The trace's JSON described as a JSON Schema: every key, its type, its unit.
#include "output/trace/schema.h"

#include "base/json.h"
#include "output/trace/columns.h"

#define ADDRESS_PATTERN "^0x[0-9a-f]+$"

/* The types of values in column_list.h, combined with |; they have the names of JSON Schema. */
enum type {
	TYPE_NULL = 1,
	TYPE_INTEGER = 2,
	TYPE_NUMBER = 4,
	TYPE_STRING = 8,
	TYPE_OBJECT = 16,
	TYPE_ADDRESS = 32,    /* a string with a number in hexadecimal */
	TYPE_DIMS = 64,	      /* an array of three integers */
	TYPE_ADDRESSES = 128, /* an array of such strings */
	TYPE_STRINGS = 256,
	TYPE_UNREADABLE = 512, /* an object: why it could not be read, and its address */
};

static const struct {
	unsigned int types;
	const char *text;
} properties[COLUMN_COUNT] = {
#define COLUMN_PROPERTY(id, word, width, types, text, value) {types, text},
#define ARGUMENT_PROPERTY(id, word, width, types, text) \
	{(types) | TYPE_UNREADABLE | TYPE_NULL, text},
	TRACE_COLUMNS(COLUMN_PROPERTY, ARGUMENT_PROPERTY)
#undef COLUMN_PROPERTY
#undef ARGUMENT_PROPERTY
};

static void write_type(struct json *j, const char *type)
{
	json__object_begin(j);
	json__key_string(j, "type", type);
	json__object_end(j);
}

static void write_address(struct json *j)
{
	json__object_begin(j);
	json__key_string(j, "type", "string");
	json__key_string(j, "pattern", ADDRESS_PATTERN);
	json__object_end(j);
}

static void begin_array(struct json *j)
{
	json__object_begin(j);
	json__key_string(j, "type", "array");
	json__key(j, "items");
}

static void write_dims(struct json *j)
{
	begin_array(j);
	write_type(j, "integer");
	json__key_u64(j, "minItems", 3);
	json__key_u64(j, "maxItems", 3);
	json__object_end(j);
}

static void write_addresses(struct json *j)
{
	begin_array(j);
	write_address(j);
	json__object_end(j);
}

static void write_strings(struct json *j)
{
	begin_array(j);
	write_type(j, "string");
	json__object_end(j);
}

/* An object with exactly one key. */
static void write_object_of(struct json *j, const char *key, const char *text,
			    void (*value)(struct json *j))
{
	json__object_begin(j);
	json__key_string(j, "type", "object");
	json__key_string(j, "description", text);
	json__key(j, "properties");
	json__object_begin(j);
	json__key(j, key);
	value(j);
	json__object_end(j);
	json__key(j, "required");
	json__array_begin(j);
	json__string(j, key);
	json__array_end(j);
	json__key_bool(j, "additionalProperties", false);
	json__object_end(j);
}

static void write_string(struct json *j)
{
	write_type(j, "string");
}

static void write_types(struct json *j, unsigned int types)
{
	static const char *const plain[] = {"null", "integer", "number", "string", "object"};
	size_t i;

	json__array_begin(j);
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (types & 1u << i)
			write_type(j, plain[i]);
	}
	if (types & TYPE_ADDRESS)
		write_address(j);
	if (types & TYPE_DIMS)
		write_dims(j);
	if (types & TYPE_ADDRESSES)
		write_addresses(j);
	if (types & TYPE_STRINGS)
		write_strings(j);
	if (types & TYPE_UNREADABLE)
		write_object_of(j, "unreadable", "the address that could not be read",
				write_address);
	json__array_end(j);
}

/* The values of details: each form that an argument may have. */
static void write_argument(struct json *j)
{
	json__key(j, "anyOf");
	json__array_begin(j);
	write_type(j, "number");
	write_type(j, "null");
	json__object_begin(j);
	json__key_string(j, "type", "string");
	json__key_string(j, "description",
			 "a text; a constant's name; an address, handle or flags as 0x…; raw "
			 "bytes, two digits each");
	json__object_end(j);
	write_dims(j);
	write_addresses(j);
	write_object_of(j, "unreadable", "the address that could not be read", write_address);
	write_object_of(j, "cut", "the beginning of a text that is longer", write_string);
	json__array_end(j);
}

static void write_column(struct json *j, enum trace_column column)
{
	json__key(j, trace_columns__word(column));
	json__object_begin(j);
	json__key_string(j, "description", properties[column].text);
	json__key(j, "anyOf");
	write_types(j, properties[column].types);
	if (column == COLUMN_DETAILS) {
		json__key(j, "additionalProperties");
		json__object_begin(j);
		write_argument(j);
		json__object_end(j);
	}
	json__object_end(j);
}

static void begin_key(struct json *j, const char *key, const char *type, const char *text)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_string(j, "type", type);
	json__key_string(j, "description", text);
}

static void write_key(struct json *j, const char *key, const char *type, const char *text)
{
	begin_key(j, key, type, text);
	json__object_end(j);
}

static void write_enum(struct json *j, const char *const words[], size_t count)
{
	json__key(j, "enum");
	json__array_begin(j);
	for (size_t i = 0; i < count; i++)
		json__string(j, words[i]);
	json__array_end(j);
}

/* A text or null. */
static void write_known_text(struct json *j, const char *key, const char *text)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_string(j, "description", text);
	json__key(j, "anyOf");
	write_types(j, TYPE_NULL | TYPE_STRING);
	json__object_end(j);
}

/* The object of the first line. */
static void write_start(struct json *j)
{
	begin_key(j, "start", "object", "in the first line: about the trace as a whole");
	json__key(j, "properties");
	json__object_begin(j);
	write_key(j, "wall", "string", "when it began by wall clock, UTC");
	write_key(j, "wall_ns", "integer", "the same in nanoseconds since 1970");
	write_key(j, "boot_ns", "integer",
		  "the same by `clock`, in nanoseconds: with --timestamps relative, the time 0");
	write_key(j, "clock", "string",
		  "the clock of all times, also of --timestamps wall and iso");
	write_key(j, "timestamps", "string", "the form of --timestamps");
	write_key(j, "units", "object",
		  "by key: of time and end (null where they are texts), duration, size and bw");
	write_key(j, "gpuprobe", "string", "the version that wrote the lines");
	write_known_text(j, "host", "the machine's name, null where it is unknown");
	write_known_text(j, "kernel", "the release of its kernel, null where it is unknown");
	json__object_end(j);
	json__object_end(j);
}

static void write_own_keys(struct json *j)
{
	static const char *const lines[] = {
		"start",	"entry",	 "return", "in_progress", "resumed", "unfinished",
		"not_followed", "before_attach", "gpu",	   "range",	  "lost"};

	begin_key(j, "schema", "integer", "the version of this description");
	json__key_u64(j, "const", TRACE_JSON_SCHEMA);
	json__object_end(j);
	begin_key(
		j, "line", "string",
		"what the line is where it is not one whole call: start is the first line, of "
		"no call; entry and return are one "
		"call's two lines; a call "
		"in_progress comes back as resumed or unfinished; the return of a call "
		"not_followed is not seen; a call before_attach was in progress when tracing "
		"began, nothing more is shown of it "
		"and it is not among the calls that are counted; gpu is no call but work that a "
		"GPU did, with the GPU's time and duration (--gpu-times); a range is no call but "
		"an NVTX range that begins or ends, with its duration then, or a mark; lost tells "
		"of calls that are not shown");
	write_enum(j, lines, sizeof(lines) / sizeof(lines[0]));
	json__object_end(j);
	write_key(j, "code", "integer", "the error code as a number, where it is not 0");
	begin_key(j, "failed", "boolean", "there where the call failed");
	json__key_bool(j, "const", true);
	json__object_end(j);
	write_key(j, "depth", "integer",
		  "of how many traced calls it is within, where that is not 0");
	json__key(j, "called");
	json__object_begin(j);
	json__key_string(j, "description",
			 "of a GPU's work: when the call that submitted it began, in the form of "
			 "time; with tid it identifies the call's line; not there where the call "
			 "is not known");
	json__key(j, "anyOf");
	write_types(j, TYPE_NUMBER | TYPE_STRING);
	json__object_end(j);
	write_key(j, "lost", "integer", "calls that are not shown");
	write_key(j, "lost_returns", "integer",
		  "calls that are shown by their entry only: their return is not");
	write_key(j, "lost_stacks", "integer",
		  "stacks that are missing: null in the lines of calls from there");
	write_key(j, "lost_ranges", "integer", "lines of NVTX ranges that are not shown");
	write_key(j, "summary", "object",
		  "by itself in a line, for -c and -C: the sums by function, times in nanoseconds; "
		  "lost calls, calls from before (before_attach) and files without probes "
		  "(library_skipped) are not in them");
	write_start(j);
	write_key(j, "reason", "string",
		  "why: ring_full, thread_storage or call_depth; of stacks stack_ring_full or "
		  "stack_no_room; of ranges no_room");
}

void trace_output__print_json_schema(FILE *out)
{
	struct json json, *j = &json;

	json__init(j, out);
	json__object_begin(j);
	json__key_string(j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json__key_string(j, "title", "a line of gpuprobe trace --format json");
	json__key_string(j, "description",
			 "One object a line. The keys are those of -o, by default time, process, "
			 "pid, tid, event, "
			 "details, duration and result. Integers may need 64 bits.");
	json__key_string(j, "type", "object");
	json__key(j, "properties");
	json__object_begin(j);
	write_own_keys(j);
	for (int column = 0; column < COLUMN_COUNT; column++)
		write_column(j, (enum trace_column)column);
	json__object_end(j);
	json__key(j, "required");
	json__array_begin(j);
	json__string(j, "schema");
	json__array_end(j);
	json__key_bool(j, "additionalProperties", false);
	json__object_end(j);
	fputc('\n', out);
}
