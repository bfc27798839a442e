// SPDX-License-Identifier: BSD-2-Clause
/*
 * The first line of a trace's JSON: when the trace began, by which clock, and the units of the
 * lines after it. Without it, relative times cannot be compared with those of another file.
 */
#include "output/trace/private.h"

#include "output/trace/schema.h"

static char *write_text(const char *text, char *at)
{
	if (!text)
		return TRACE_TEXT_CONSTANT(at, "null");
	*at++ = '"';
	at = trace_text__json(at, text, strnlen(text, TRACE_WORD_SIZE));
	*at++ = '"';
	return at;
}

static const char *form_word(enum trace_timestamps timestamps)
{
	switch (timestamps) {
	case TIMESTAMPS_WALL: return "wall";
	case TIMESTAMPS_ISO: return "iso";
	case TIMESTAMPS_NS: return "ns";
	case TIMESTAMPS_DELTA: return "delta";
	case TIMESTAMPS_RELATIVE: break;
	}
	return "relative";
}

/* NULL: times are texts. */
static const char *time_unit(enum trace_timestamps timestamps)
{
	switch (timestamps) {
	case TIMESTAMPS_WALL:
	case TIMESTAMPS_ISO: return NULL;
	case TIMESTAMPS_NS: return "ns";
	default: return "ms";
	}
}

/* The beginning as a time in another form than that of the lines. */
static char *write_time(const struct trace_output_options *options,
			enum trace_timestamps timestamps, char *at)
{
	struct trace_output_options own = *options;
	struct trace_time time;
	bool quoted;

	own.timestamps = timestamps;
	trace_time__init(&time, &own);
	trace_time__expect(&time, options->begin_ns);
	quoted = trace_time__is_text(&time);
	if (quoted)
		*at++ = '"';
	at = trace_time__write(&time, at, options->begin_ns);
	if (quoted)
		*at++ = '"';
	return at;
}

static char *write_units(const struct trace_output_options *options, char *at)
{
	at = write_text(time_unit(options->timestamps),
			TRACE_TEXT_CONSTANT(at, ",\"units\":{\"time\":"));
	return TRACE_TEXT_CONSTANT(at,
				   ",\"duration\":\"ns\",\"size\":\"bytes\",\"bw\":\"bytes/s\"}");
}

char *trace_json__start(struct trace_output *output, char *at)
{
	const struct trace_output_options *options = &output->options;
	uint64_t wall_ns = options->begin_ns + (uint64_t)options->wall_offset_ns;

	at = TRACE_TEXT_CONSTANT(at, "{\"schema\":" TRACE_JSON_SCHEMA_TEXT ",\"line\":\"start\"");
	at = write_time(options, options->timestamps, TRACE_TEXT_CONSTANT(at, ",\"time\":"));
	at = write_time(options, TIMESTAMPS_ISO, TRACE_TEXT_CONSTANT(at, ",\"start\":{\"wall\":"));
	at = trace_text__signed(TRACE_TEXT_CONSTANT(at, ",\"wall_ns\":"), (int64_t)wall_ns);
	at = trace_text__unsigned(TRACE_TEXT_CONSTANT(at, ",\"boot_ns\":"), options->begin_ns);
	at = TRACE_TEXT_CONSTANT(at, ",\"clock\":\"CLOCK_BOOTTIME\"");
	at = write_text(form_word(options->timestamps),
			TRACE_TEXT_CONSTANT(at, ",\"timestamps\":"));
	at = write_units(options, at);
	at = write_text(GPUPROBE_VERSION, TRACE_TEXT_CONSTANT(at, ",\"gpuprobe\":"));
	at = write_text(options->host, TRACE_TEXT_CONSTANT(at, ",\"host\":"));
	at = write_text(options->kernel, TRACE_TEXT_CONSTANT(at, ",\"kernel\":"));
	return TRACE_TEXT_CONSTANT(at, "}}\n");
}
