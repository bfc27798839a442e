/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the file of a recording (record/file.h). The file may be cut, damaged or hostile: all
 * lengths are checked, memory is bounded by two chunks and an index of bounded size, and a damaged
 * chunk is skipped and counted.
 */
#ifndef RECORD_READER_H
#define RECORD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/file.h"

struct recording;

struct recorded {
	uint32_t kind; /* enum recorded_kind, or one that is not known */
	bool keyframe; /* the first record of a chunk with CHUNK_KEYFRAME */
	bool gap;      /* records were lost right before this one, see recording__damage */
	uint64_t time_ns;
	const uint8_t *bytes; /* valid until the next call for the recording */
	size_t length;
};

/* A span of time whose records are lost. */
struct recording_gap {
	uint64_t from_ns, to_ns; /* to_ns is 0: up to the end */
};

#define RECORDING_GAPS_MAX 16

/* What could not be read, so far. */
struct recording_damage {
	uint64_t chunks;  /* known to be lost, by their numbers */
	uint64_t bytes;	  /* of the file that were skipped */
	uint64_t records; /* malformed ones in whole chunks, or what followed one */
	uint64_t unknown; /* chunks of unknown types, skipped */
	bool cut;	  /* the file ends within a chunk */
	bool unclosed;	  /* it has no end: gpuprobe was killed, or is still recording */
	size_t gap_count; /* all; the first RECORDING_GAPS_MAX are in `gaps` */
	struct recording_gap gaps[RECORDING_GAPS_MAX];
};

/*
 * Takes `fd` over, also on failure: a regular file open for reading. `name` is its path for
 * messages. Returns 0, or a negative errno with a message: not a recording, or a newer one.
 */
int recording__open(int fd, const char *name, struct recording **out, struct error *err);
void recording__free(struct recording *recording); /* NULL is fine */

const struct recording_header *recording__header(const struct recording *recording);

/*
 * From now on chunks that have only calls are skipped without a look at their records, and damage
 * to these records is none.
 */
void recording__leave_out_calls(struct recording *recording);

/* Times of the first and the last record; 0 and 0 if there are none. May read the whole file. */
void recording__span(struct recording *recording, uint64_t *first_ns, uint64_t *last_ns);

/*
 * Goes to the last readable keyframe that begins at or before `time_ns`; to the first chunk if
 * there is none. Returns 0 or a negative errno.
 */
int recording__seek(struct recording *recording, uint64_t time_ns);

/*
 * Reads the next record. Returns 1, 0 at the end, or a negative errno: reading failed, or memory
 * ran out.
 */
int recording__next(struct recording *recording, struct recorded *out);

/*
 * Says that the latest record is of no use, because it is malformed or refers to lost ones. The gap
 * before it then reaches up to the next record. If there was none, a gap begins at `from_ns`.
 */
void recording__lose(struct recording *recording, uint64_t from_ns);

const struct recording_damage *recording__damage(const struct recording *recording);

#endif
