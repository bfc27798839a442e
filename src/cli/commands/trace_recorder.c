// SPDX-License-Identifier: BSD-2-Clause
// The recording of a trace, see trace_recorder.h.
#include "cli/commands/trace_recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/call_writer.h"

_Static_assert(TRACE_LOSSES == sizeof(((struct recorded_calls_end *)0)->losses) / sizeof(uint64_t),
	       "the file has every reason for losses");

struct trace_recorder {
	struct recording_writer *file;
	struct call_writer *calls;
};

static void fill_header(const struct trace_options *options, uint64_t begin_ns,
			struct recording_header *header)
{
	*header = (struct recording_header){
		.level = RECORDING_CALLS,
		.flags = (options->record->anonymize ? RECORDING_ANONYMOUS : 0) |
			 (options->stacks.mode != STACK_OFF ? RECORDING_STACKS : 0) |
			 (options->config.nested ? RECORDING_NESTED : 0),
	};
	recording_header__fill(header);
	header->begin_ns = begin_ns;
	if (!options->record->anonymize)
		memcpy(header->options, options->record->words,
		       strnlen(options->record->words, sizeof(header->options) - 1));
}

int trace_recorder__new(int fd, const struct trace_options *options, uint64_t begin_ns,
			struct trace_recorder **out, struct error *err)
{
	const struct recording_options file = {.max_bytes = options->record->max_bytes};
	struct trace_recorder *recorder = calloc(1, sizeof(*recorder));
	struct recording_header header;
	int ret;

	if (!recorder) {
		close(fd);
		return error__set(err, -ENOMEM, "out of memory");
	}
	fill_header(options, begin_ns, &header);
	ret = recording_writer__new(fd, &header, &file, &recorder->file, NULL);
	if (ret) {
		free(recorder);
		return error__set(err, ret, "cannot write %s: %s", options->file, strerror(-ret));
	}
	recorder->calls = call_writer__new(recorder->file, options->record->anonymize);
	if (!recorder->calls) {
		trace_recorder__free(recorder);
		return error__set(err, -ENOMEM, "out of memory");
	}
	*out = recorder;
	return 0;
}

void trace_recorder__free(struct trace_recorder *recorder)
{
	if (!recorder)
		return;
	call_writer__free(recorder->calls);
	recording_writer__free(recorder->file);
	free(recorder);
}

int trace_recorder__line(struct trace_recorder *recorder, const struct trace_line *line)
{
	return call_writer__line(recorder->calls, line);
}

int trace_recorder__flush(struct trace_recorder *recorder)
{
	return call_writer__flush(recorder->calls, clock__boot_ns());
}

int trace_recorder__finish(struct trace_recorder *recorder, const struct trace_missing *missing,
			   const struct trace_counts *counts)
{
	int ret = call_writer__flush(recorder->calls, UINT64_MAX);
	struct recorded_calls_end end = {
		.calls = counts->calls,
		.lost = counts->lost,
		.unfinished = counts->unfinished,
		.unfollowed = counts->unfollowed,
		.malformed = counts->malformed,
		.evicted = counts->evicted,
		.unknown_stacks = counts->unknown_stacks,
		.skipped_libraries = missing->libraries,
		.before = missing->before,
		.dropped = call_writer__dropped(recorder->calls),
	};

	memcpy(end.losses, counts->losses, sizeof(end.losses));
	if (!ret || ret == RECORDING_FULL)
		call_writer__end(recorder->calls, clock__boot_ns(), &end);
	return recording_writer__close(recorder->file, NULL);
}

uint64_t trace_recorder__dropped(const struct trace_recorder *recorder)
{
	return call_writer__dropped(recorder->calls);
}

uint64_t trace_recorder__bytes(const struct trace_recorder *recorder)
{
	return recording_writer__size(recorder->file);
}
