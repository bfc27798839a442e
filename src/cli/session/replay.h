/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings of the model from a recording, one after another, in place of a live model
 * (cli/session/live_run.h).
 */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/recording_options.h"
#include "record/file.h"
#include "record/types.h"

struct replay;

/*
 * Opens the recording with the permissions of gpuprobe's caller, and reads its first reading.
 * `choice` and `log` must outlive it. Times of the choice count from where the reports' time
 * begins; without from_ns the first reading is there however early to_ns is. With from_ns all are
 * what happened since the latest one that is no later than that (record/difference.h). Returns 0,
 * or a negative errno with a message: also if there is no reading.
 */
int replay__new(const struct recording_choice *choice, const struct log *log, struct replay **out,
		struct error *err);
void replay__free(struct replay *replay); /* NULL is fine */

/* The current reading. Valid until replay__next; its names and stacks until replay__free. */
const struct recorded_reading *replay__reading(const struct replay *replay);

/* Facts about the recording: the machine, and how it was made. */
const struct recording_header *replay__header(const struct replay *replay);

/* Shows only these sections (enum section) of all readings. */
void replay__select(struct replay *replay, unsigned int sections);

/* Whether there is none after it, up to choice->to_ns. */
bool replay__is_last(const struct replay *replay);

/*
 * Goes to the next reading, of which there is one. Those that cannot be read are skipped, so that
 * the current one may stay and be the last. Returns 0 or a negative errno with a message.
 */
int replay__next(struct replay *replay, struct error *err);

/*
 * Reads the rest of the recording once, for its times, and warns of what is missing there. From
 * then on replay__go leads to any of the readings from the current one on, which stays the current
 * one; those that refer to missing ones are not listed. At most REPLAY_LISTED are listed. Returns 0
 * or a negative errno with a message.
 */
int replay__list(struct replay *replay, struct error *err);

#define REPLAY_LISTED (1u << 22)

/* The times of the listed readings, CLOCK_BOOTTIME, in order; at least one. */
const uint64_t *replay__times(const struct replay *replay, size_t *count);

/*
 * Goes to the listed reading with that index. If it cannot be read, that is another one near by.
 * Returns 0 or a negative errno with a message.
 */
int replay__go(struct replay *replay, size_t index, struct error *err);

/* Warns of what is missing in the recording, as far as it was read. */
void replay__warn(const struct replay *replay);

#endif
