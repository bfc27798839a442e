// SPDX-License-Identifier: BSD-2-Clause
/*
 * Timelines in Chrome's trace event format, see form.h: JSON, compressed by gzip or not. Also as
 * PyTorch's profiler (Kineto) writes it, for HTA and TensorBoard: its categories and names, each
 * call with a correlation number, and no marks of streams, which readers would take for work of the
 * GPU.
 *
 * Times are microseconds since the beginning, with three decimals.
 */
#include "output/timeline/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/timeline/arguments.h"
#include "output/timeline/gpu_slice.h"
#include "output/timeline/kineto.h"
#include "output/trace/field.h"
#include "output/trace/text.h"
#include "trace/function.h"

/* tids of tracks that are no threads: above all pids of Linux (2^22) */
#define TRACK_TID (1u << 24)
#define PART_ROOM 1024 /* of an event without texts */
#define ARROW_ROOM 512 /* of both ends of an arrow */
#define KEY_SIZE 64    /* of keys and words of ours */

struct chrome {
	struct timeline_form form; /* must be first */
	bool is_kineto;
	bool has_parts; /* the next one needs a comma */
	uint64_t begin_ns;
	uint64_t gpu_arrows;	   /* so far */
	struct kineto_steps steps; /* with is_kineto */
};

static struct chrome *of_form(struct timeline_form *form)
{
	return (struct chrome *)form;
}

/* --- texts and numbers --- */

static char *write_text(const char *text, char *at)
{
	*at++ = '"';
	at = trace_text__json(at, text, strlen(text));
	*at++ = '"';
	return at;
}

/* ,"KEY": */
static char *write_key(const char *key, char *at)
{
	at = TRACE_TEXT_CONSTANT(at, ",\"");
	at = trace_text__word(at, key, KEY_SIZE);
	return TRACE_TEXT_CONSTANT(at, "\":");
}

static char *write_number(const char *key, uint64_t value, char *at)
{
	return trace_text__unsigned(write_key(key, at), value);
}

/* Nothing for NULL. */
static char *write_word(const char *key, const char *text, char *at)
{
	return text ? write_text(text, write_key(key, at)) : at;
}

static char *write_thousandths(uint64_t thousandths, char *at)
{
	at = trace_text__unsigned(at, thousandths / 1000);
	*at++ = '.';
	return trace_text__digits(at, thousandths % 1000, 3);
}

static char *write_time(const struct chrome *chrome, uint64_t ns, char *at)
{
	at = TRACE_TEXT_CONSTANT(at, ",\"ts\":");
	if (ns >= chrome->begin_ns)
		return write_thousandths(ns - chrome->begin_ns, at);
	*at++ = '-';
	return write_thousandths(chrome->begin_ns - ns, at);
}

static uint64_t tid_of(const struct timeline_track *track)
{
	return track->kind == TRACK_PROCESS ? (uint64_t)track->pid :
	       track->kind == TRACK_THREAD  ? (uint64_t)track->tid :
					      TRACK_TID + (uint64_t)track->number;
}

/* Where a GPU's track is drawn: Kineto's process is the GPU, and its thread the stream. */
static struct timeline_track place_of(const struct chrome *chrome,
				      const struct timeline_track *track)
{
	struct timeline_track placed = *track;

	if (chrome->is_kineto)
		placed.pid = (pid_t)(track->gpu.device & INT32_MAX);
	if (chrome->is_kineto && track->gpu.is_plain && track->gpu.stream < TRACK_TID) {
		placed.kind = TRACK_THREAD;
		placed.tid = (pid_t)track->gpu.stream;
	}
	return placed;
}

/* --- events --- */

/* Begins an event of the kind `phase`: {"ph":"X","pid":1,"tid":2. NULL after an error. */
static char *begin_part(struct chrome *chrome, char phase, pid_t pid, uint64_t tid, size_t room)
{
	char *at = packed_file__room(chrome->form.file, room + PART_ROOM);

	if (!at)
		return NULL;
	if (chrome->has_parts)
		*at++ = ',';
	chrome->has_parts = true;
	at = TRACE_TEXT_CONSTANT(at, "\n{\"ph\":\"");
	*at++ = phase;
	*at++ = '"';
	at = write_number("pid", (uint64_t)pid, at);
	return write_number("tid", tid, at);
}

static void end_part(struct chrome *chrome, char *at)
{
	*at++ = '}';
	packed_file__commit(chrome->form.file, at);
}

/* Names of tracks and their order are events of the kind M. */
static void write_metadata(struct chrome *chrome, const struct timeline_track *track,
			   const char *what, const char *name)
{
	char *at = begin_part(chrome, 'M', track->pid, tid_of(track),
			      TRACK_NAME_SIZE * TRACE_TEXT_EXPANSION);

	if (!at)
		return;
	at = write_word("name", what, at);
	at = TRACE_TEXT_CONSTANT(at, ",\"args\":{\"name\":");
	at = TRACE_TEXT_CONSTANT(write_text(name, at), "}");
	end_part(chrome, at);
}

static void write_order(struct chrome *chrome, const struct timeline_track *track)
{
	char *at = begin_part(chrome, 'M', track->pid, tid_of(track), 0);

	if (!at)
		return;
	at = write_word("name", "thread_sort_index", at);
	at = TRACE_TEXT_CONSTANT(at, ",\"args\":{\"sort_index\":");
	at = TRACE_TEXT_CONSTANT(trace_text__unsigned(at, tid_of(track)), "}");
	end_part(chrome, at);
}

static void add_gpu_track(struct chrome *chrome, const struct timeline_track *track)
{
	const struct timeline_track placed = place_of(chrome, track);
	char name[TRACK_NAME_SIZE];

	snprintf(name, sizeof(name), "GPU %" PRIu32, track->gpu.device);
	if (chrome->is_kineto)
		write_metadata(chrome, &placed, "process_name", name);
	write_metadata(chrome, &placed, "thread_name", track->name);
	write_order(chrome, &placed);
}

static void add_track(struct timeline_form *form, const struct timeline_track *track)
{
	struct chrome *chrome = of_form(form);

	switch ((enum timeline_track_kind)track->kind) {
	case TRACK_PROCESS: write_metadata(chrome, track, "process_name", track->name); break;
	case TRACK_LOSSES:
		write_metadata(chrome, track, "process_name", "gpuprobe");
		write_metadata(chrome, track, "thread_name", track->name);
		break;
	case TRACK_STREAM:
	case TRACK_STEPS:
	case TRACK_RANGES:
		if (chrome->is_kineto)
			break;
		write_metadata(chrome, track, "thread_name", track->name);
		write_order(chrome, track);
		break;
	case TRACK_THREAD:
		if (*track->name)
			write_metadata(chrome, track, "thread_name", track->name);
		break;
	case TRACK_GPU: add_gpu_track(chrome, track); break;
	case TRACK_GPUS:
	case TRACK_STREAMS: /* there is no track of tracks */
	case TRACK_BYTES:
	case TRACK_QUEUED: break;
	}
}

/* --- calls --- */

static const char *category_of(const struct chrome *chrome, const struct timeline_call *call)
{
	return chrome->is_kineto ? kineto__category(call) : timeline_call__family(call);
}

static const char *name_of(const struct chrome *chrome, const struct timeline_call *call)
{
	return chrome->is_kineto ? kineto__name(call) :
				   trace_function__symbol(call->line->function);
}

/* --- arguments --- */

/* The arguments of an event are being written. */
struct arguments {
	const struct chrome *chrome;
	char *at, *begin;
};

static struct arguments begin_arguments(const struct chrome *chrome, char *at)
{
	at = TRACE_TEXT_CONSTANT(at, ",\"args\":");
	return (struct arguments){chrome, at, at};
}

static char *end_arguments(struct arguments *args)
{
	/* The first key has no comma before it. */
	if (args->at == args->begin)
		args->at++;
	*args->begin = '{';
	*args->at++ = '}';
	return args->at;
}

static void add_number(void *to, const char *name, uint64_t value)
{
	struct arguments *args = to;

	args->at = write_number(name, value, args->at);
}

static void add_text(void *to, const char *name, const char *text)
{
	struct arguments *args = to;

	args->at = write_word(name, text, args->at);
}

static void add_field(void *to, const struct trace_field *field)
{
	struct arguments *args = to;

	const char *key = args->chrome->is_kineto ? kineto__key(field->name) : field->name;

	args->at = trace_field__json(field, write_key(key, args->at));
}

static const struct argument_writer argument_writer = {add_number, add_text, add_field};

/* --- calls --- */

/* A call is one event X if its end is known, otherwise an event B and later one E. */
static void write_call(struct chrome *chrome, const struct timeline_call *call)
{
	static const char phases[] = {[PART_WHOLE] = 'X', [PART_BEGIN] = 'B', [PART_END] = 'E'};
	size_t room = call->line ? timeline_call__room(call) : 0;
	char *at = begin_part(chrome, phases[call->part], call->thread->pid,
			      (uint64_t)call->thread->tid, room);
	struct arguments args;

	if (!at)
		return;
	if (call->line && call->part != PART_END) {
		at = write_word("cat", category_of(chrome, call), at);
		at = write_word("name", name_of(chrome, call), at);
	}
	at = write_time(chrome, call->part == PART_END ? call->end_ns : call->begin_ns, at);
	if (call->part == PART_WHOLE)
		at = write_thousandths(call->end_ns - call->begin_ns,
				       TRACE_TEXT_CONSTANT(at, ",\"dur\":"));
	args = begin_arguments(chrome, at);
	if (chrome->is_kineto)
		add_number(&args, "correlation", call->number);
	timeline_call__write(call, &argument_writer, &args);
	end_part(chrome, end_arguments(&args));
}

static char *write_arrow_end(const struct chrome *chrome, const struct timeline_arrow *arrow,
			     uint64_t time_ns, char *at)
{
	at = write_word("cat", arrow->category, at);
	at = write_word("name", arrow->name, at);
	return write_time(chrome, time_ns, write_number("id", arrow->number, at));
}

/* Kineto's arrows lead to work of GPUs alone. */
static void add_arrow(struct timeline_form *form, const struct timeline_arrow *arrow)
{
	struct chrome *chrome = of_form(form);
	char *at;

	if (chrome->is_kineto && strcmp(arrow->category, KINETO_ARROW))
		return;
	at = begin_part(chrome, 's', arrow->from.pid, (uint64_t)arrow->from.tid, ARROW_ROOM);
	if (!at)
		return;
	end_part(chrome, write_arrow_end(chrome, arrow, arrow->from.begin_ns, at));
	at = begin_part(chrome, 'f', arrow->to.pid, (uint64_t)arrow->to.tid, ARROW_ROOM);
	if (!at)
		return;
	at = write_arrow_end(chrome, arrow, arrow->to.begin_ns, at);
	end_part(chrome, TRACE_TEXT_CONSTANT(at, ",\"bp\":\"e\""));
}

/* From the call that queued work to the wait that covers it. */
static void add_cover(struct timeline_form *form, const struct timeline_work *work,
		      const struct timeline_call *wait)
{
	const struct timeline_arrow arrow = {
		.category = "queued",
		.name = "covered by",
		.number = work->number,
		.from = {work->pid, work->tid, work->begin_ns},
		.to = {wait->thread->pid, wait->thread->tid, wait->begin_ns},
	};

	add_arrow(form, &arrow);
}

static void add_call(struct timeline_form *form, const struct timeline_call *call)
{
	write_call(of_form(form), call);
	for (size_t i = 0; i < call->cover.count; i++)
		add_cover(form, &call->cover.work[i], call);
}

/* --- marks and counters --- */

static void add_mark(struct timeline_form *form, const struct timeline_mark *mark)
{
	struct chrome *chrome = of_form(form);
	bool is_loss = mark->track->kind == TRACK_LOSSES;
	struct arguments args;
	char *at;

	if (chrome->is_kineto && mark->track->kind == TRACK_STREAM)
		return;
	at = begin_part(chrome, 'i', mark->track->pid, tid_of(mark->track),
			timeline_mark__room(mark));
	if (!at)
		return;
	at = write_word("cat", chrome->is_kineto ? "cpu_instant_event" : mark->category, at);
	at = write_word("name", mark->name, at);
	at = write_time(chrome, mark->time_ns, at);
	/* A loss goes over all tracks. */
	at = write_word("s", is_loss ? "g" : "t", at);
	args = begin_arguments(chrome, at);
	timeline_mark__write(mark, &argument_writer, &args);
	end_part(chrome, end_arguments(&args));
}

static void write_counter(struct chrome *chrome, const struct timeline_value *value)
{
	const struct timeline_track *track = value->track;
	char *at = begin_part(chrome, 'C', track->pid, (uint64_t)track->pid,
			      TRACK_NAME_SIZE * TRACE_TEXT_EXPANSION);

	if (!at)
		return;
	at = write_time(chrome, value->time_ns, write_word("name", track->name, at));
	at = TRACE_TEXT_CONSTANT(at, ",\"args\":{");
	at = track->kind == TRACK_BYTES ? TRACE_TEXT_CONSTANT(at, "\"bytes\":") :
					  TRACE_TEXT_CONSTANT(at, "\"work\":");
	at = TRACE_TEXT_CONSTANT(trace_text__unsigned(at, value->amount), "}");
	end_part(chrome, at);
}

/* What CUDA gave to the program: Kineto's "Total Reserved". Its allocator's part is not known. */
static void write_memory(struct chrome *chrome, const struct timeline_value *value)
{
	char *at = begin_part(chrome, 'i', value->track->pid, (uint64_t)value->track->pid, 0);

	if (!at)
		return;
	at = TRACE_TEXT_CONSTANT(at, ",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\"");
	at = write_time(chrome, value->time_ns, at);
	at = TRACE_TEXT_CONSTANT(at, ",\"s\":\"t\",\"args\":{\"Device Type\":1");
	at = trace_text__signed(write_key("Device Id", at), value->device);
	at = write_number("Addr", value->address, at);
	at = trace_text__signed(write_key("Bytes", at), value->change);
	at = write_number("Total Allocated", value->amount, at);
	at = write_number("Total Reserved", value->amount, at);
	end_part(chrome, TRACE_TEXT_CONSTANT(at, "}"));
}

static void add_value(struct timeline_form *form, const struct timeline_value *value)
{
	struct chrome *chrome = of_form(form);

	if (!chrome->is_kineto)
		write_counter(chrome, value);
	else if (value->track->kind == TRACK_BYTES)
		write_memory(chrome, value);
}

/* On a thread, or on a track of its own. */
static void write_span(struct chrome *chrome, const struct timeline_span *span, uint64_t tid,
		       const char *category, const char *name)
{
	char *at = begin_part(chrome, 'X', span->track->pid, tid, timeline_span__room(span));
	struct arguments args;

	if (!at)
		return;
	at = write_word("name", name, write_word("cat", category, at));
	at = write_time(chrome, span->begin_ns, at);
	at = write_thousandths(span->end_ns - span->begin_ns, TRACE_TEXT_CONSTANT(at, ",\"dur\":"));
	args = begin_arguments(chrome, at);
	timeline_span__write(span, &argument_writer, &args);
	end_part(chrome, end_arguments(&args));
}

static void add_span(struct timeline_form *form, const struct timeline_span *span)
{
	struct chrome *chrome = of_form(form);
	char name[KINETO_NAME];

	if (!chrome->is_kineto)
		write_span(chrome, span, tid_of(span->track), span->category, span->name);
	else if (span->is_range && span->track->tid)
		write_span(chrome, span, (uint64_t)span->track->tid, "user_annotation", span->name);
	else if (!span->is_range && kineto_steps__take(&chrome->steps, span, name))
		write_span(chrome, span, (uint64_t)span->track->tid, "user_annotation", name);
}

/* --- GPUs --- */

/* In GB/s, which are thousandths here, under the name by which HTA finds it. */
static void add_bandwidth(struct arguments *args, const struct timeline_gpu_slice *slice)
{
	uint64_t bandwidth = timeline_gpu_slice__bandwidth(slice);

	if (bandwidth)
		args->at = write_thousandths(bandwidth,
					     write_key("memory bandwidth (GB/s)", args->at));
}

static void write_gpu(struct chrome *chrome, const struct timeline_gpu_slice *slice,
		      const struct timeline_track *placed)
{
	const bool is_kineto = chrome->is_kineto;
	char *at = begin_part(chrome, 'X', placed->pid, tid_of(placed),
			      timeline_gpu_slice__room(slice));
	struct arguments args;

	if (!at)
		return;
	at = write_word(
		"cat",
		is_kineto ? kineto_gpu__category(slice) : timeline_gpu_slice__category(slice), at);
	at = write_word("name",
			is_kineto ? kineto_gpu__name(slice) : timeline_gpu_slice__name(slice), at);
	at = write_time(chrome, slice->begin_ns, at);
	at = write_thousandths(slice->end_ns - slice->begin_ns,
			       TRACE_TEXT_CONSTANT(at, ",\"dur\":"));
	args = begin_arguments(chrome, at);
	if (is_kineto && slice->number)
		add_number(&args, "correlation", slice->number);
	if (is_kineto)
		add_bandwidth(&args, slice);
	timeline_gpu_slice__write(slice, &argument_writer, &args);
	end_part(chrome, end_arguments(&args));
}

/* A call may have several pieces of work, but an arrow has one end: its number is of the work. */
static void add_gpu(struct timeline_form *form, const struct timeline_gpu_slice *slice)
{
	struct chrome *chrome = of_form(form);
	const struct timeline_track placed = place_of(chrome, slice->track);
	const struct timeline_arrow arrow = {
		.category = KINETO_ARROW,
		.name = KINETO_ARROW,
		.number = ++chrome->gpu_arrows,
		.from = slice->call,
		.to = {placed.pid, (pid_t)tid_of(&placed), slice->begin_ns},
	};

	write_gpu(chrome, slice, &placed);
	if (slice->number)
		add_arrow(form, &arrow);
}

/* --- the file --- */

static void write_head(struct chrome *chrome, const struct timeline_options *options)
{
	uint64_t wall_ns = options->begin_ns + (uint64_t)options->wall_offset_ns;
	size_t room = PART_ROOM;
	char *at;

	room += options->host ? strlen(options->host) * TRACE_TEXT_EXPANSION : 0;
	room += options->kernel ? strlen(options->kernel) * TRACE_TEXT_EXPANSION : 0;
	at = packed_file__room(chrome->form.file, room);
	if (!at)
		return;
	at = TRACE_TEXT_CONSTANT(at, "{\"displayTimeUnit\":\"ms\"");
	if (chrome->is_kineto)
		at = TRACE_TEXT_CONSTANT(at, ",\"schemaVersion\":1,\"deviceProperties\":[]");
	at = write_number("baseTimeNanoseconds", wall_ns, at);
	at = TRACE_TEXT_CONSTANT(at, ",\"otherData\":{\"producer\":");
	at = write_text("gpuprobe " GPUPROBE_VERSION, at);
	at = write_word("host", options->host, at);
	at = write_word("kernel", options->kernel, at);
	at = write_number("boot_ns", options->begin_ns, at);
	packed_file__commit(chrome->form.file, TRACE_TEXT_CONSTANT(at, "},\"traceEvents\":["));
}

static void finish(struct timeline_form *form)
{
	char *at = packed_file__room(form->file, PART_ROOM);

	if (at)
		packed_file__commit(form->file, TRACE_TEXT_CONSTANT(at, "\n]}\n"));
}

static void chrome_form__free(struct timeline_form *form)
{
	packed_file__free(form->file);
	free(of_form(form));
}

struct timeline_form *chrome_form__new(int fd, const struct timeline_options *options)
{
	static const struct timeline_form_ops ops = {
		.track = add_track,
		.call = add_call,
		.mark = add_mark,
		.arrow = add_arrow,
		.value = add_value,
		.span = add_span,
		.gpu = add_gpu,
		.finish = finish,
		.free = chrome_form__free,
	};
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		return NULL;
	chrome->form.ops = &ops;
	chrome->form.file = packed_file__new(fd, options->plain ? PACKED_NOT : PACKED_GZIP, NULL);
	if (!chrome->form.file) {
		free(chrome);
		return NULL;
	}
	chrome->is_kineto = options->format == TIMELINE_KINETO;
	chrome->begin_ns = options->begin_ns;
	write_head(chrome, options);
	return &chrome->form;
}
