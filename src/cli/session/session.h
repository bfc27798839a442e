/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of watching, whatever is made of it: the event loop, signals, the
 * deadline, COMMAND and what it is held for, and the probes. The monitor and
 * the tracer differ in the BPF object and in what they do with its records.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/arguments.h"
#include "model/model.h"
#include "probe/attacher.h"
#include "probe/selection.h"

struct bpf_link;
struct event_base;
struct collector;
struct session;

struct session_hooks {
	/*
	 * The process that had this pid at `time_ns` was running then what had no
	 * probes yet, or may have been, where it could not be looked at in time;
	 * those that were held are not late. Optional.
	 */
	void (*late)(pid_t pid, uint64_t time_ns, void *arg);
	/* So was one with the memory of that process. Optional. */
	void (*late_sharer)(pid_t pid, uint64_t time_ns, void *arg);
	/* Is called every second, from when probes are in. Optional. */
	void (*second)(void *arg);
	void *arg;
	/* Milliseconds that a COMMAND which was passed a signal has for its end; 0: until it ends. */
	unsigned int grace_ms;
};

/* What a session needs of the loaded BPF object. */
struct session_probes {
	const struct selection *selection;
	enum link_kind links;
	const struct probe_programs *programs; /* to outlive the session */
	struct bpf_link **exec, **mapping;     /* of what stops processes; ended before the last wake-up */
};

/*
 * Blocks and takes over SIGCHLD and the stop signals (signals.h), survives
 * SIGPIPE, and forks the process that is to become COMMAND. -ESRCH where a
 * process that was given does not exist. `targets` and `log` must outlive the
 * session; a duration of 0 (seconds) is no deadline.
 */
int session__new(const struct targets *targets, double duration, const struct session_hooks *hooks,
		 const struct log *log, struct session **out, struct error *err);

/* Detaches, lets everybody go on that was held, and ends a COMMAND that was not started. */
void session__free(struct session *session);

struct event_base *session__loop(const struct session *session);

/* Prepares for probes; none is in yet. Its hooks may be called from here on. */
int session__prepare(struct session *session, const struct session_probes *probes, struct error *err);

/* Puts the probes in. Events of the loop are only taken by session__run. */
int session__attach(struct session *session, struct error *err);

/* What the BPF programs tell of a process: its new files are probed and, if it was stopped, it goes on. */
void session__process_changed(struct session *session, const struct record_library *record);

/*
 * Starts COMMAND and runs the loop until COMMAND has ended, or all processes that were given and their descendants have, the
 * deadline has come, a signal asks for it (with COMMAND, which has got the first one, the
 * second), or session__stop. Returns 0 or a negative errno.
 */
int session__run(struct session *session, struct error *err);

/*
 * For those whose loop can stand still, since they write to whoever reads:
 * once it was called it is to be called every second; else those that are held
 * are let go, and are late.
 */
void session__beat(const struct session *session);

/* A descriptor that is readable while a signal, which may be one to end, or the deadline waits for the loop; the session's. */
int session__end_fd(const struct session *session);

/* Ends session__run. */
void session__stop(struct session *session);

/* What to exit with: 0, or that of COMMAND once it has ended. */
int session__status(const struct session *session);

/* Those of the processes that were given which are watched; owned by the session. */
struct target_processes *session__target_processes(struct session *session);

/* Looks at what those of them are in that have made no call, see cli/commands/silence.h. */
void session__look_at_silent(struct session *session, bool final);

/* The probes are in: finds calls of those that were given that began before. See cli/session/earlier.h. */
void session__find_earlier(struct session *session, enum api_mode api, struct collector *collector);

/* Before a reading: which of these are in progress still. */
void session__look_at_earlier(struct session *session, struct collector *collector);

/* See attacher__watch; 0 once the probes have been taken out for good. */
int session__watch(struct session *session, unsigned int families, struct error *err);

/* See attacher__watch_asks; as the above. */
int session__watch_asks(struct session *session, bool in, struct error *err);

/* As attacher__driver_path; malloc. */
char *session__driver_path(const struct session *session, unsigned int driver);

void session__count(const struct session *session, struct attacher_counts *counts);

/* Nothing is put off any more: processes that wait to be looked at are late. For after session__run, before the end is shown. */
void session__settle(struct session *session);

/* Takes the probes out and lets everybody go on that was held. No probe runs from here on. */
void session__detach(struct session *session);

/* After session__detach: the next stop signal (signals.h) ends gpuprobe on the spot. */
void session__release_signals(struct session *session);

#endif
