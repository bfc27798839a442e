/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile of a process in JSON (gpuprobe/profile.h): its members have the names
 * of the fields there. Each function writes keys and values into the object that is open.
 */
#ifndef OUTPUT_JSON_PROFILE_H
#define OUTPUT_JSON_PROFILE_H

#include "base/json.h"
#include "model/profile.h"
#include "model/model.h"

/* The keys "all_threads", "threads" and "unlisted_threads". */
void json_threads__write(struct json *j, const struct process *p, uint64_t began_ns, uint64_t now_ns);

/* The key "functions": calls and durations by row of the API; `p` for their errors. */
void json_durations__write(struct json *j, const struct process *p);

/* The key "profile": what is summed up over a process's threads. */
void json_totals__write(struct json *j, const struct process_profile *totals);

/* The keys "allocation_sizes", "copy_sizes", "repeated_copies", "ignored_errors" and "mapped_file_copies". */
void json_sizes__write(struct json *j, const struct profile *profile);

/* The key "start" (model/start.h); `began_ns`: when the probes were in. */
void json_start__write(struct json *j, const struct process *p, uint64_t began_ns);

/* The key "steps": of all that was seen so far; null where nothing repeats, as far as is known (model/steps.h). */
void json_steps__write(struct json *j, const struct process *p);

/* Calls and nanoseconds as an object under `key`. */
void json_profile__key_totals(struct json *j, const char *key, const struct time_totals *totals);

#endif
