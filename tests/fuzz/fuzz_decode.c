// SPDX-License-Identifier: BSD-2-Clause
/*
 * One event of the tracer, of any contents, decoded by its function's plan and written in one
 * output format. The event's memory ends where the event ends. The input: options, the function's
 * row, the event after its head.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpuprobe/trace.h"
#include "harness.h"
#include "trace/function.h"
#include "trace_text.h"

#define EVENT_MAX 8000

static struct trace_output *open_output(int fd, uint64_t choice, enum trace_format format)
{
	struct trace_output_options options = {
		.format = format,
		.timestamps = (enum trace_timestamps)(choice >> 4 & 3),
		.width = choice & 0x80 ? 90 : 0,
	};
	struct trace_output *output;
	struct error err = {""};

	if (choice & 0x40) {
		for (size_t i = 0; i < COLUMN_COUNT; i++)
			options.columns[options.column_count++] = (enum trace_column)i;
	}
	MUST(!trace_output__new(fd, &options, &output, &err));
	return output;
}

static void write_line(const struct trace_line *line, uint64_t choice)
{
	static int fd = -1;
	enum trace_format format = (enum trace_format)(choice & 3) > TRACE_JSON ?
					   TRACE_TABLE :
					   (enum trace_format)(choice & 3);
	struct trace_output *output;

	if (fd < 0)
		fd = memfd_create("output", MFD_CLOEXEC);
	MUST(fd >= 0 && !ftruncate(fd, 0) && lseek(fd, 0, SEEK_SET) == 0);
	output = open_output(fd, choice, format);
	MUST(!trace_output__line(output, line) && !trace_output__flush(output));
	trace_output__free(output);
	must_be_output(fd, format);
}

static struct trace_functions *functions_of(bool kernel_args)
{
	static struct trace_functions *functions[2];

	if (!functions[kernel_args])
		functions[kernel_args] = trace_functions__new(kernel_args);
	MUST(functions[kernel_args]);
	return functions[kernel_args];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct trace_process process = {
		.number = 1, .pid = 7, .comm = "a\nb", .cgroup = "/x\x1b"};
	static struct trace_event head;
	struct input input = {data, size};
	uint64_t choice = input__number(&input, 1), more = input__number(&input, 1),
		 row = input__number(&input, 2), handle;
	struct trace_functions *functions = functions_of(more & 1);
	const struct trace_function *function;
	struct trace_line line = {.process = &process, .tid = 7, .device = (int16_t)(more & 4) - 1};
	struct trace_event *event;
	const uint8_t *bytes;
	size_t length;

	function =
		trace_functions__at(functions, (uint32_t)(row % trace_functions__count(functions)));
	MUST(function);
	head.words = trace_function__plan(function)->words;
	head.type = more & 8 ? TRACE_ENTRY : TRACE_CALL;
	head.result = (int32_t)input__number(&input, 4);
	head.upper = (uint32_t)input__number(&input, 1);
	length = input__bytes(&input, EVENT_MAX, &bytes);
	/* The stream only passes events that have all their words. */
	if (length < head.words * sizeof(uint64_t))
		return 0;
	event = malloc(sizeof(head) + length);
	MUST(event);
	memcpy(event, &head, sizeof(head));
	memcpy(event->payload, bytes, length);
	trace_function__stack(function, event, sizeof(head) + length);
	trace_function__launched(function, event, sizeof(head) + length);
	trace_function__decode(function, event, sizeof(head) + length,
			       more & 1 ? TRACE_ARGS_MAX : 0, more & 2, &line, &handle);
	MUST(line.field_count <= TRACE_FIELDS_MAX);
	line.function = function;
	line.result = (uint32_t)head.result;
	line.failed = trace_function__is_failure(function, head.result);
	line.kernel = more & 16 ? "k<\"\xff\">" : NULL;
	line.kernel_label = line.kernel;
	line.kernel_full = line.kernel;
	write_line(&line, choice);
	free(event);
	return 0;
}
