/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings beside the calls of `gpuprobe record --level calls`: a live model, whose session the
 * trace uses as its own. Both BPF objects attach to the same files at the same time.
 *
 * Call order: new, prepare, attach_beside, attach; then finish before the probes are detached.
 */
#ifndef CLI_RECORD_READINGS_H
#define CLI_RECORD_READINGS_H

#include "base/error.h"
#include "base/log.h"
#include "cli/commands/trace_recorder.h"
#include "cli/session/session.h"

struct record_readings;

/*
 * Creates the session. It takes late, arg and grace_ms of the hooks. `options`, which have
 * record->readings, and `log` must outlive it. `gpu_times`: COMMAND gets the library for them.
 * This and the next three functions return 0, or a negative errno with a message.
 */
int record_readings__new(const struct trace_options *options, const struct session_hooks *hooks,
			 bool gpu_times, const struct log *log, struct record_readings **out,
			 struct error *err);
void record_readings__free(struct record_readings *readings); /* detaches the probes; NULL ok */

/* The session, owned by the readings. */
struct session *record_readings__session(const struct record_readings *readings);

/*
 * Gives up privileges and loads the model's BPF object. Readings go to the recorder, which must
 * stay until the loop has ended.
 */
int record_readings__prepare(struct record_readings *readings, struct trace_recorder *recorder,
			     struct error *err);

/* See session__attach_beside; the object must outlive the readings. */
int record_readings__attach_beside(struct record_readings *readings,
				   const struct selection *selection,
				   const struct probe_programs *programs, struct error *err);

/* Attaches both. */
int record_readings__attach(struct record_readings *readings, struct error *err);

/* Makes the last reading, in place of session__settle. */
void record_readings__finish(struct record_readings *readings);

#endif
