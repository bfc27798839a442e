/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings of the model as records of a recording, and back. A reading is written as the
 * difference to the one before. At a keyframe it is written whole, with all names and the layout.
 */
#ifndef RECORD_MODEL_CODEC_H
#define RECORD_MODEL_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/types.h"

/* --- writing --- */

struct model_writer;
struct pseudonyms;

/* Returns 0 or -ENOMEM. */
int model_writer__new(struct model_writer **out);
void model_writer__free(struct model_writer *writer); /* NULL is fine */

/*
 * Makes at least each `count`th reading a keyframe. Without it: each 60th. One comes earlier if the
 * readings since the latest one take as much room as that one.
 */
void model_writer__set_keyframes(struct model_writer *writer, unsigned int count);

/* Hides names from the next keyframe on. `pseudonyms` must outlive it. Call it at most once. */
void model_writer__hide_names(struct model_writer *writer, struct pseudonyms *pseudonyms);

/* Whether the next reading will be a keyframe: a reader can begin with it. */
bool model_writer__is_keyframe(const struct model_writer *writer);

/*
 * Writes a reading; slow_rows and gpu_times are filled in from the model. *bytes are valid until
 * the next call. Returns 0 or -ENOMEM: the reading is lost then, and the next one will be a
 * keyframe.
 */
int model_writer__write(struct model_writer *writer, const struct recorded_reading *reading,
			const uint8_t **bytes, size_t *length);

/* A written reading did not get into the file: the next one will be a keyframe. */
void model_writer__lost(struct model_writer *writer);

/* --- reading --- */

struct model_reader;

/* Returns 0 or -ENOMEM. */
int model_reader__new(struct model_reader **out);
void model_reader__free(struct model_reader *reader); /* NULL is fine */

/*
 * Reads one. `gap`: records before it are missing. The reading is valid until the next one is read,
 * its names and stacks until model_reader__free. Returns 0; -EAGAIN if it is a difference to one
 * that is missing; -EINVAL if it is malformed, or -ENOMEM: later ones return -EAGAIN then, up to
 * the next keyframe. After a failure *out is NULL.
 */
int model_reader__read(struct model_reader *reader, const uint8_t *bytes, size_t length, bool gap,
		       const struct recorded_reading **out);

/*
 * Keeps the latest reading, of which there is one: it stays valid. Every later one is the
 * difference to it (record/difference.h). Returns it. Call it at most once.
 */
const struct recorded_reading *model_reader__begin_here(struct model_reader *reader);

/* How many items this gpuprobe could not show so far, because it does not know their functions. */
uint64_t model_reader__left_out(const struct model_reader *reader);

#endif
