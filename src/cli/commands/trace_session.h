/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session of `gpuprobe trace` and `record --level calls`: its own, or with readings beside the
 * calls that of the live model (record_readings.h). Call the functions in this order.
 */
#ifndef CLI_TRACE_SESSION_H
#define CLI_TRACE_SESSION_H

#include "base/error.h"
#include "base/log.h"
#include "cli/commands/trace_recorder.h"
#include "cli/options/trace_options.h"
#include "cli/session/session.h"

struct record_readings;

/* Starts as all 0. */
struct trace_session {
	struct session *session;
	struct record_readings *readings; /* the session's owner; NULL: none are wanted */
};

/*
 * `options` and `log` must outlive it. `gives_library`: COMMAND gets that for GPU times. This and
 * the next three functions return 0, or a negative errno with a message.
 */
int trace_session__begin(struct trace_session *trace, const struct trace_options *options,
			 const struct session_hooks *hooks, bool gives_library,
			 const struct log *log, struct error *err);

/* Gives up privileges. Readings go to the recorder, which may be NULL if there are none. */
int trace_session__give_up(const struct trace_session *trace, enum link_kind links,
			   struct trace_recorder *recorder, const struct log *log,
			   struct error *err);

/* What the probes point to must outlive the session. */
int trace_session__prepare(const struct trace_session *trace, const struct session_probes *probes,
			   struct error *err);
int trace_session__attach(const struct trace_session *trace, struct error *err);

/* Before the probes are detached: makes the last reading, and counts what is attached. */
void trace_session__finish(const struct trace_session *trace, struct attacher_counts *attached);

void trace_session__free(struct trace_session *trace); /* detaches the probes */

#endif
