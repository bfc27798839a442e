/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record --ring: keeps the last minutes of a recording in memory, and writes them to a file when
 * something has happened: at SIGUSR1, when its owner says so, and at the end. In memory, because
 * nothing is written then while nothing happens, however long gpuprobe runs.
 *
 * Watched processes cause files. So their number and their size are bounded, the oldest one is
 * replaced, and from one file to the next that the owner asks for it takes half the time that is
 * kept.
 */
#ifndef CLI_FLIGHT_RECORDER_H
#define CLI_FLIGHT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "record/writer.h"

struct event_base;
struct flight_recorder;

struct flight_options {
	const char *name;   /* of the files, see cli/files/numbered_files.h */
	unsigned int files; /* at most so many */
	uint64_t keep_ns;
	uint64_t max_bytes; /* of the memory, and of each file */
	bool quiet;	    /* does not say what it has written */
};

/*
 * Opens the files. `options->name` and `log` must outlive it. Returns 0 or a negative errno with a
 * message.
 */
int flight_recorder__new(const struct flight_options *options, const struct log *log,
			 struct flight_recorder **out, struct error *err);
void flight_recorder__free(struct flight_recorder *recorder); /* NULL ok */

/*
 * A writer whose chunks it keeps, with this header; the caller frees it before the recorder.
 * Returns 0 or a negative errno with a message.
 */
int flight_recorder__writer(struct flight_recorder *recorder, const struct recording_header *header,
			    struct recording_writer **out, struct error *err);

/*
 * Handles SIGUSR1 in the loop from here on. `flush` is called before a file is written, to end the
 * writer's chunk with what is known so far. Returns 0 or -ENOMEM.
 */
int flight_recorder__start(struct flight_recorder *recorder, struct event_base *loop,
			   void (*flush)(void *arg), void *arg);

/*
 * Something has happened: writes a file, at once or after a rest from the one before. `reason` is
 * a part of a line of text, escaped: "SIGUSR1". Does not call `flush`.
 */
void flight_recorder__trigger(struct flight_recorder *recorder, const char *reason);

/* Writes the last file. Returns 0 or a negative errno with a message. */
int flight_recorder__finish(struct flight_recorder *recorder, struct error *err);

/* How often a keyframe is needed, so that neither too little nor too much is kept. */
uint64_t flight_recorder__keyframe_ns(const struct flight_recorder *recorder);
uint64_t flight_recorder__keyframe_bytes(const struct flight_recorder *recorder);

/* Whether the caller should begin a keyframe because of the bytes since the latest one. */
bool flight_recorder__wants_keyframe(const struct flight_recorder *recorder);

#endif
