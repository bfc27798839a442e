// SPDX-License-Identifier: BSD-2-Clause
// Output and summary of a trace, see trace_sink.h.
#include "cli/commands/trace_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "cli/commands/trace_recorder.h"
#include "cli/commands/trace_timeline.h"
#include "cli/files/output_file.h"
#include "cli/files/terminal.h"
#include "output/trace/buffer.h"
#include "output/trace/summary.h"
#include "privilege/file_rights.h"

struct trace_sink {
	const struct trace_options *options;
	int fd;
	bool is_own; /* the sink closes it */
	bool is_terminal;
	struct trace_output *output;	 /* NULL with -c */
	struct trace_recorder *recorder; /* NULL, or in place of the output */
	struct timeline *timeline;	 /* the same */
	struct trace_summary *summary;	 /* NULL without -c and -C */
	uint64_t calls;			 /* calls taken */
	uint64_t earlier_calls;		 /* calls that began before attach, not in `calls` */
	bool is_full;			 /* of `recorder`: its file has its maximum size */
	int failure;			 /* a negative errno: writing failed for good */
};

static int open_file(struct trace_sink *sink, struct error *err)
{
	const char *path = sink->options->file;

	sink->fd = -1;
	/* A flight recorder opens several. */
	if (sink->options->record && sink->options->record->ring_ns)
		return 0;
	sink->fd = path ? output_file__open(path, err) : STDOUT_FILENO;
	sink->is_own = path && sink->fd >= 0;
	return sink->fd < 0 ? sink->fd : 0;
}

/*
 * Reopens a terminal or pipe as non-blocking. Otherwise a write of more than fits blocks until all
 * of it has gone. Others share the present file description, so the sink opens its own. If that
 * fails, it keeps the present one; so it does if the caller of a setuid file could not open it.
 */
static void open_own(struct trace_sink *sink)
{
	struct file_rights rights;
	struct stat status;
	char path[32];
	int fd;

	if (!sink->is_terminal && (fstat(sink->fd, &status) || !S_ISFIFO(status.st_mode)))
		return;
	if (file_rights__take_invokers(&rights))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sink->fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	file_rights__give_back(&rights);
	if (fd < 0)
		return;
	if (sink->is_own)
		close(sink->fd);
	sink->fd = fd;
	sink->is_own = true;
}

/* https://no-color.org: any non-empty value turns colour off. */
static bool wants_color(const struct trace_sink *sink)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return sink->is_terminal && !(no_color && *no_color) && term && *term &&
	       strcmp(term, "dumb");
}

static bool names_one_process(const struct targets *targets)
{
	return targets->pid_count + (targets->command != NULL) == 1;
}

static int open_output(struct trace_sink *sink, const struct trace_origin *origin, int stop_fd,
		       struct error *err)
{
	struct trace_output_options form = sink->options->output;
	int ret;

	form.host = origin->host;
	form.kernel = origin->kernel;
	form.width = terminal__width(sink->fd);
	form.color = wants_color(sink);
	form.one_process = names_one_process(&sink->options->targets);
	form.begin_ns = origin->begin_ns;
	form.wall_offset_ns = origin->wall_offset_ns;
	ret = trace_output__new(sink->fd, &form, &sink->output, err);
	if (ret)
		return ret;
	trace_output__stop_by(sink->output, stop_fd);
	sink->failure = trace_output__header(sink->output);
	return 0;
}

static int open_timeline(struct trace_sink *sink, const struct trace_origin *origin, int stop_fd,
			 struct error *err)
{
	int ret;

	if (sink->is_terminal)
		return error__set(err, -EINVAL, "a timeline is no text: name a file with -O FILE");
	ret = trace_timeline__new(sink->fd, sink->options, origin, &sink->timeline, err);
	if (!ret)
		timeline__stop_by(sink->timeline, stop_fd);
	return ret;
}

/* Opens what the lines go to. */
static int open_lines(struct trace_sink *sink, const struct trace_origin *origin, int stop_fd,
		      const struct log *log, struct error *err)
{
	if (sink->options->draws)
		return open_timeline(sink, origin, stop_fd, err);
	if (!sink->options->record)
		return open_output(sink, origin, stop_fd, err);
	sink->is_own = false; /* the recorder's */
	return trace_recorder__new(sink->fd, sink->options, origin->begin_ns, log, &sink->recorder,
				   err);
}

int trace_sink__start(struct trace_sink *sink, struct event_base *loop)
{
	return sink->recorder ? trace_recorder__start(sink->recorder, loop) : 0;
}

int trace_sink__new(const struct trace_options *options, const struct trace_origin *origin,
		    int stop_fd, const struct log *log, struct trace_sink **out, struct error *err)
{
	struct trace_sink *sink = calloc(1, sizeof(*sink));
	int ret;

	if (!sink)
		return error__set(err, -ENOMEM, "out of memory");
	sink->options = options;
	ret = open_file(sink, err);
	if (!ret) {
		sink->is_terminal = isatty(sink->fd);
		if (!options->record)
			open_own(sink);
		if (options->summary && !(sink->summary = trace_summary__new()))
			ret = error__set(err, -ENOMEM, "out of memory");
	}
	if (!ret && options->lines)
		ret = open_lines(sink, origin, stop_fd, log, err);
	if (ret) {
		trace_sink__free(sink);
		return ret;
	}
	*out = sink;
	return 0;
}

void trace_sink__free(struct trace_sink *sink)
{
	if (!sink)
		return;
	trace_output__free(sink->output);
	trace_recorder__free(sink->recorder);
	timeline__free(sink->timeline);
	trace_summary__free(sink->summary);
	if (sink->is_own)
		close(sink->fd);
	free(sink);
}

/* Whether the line is the last one of its call. */
static bool ends_call(const struct trace_line *line)
{
	return line->kind == LINE_CALL || line->kind == LINE_RETURN || line->kind == LINE_RESUMED ||
	       line->kind == LINE_UNFINISHED || line->kind == LINE_UNFOLLOWED;
}

static bool is_done(const struct trace_sink *sink)
{
	return sink->failure || (sink->options->count && sink->calls >= sink->options->count);
}

/* --count counts calls: work that GPUs did for these comes later. */
static bool takes_no_more(const struct trace_sink *sink, const struct trace_line *line)
{
	return line->kind == LINE_GPU ? sink->failure != 0 : is_done(sink);
}

bool trace_sink__line(struct trace_sink *sink, const struct trace_line *line)
{
	if (takes_no_more(sink, line))
		return true;
	if (sink->output)
		sink->failure = trace_output__line(sink->output, line);
	if (sink->recorder)
		sink->failure = trace_recorder__line(sink->recorder, line);
	if (sink->timeline)
		sink->failure = timeline__line(sink->timeline, line);
	if (!sink->failure && sink->summary && line->kind != LINE_GPU)
		sink->failure = trace_summary__add(sink->summary, line);
	sink->calls += ends_call(line);
	sink->earlier_calls += line->kind == LINE_BEFORE;
	return takes_no_more(sink, line);
}

/* Poll reports a pipe without a reader even when there is nothing to write. */
static bool reader_is_gone(const struct trace_sink *sink)
{
	struct pollfd poller = {.fd = sink->fd}; /* -1 is passed over */

	return poll(&poller, 1, 0) > 0 && poller.revents & POLLERR;
}

bool trace_sink__flush(struct trace_sink *sink)
{
	if (!sink->failure && sink->output)
		sink->failure = trace_output__flush(sink->output);
	if (!sink->failure && sink->recorder)
		sink->failure = trace_recorder__flush(sink->recorder);
	if (!sink->failure && reader_is_gone(sink))
		sink->failure = -EPIPE;
	return is_done(sink);
}

void trace_sink__resize(struct trace_sink *sink)
{
	if (sink->output)
		trace_output__set_width(sink->output, terminal__width(sink->fd));
}

/*
 * Writes like the lines: waits for a descriptor that would block, and returns why a write failed.
 */
static int write_text(int fd, const char *text, size_t length)
{
	struct trace_buffer buffer;
	char *at;
	int ret = trace_buffer__init(&buffer, fd);

	if (ret)
		return ret;
	at = trace_buffer__room(&buffer, length);
	if (at) {
		memcpy(at, text, length);
		trace_buffer__commit(&buffer, at + length, false);
		trace_buffer__flush(&buffer);
	}
	ret = buffer.error;
	trace_buffer__free(&buffer);
	return ret;
}

static int print_summary(const struct trace_sink *sink, const struct trace_missing *missing)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);
	int ret;

	if (!out)
		return -ENOMEM;
	if (sink->output && sink->options->output.format == TRACE_TABLE)
		fputc('\n', out);
	trace_summary__print(sink->summary, missing, sink->options->output.format,
			     terminal__width(sink->fd), sink->options->output.form, out);
	ret = fclose(out) ? -ENOMEM : write_text(sink->fd, text, length);
	free(text);
	return ret;
}

int trace_sink__finish(struct trace_sink *sink, const struct trace_missing *missing,
		       const struct trace_counts *counts, struct error *err)
{
	const char *where = sink->options->file ? sink->options->file : "standard output";

	if (sink->recorder) {
		sink->failure = trace_recorder__finish(sink->recorder, missing, counts);
		sink->is_full = !sink->failure && (trace_recorder__dropped(sink->recorder) ||
						   trace_recorder__is_full(sink->recorder));
	}
	if (sink->output)
		trace_output__stop_by(sink->output, -1);
	if (!sink->failure && sink->output)
		sink->failure = trace_output__flush(sink->output);
	if (sink->timeline)
		timeline__stop_by(sink->timeline, -1);
	if (!sink->failure && sink->timeline)
		sink->failure = timeline__finish(sink->timeline);
	if (!sink->failure && sink->summary)
		sink->failure = print_summary(sink, missing);
	if (!sink->failure || trace_sink__is_closed(sink))
		return 0;
	if (!sink->output && !sink->recorder && !sink->timeline)
		return error__set(err, sink->failure, "cannot write %s: %s", where,
				  strerror(-sink->failure));
	return error__set(err, sink->failure, "cannot write %s: %s after %llu calls were %s%s",
			  where, strerror(-sink->failure),
			  (unsigned long long)trace_sink__calls(sink),
			  sink->recorder ? "recorded" : "written",
			  sink->options->targets.command ? "; COMMAND continues unwatched" : "");
}

struct trace_recorder *trace_sink__recorder(const struct trace_sink *sink)
{
	return sink->recorder;
}

struct timeline *trace_sink__timeline(const struct trace_sink *sink)
{
	return sink->timeline;
}

bool trace_sink__is_closed(const struct trace_sink *sink)
{
	return sink->failure == -EPIPE;
}

uint64_t trace_sink__recorded_bytes(const struct trace_sink *sink)
{
	return sink->recorder ? trace_recorder__bytes(sink->recorder) : 0;
}

bool trace_sink__is_full(const struct trace_sink *sink)
{
	return sink->is_full;
}

uint64_t trace_sink__dropped(const struct trace_sink *sink)
{
	return sink->recorder ? trace_recorder__dropped(sink->recorder) : 0;
}

uint64_t trace_sink__calls(const struct trace_sink *sink)
{
	uint64_t dropped = trace_sink__dropped(sink);

	if (sink->output)
		return trace_output__written(sink->output);
	return sink->calls > dropped ? sink->calls - dropped : 0;
}

void trace_sink__report_timeline(const struct trace_sink *sink, const struct log *log)
{
	struct timeline_counts counts;

	if (!sink->timeline || sink->failure)
		return;
	timeline__count(sink->timeline, &counts);
	trace_timeline__report(sink->options, &counts, log);
}

uint64_t trace_sink__earlier_calls(const struct trace_sink *sink)
{
	return sink->earlier_calls;
}
