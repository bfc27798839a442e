/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of watching, independent of its purpose: the event loop, signals, the deadline, COMMAND
 * and the reasons to hold it, and the probes. The monitor and the tracer differ in the BPF object
 * and in the handling of its records.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/targets.h"
#include "model/model.h"
#include "probe/attacher.h"
#include "probe/selection.h"

struct bpf_link;
struct event_base;
struct collector;
struct session;

struct session_hooks {
	/*
	 * The process that had this pid at `time_ns` was running code without probes, or may have
	 * been, if it could not be looked at in time. Held processes are not late. Optional.
	 */
	void (*late)(pid_t pid, uint64_t time_ns, void *arg);
	/* The same for a process that shares that process's memory. Optional. */
	void (*late_sharer)(pid_t pid, uint64_t time_ns, void *arg);
	/* Called every second once the probes are attached. Optional. */
	void (*second)(void *arg);
	/* As attacher__tell_nccl. Optional. */
	attacher_nccl_fn nccl;
	void *arg;
	/* Milliseconds that COMMAND has to end after a signal was passed on to it; 0: no limit. */
	unsigned int grace_ms;
};

/* The parts of the loaded BPF object that a session needs. */
struct session_probes {
	const struct selection *selection;
	enum link_kind links;
	bool network;			       /* gpuprobe will connect to other machines */
	const struct probe_programs *programs; /* must outlive the session */
	/* links of the programs that stop processes; ended before the last wake-up */
	struct bpf_link **exec, **mapping;
};

/*
 * Blocks and handles SIGCHLD and the stop signals (signals.h), survives SIGPIPE, and forks the
 * process that will become COMMAND. Returns 0 or a negative errno; -ESRCH if a target process does
 * not exist. `targets` and `log` must outlive the session. `duration` is in seconds; 0: no
 * deadline.
 */
int session__new(const struct targets *targets, double duration, const struct session_hooks *hooks,
		 const struct log *log, struct session **out, struct error *err);

/* Detaches, resumes all held processes, and ends a COMMAND that was not started. */
void session__free(struct session *session);

struct event_base *session__loop(const struct session *session);

/* Prepares for probes; none is attached yet. The hooks may be called from here on. */
int session__prepare(struct session *session, const struct session_probes *probes,
		     struct error *err);

/*
 * From now on the programs of another BPF object are attached beside the session's, see
 * attacher__set_beside. Their object does not hold processes. Call it between prepare and attach.
 * Returns 0 or a negative errno with a message.
 */
int session__attach_beside(struct session *session, const struct selection *selection,
			   const struct probe_programs *programs, struct error *err);

/* How long the process was held between the two times (CLOCK_BOOTTIME). */
uint64_t session__held_ns(const struct session *session, pid_t pid, uint64_t from_ns,
			  uint64_t to_ns);

/* Attaches the probes. Only session__run handles events of the loop. */
int session__attach(struct session *session, struct error *err);

/* How long a file that no process maps keeps its probes. */
uint64_t session__unused_ns(const struct session *session);

/* Handles a BPF record about a process: probes its new files and, if it was stopped, resumes it. */
void session__process_changed(struct session *session, const struct record_library *record);

/*
 * Starts COMMAND and runs the loop. It ends when COMMAND, or all target processes with their
 * descendants, have ended, at the deadline, by a signal, or by session__stop. With COMMAND the
 * first signal is passed on to it, and the second one ends the loop. Returns 0 or a negative errno.
 */
int session__run(struct session *session, struct error *err);

/*
 * Watchdog for callers that may block on output. After the first call, call it every second;
 * otherwise held processes are resumed and marked late.
 */
void session__beat(const struct session *session);

/*
 * A descriptor that is readable while the deadline or a signal, possibly one that ends gpuprobe,
 * waits for the loop; owned by the session.
 */
int session__end_fd(const struct session *session);

/* Ends session__run. */
void session__stop(struct session *session);

/* The exit status: 0, or COMMAND's once it has ended. */
int session__status(const struct session *session);

/* The target processes that are watched; owned by the session. */
struct target_processes *session__target_processes(struct session *session);

/* Looks at what the target processes without a call are doing, see cli/commands/silence.h. */
void session__look_at_silent(struct session *session, bool final);

/*
 * Finds calls of the target processes that began earlier. Called once the probes are attached. See
 * cli/session/earlier.h.
 */
void session__find_earlier(struct session *session, enum api_mode api, struct collector *collector);

/* Looks, before a reading, which of these calls are still in progress. */
void session__look_at_earlier(struct session *session, struct collector *collector);

/* See attacher__watch. Returns 0 once the probes have been detached for good. */
int session__watch(struct session *session, unsigned int families, struct error *err);

/* See attacher__watch_asks. Returns 0 as session__watch does. */
int session__watch_asks(struct session *session, bool in, struct error *err);

/* See attacher__has_exhaustion; false once the probes have been detached for good. */
bool session__has_exhaustion(const struct session *session, pid_t pid);

/* As attacher__driver_path; the caller frees the result. */
char *session__driver_path(const struct session *session, unsigned int driver);

void session__count(const struct session *session, struct attacher_counts *counts);

/* The same of the programs beside the session's. */
void session__count_beside(const struct session *session, struct attacher_counts *counts);

/*
 * Ends all postponed looks: processes that wait to be looked at are late. Called after
 * session__run, before the final output.
 */
void session__settle(struct session *session);

/* Detaches the probes and resumes all held processes. No probe runs from here on. */
void session__detach(struct session *session);

/* Call it after session__detach: the next stop signal (signals.h) ends gpuprobe at once. */
void session__release_signals(struct session *session);

#endif
