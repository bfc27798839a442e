/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recording to which `gpuprobe record --level calls` writes the lines of a trace, and readings
 * of a live model.
 */
#ifndef CLI_TRACE_RECORDER_H
#define CLI_TRACE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/options/trace_options.h"
#include "output/trace/summary.h"
#include "trace/stream.h"

struct trace_recorder;

struct event_base;
struct model;

/* Makes a reading and passes it to trace_recorder__reading. */
struct reading_source {
	void (*take)(void *arg);
	void *arg;
};

/*
 * Takes `fd` over, also on failure; -1 with --ring, which opens files itself. `begin_ns` is the
 * time 0 of the lines. `log` must outlive it.
 */
int trace_recorder__new(int fd, const struct trace_options *options, uint64_t begin_ns,
			const struct log *log, struct trace_recorder **out, struct error *err);
void trace_recorder__free(struct trace_recorder *recorder); /* NULL is fine */

/* With --ring: handles SIGUSR1 from here on. 0 or -ENOMEM. */
int trace_recorder__start(struct trace_recorder *recorder, struct event_base *loop);

/*
 * Adds a line. Returns 0 or a negative errno, which all further ones return as well: why writing
 * failed, or RECORDING_FULL if the file has its maximum size.
 */
int trace_recorder__line(struct trace_recorder *recorder, const struct trace_line *line);

/*
 * With options->record->readings.beside, and before the first line: the probes were attached at
 * `began_ns`. The source is asked before the first line, and before a file of --ring is written.
 */
void trace_recorder__begin(struct trace_recorder *recorder, const struct reading_source *source,
			   uint64_t began_ns);

/*
 * Adds a reading. The model stays until the next one. Returns 0, also if only this reading is lost,
 * or as trace_recorder__line, whose next call returns it too.
 */
int trace_recorder__reading(struct trace_recorder *recorder, const struct model *model);

/* With --ring: something has happened, see flight_recorder__trigger. */
void trace_recorder__trigger(struct trace_recorder *recorder, const char *reason);

/* Readings written and lost so far. */
uint64_t trace_recorder__readings(const struct trace_recorder *recorder);
uint64_t trace_recorder__lost_readings(const struct trace_recorder *recorder);

/* Writes what is older than a second. Returns as trace_recorder__line. */
int trace_recorder__flush(struct trace_recorder *recorder);

/*
 * Writes the rest, with the counts of the trace. Returns 0, or a negative errno if the file is not
 * complete because writing failed; that it is full is no failure.
 */
int trace_recorder__finish(struct trace_recorder *recorder, const struct trace_missing *missing,
			   const struct trace_counts *counts);

/* Lines that have no place in the file because it is full, or writing failed. */
uint64_t trace_recorder__dropped(const struct trace_recorder *recorder);

/* Whether a reading found the file full, perhaps before any call did. */
bool trace_recorder__is_full(const struct trace_recorder *recorder);

uint64_t trace_recorder__bytes(const struct trace_recorder *recorder); /* of the file */

#endif
