/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings of a live model in a recording: how they are made, and how they are written. `gpuprobe
 * record` has them alone, or beside calls.
 */
#ifndef CLI_READING_RECORDER_H
#define CLI_READING_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options/trace_options.h"
#include "cli/session/flight_recorder.h"
#include "cli/session/live_model.h"
#include "record/pseudonyms.h"
#include "record/writer.h"

struct reading_recorder;

struct reading_recorder_options {
	const struct reading_choice *choice;
	struct recording_writer *file;
	struct flight_recorder *flight; /* the owner of `file`; NULL: all goes to one file */
	struct pseudonyms *pseudonyms;	/* NULL: names are themselves */
};

/* The live model whose readings are recorded; the caller adds what is not about readings. */
struct live_model_options reading_recorder__live(const struct reading_choice *choice,
						 const struct targets *targets, double duration);

/* NEEDS_* that the readings of that model meet. */
unsigned int reading_recorder__needs(const struct reading_choice *choice);

/* What the options point to must outlive it. Returns 0 or -ENOMEM. */
int reading_recorder__new(const struct reading_recorder_options *options,
			  struct reading_recorder **out);
void reading_recorder__free(struct reading_recorder *recorder); /* NULL is fine */

/* The probes were attached at this time. */
void reading_recorder__begin(struct reading_recorder *recorder, uint64_t began_ns);

/* Makes the next reading a keyframe. */
void reading_recorder__want_keyframe(struct reading_recorder *recorder);

/* Whether the next one is a keyframe. */
bool reading_recorder__is_keyframe(const struct reading_recorder *recorder);

/*
 * Writes a reading as a chunk: SIGKILL costs what came after the latest one. `time_ns` is its time
 * in the file, model->now_ns or later. Returns 0, -ENOMEM or -E2BIG if only this one is lost, or as
 * recording_writer__end_chunk: then all later ones are lost.
 */
int reading_recorder__write(struct reading_recorder *recorder, const struct model *model,
			    uint64_t time_ns);

/* Readings written and lost so far. */
uint64_t reading_recorder__written(const struct reading_recorder *recorder);
uint64_t reading_recorder__lost(const struct reading_recorder *recorder);

#endif
