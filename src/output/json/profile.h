/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile of a process in JSON (gpuprobe/profile.h). Members have the names of the fields
 * there. Each function writes keys and values into the object that is open.
 */
#ifndef OUTPUT_JSON_PROFILE_H
#define OUTPUT_JSON_PROFILE_H

#include "base/json.h"
#include "model/profile.h"
#include "model/model.h"

/* Writes the keys "all_threads", "threads" and "unlisted_threads". */
void json_threads__write(struct json *j, const struct process *p, uint64_t began_ns,
			 uint64_t now_ns);

/*
 * Writes the key "functions": calls and durations by row of the API; `p` is needed for the
 * functions' errors.
 */
void json_durations__write(struct json *j, const struct process *p);

/* Writes the key "profile": sums over a process's threads. */
void json_totals__write(struct json *j, const struct process_profile *totals);

/*
 * Writes the keys "allocation_sizes", "copy_sizes", "repeated_copies", "ignored_errors" and
 * "mapped_file_copies".
 */
void json_sizes__write(struct json *j, const struct profile *profile);

/* Writes the key "start" (model/start.h); `began_ns` is when the probes were attached. */
void json_start__write(struct json *j, const struct process *p, uint64_t began_ns);

/*
 * Writes the key "steps" for the whole time so far; null if no repetition is known (model/steps.h).
 */
void json_steps__write(struct json *j, const struct process *p);

/*
 * Writes the key "steady": what the process did in its steady time (model/steady.h), by function
 * and kind of copy; null if it is not known to be steady.
 */
void json_steady__write(struct json *j, const struct process *p, uint64_t now_ns);

/* Writes calls and nanoseconds as an object under `key`. */
void json_profile__key_totals(struct json *j, const char *key, const struct time_totals *totals);

#endif
