/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks in a timeline of calls: when findings first held, by a recording of readings that was made
 * at the same time.
 */
#ifndef CLI_FINDING_MARKS_H
#define CLI_FINDING_MARKS_H

#include "base/error.h"
#include "base/log.h"
#include "output/timeline/timeline.h"
#include "record/file.h"

struct finding_marks;

/*
 * Opens the recording of readings at `path` with the permissions of gpuprobe's caller. `calls` is
 * the header of the recording of calls: both must be of one machine, and of one boot of it, because
 * times count from there. `path` and `log` must outlive it. Returns 0 or a negative errno with a
 * message.
 */
int finding_marks__new(const char *path, const struct recording_header *calls,
		       const struct log *log, struct finding_marks **out, struct error *err);
void finding_marks__free(struct finding_marks *marks); /* NULL is fine */

/*
 * Draws each finding that appeared from `from_ns` on and up to `to_ns` (CLOCK_BOOTTIME; 0: no
 * limit), after the timeline's lines. Warns if the recordings have no time in common. Returns 0 or
 * a negative errno with a message.
 */
int finding_marks__draw(struct finding_marks *marks, uint64_t from_ns, uint64_t to_ns,
			struct timeline *timeline, struct error *err);

#endif
