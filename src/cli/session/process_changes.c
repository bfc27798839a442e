// SPDX-License-Identifier: BSD-2-Clause
// Looks at processes whose programs and libraries change, see process_changes.h.
#include "cli/session/process_changes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/session/child_command.h"
#include "cli/session/listener.h"
#include "cli/session/rescans.h"
#include "cli/session/stopped_parents.h"
#include "cli/session/unwatchable.h"
#include "cli/session/watch.h"
#include "probe/holds.h"
#include "target/proc.h"

#define UNWATCHABLE_NAMED 8 /* when watching the whole machine there is one line */

struct process_changes {
	struct event_base *loop;
	const struct targets *targets;
	const struct session_hooks *hooks;
	const struct log *log;
	const struct probe_programs *programs;
	struct attacher *attacher;     /* NULL: not started, or ended */
	struct child_command *command; /* NULL: none */
	struct stopped_parents *waker; /* only with a command */
	struct listener *listener;     /* only without a command; NULL: unavailable */
	struct rescans *rescans;
	struct unwatchable unwatchable;
	uint64_t missed_rescans, missed_programs;
};

static int look_at(struct process_changes *changes, const struct rescan *rescan)
{
	struct attach_failure attach_failure;
	int late;

	child_command__attaches(changes->command, true);
	late = attacher__add_process(changes->attacher, rescan->pid, rescan->scan, rescan->since_ns,
				     &attach_failure);
	child_command__attaches(changes->command, false);
	unwatchable__report(&changes->unwatchable, rescan->pid, &attach_failure, changes->log);
	return late;
}

static void report_late(const struct process_changes *changes, const struct rescan *rescan)
{
	if (changes->hooks->late)
		changes->hooks->late(rescan->pid, rescan->there_ns, changes->hooks->arg);
	if (changes->hooks->late_sharer && rescan->shares)
		changes->hooks->late_sharer(rescan->shares, rescan->there_ns, changes->hooks->arg);
}

/* New files in the process may lack probes. */
static void on_missed_rescan(const struct rescan *rescan, void *arg)
{
	struct process_changes *changes = arg;

	changes->missed_rescans++;
	report_late(changes, rescan);
}

/* Looks at a running process. */
static uint64_t on_rescan(const struct rescan *rescan, uint64_t *ready_ns, void *arg)
{
	struct process_changes *changes = arg;
	uint64_t ready;
	int late;

	if (!changes->attacher)
		return 0;
	late = look_at(changes, rescan);
	if (attacher__is_unfinished(changes->attacher, &ready))
		*ready_ns = ready;
	if (late > 0)
		report_late(changes, rescan);
	else if (late < 0 && rescan->waited)
		on_missed_rescan(rescan, changes);
	return attacher__reading_ns(changes->attacher);
}

/*
 * The guard let go a process that had loaded a CUDA library, because gpuprobe was stalled. It has
 * ended since then, so nothing tells which of its calls were seen.
 */
static void report_let_go(const struct process_changes *changes, const struct rescan *rescan)
{
	if (rescan->scan == SCAN_HELD && changes->command && !proc__exists(rescan->pid) &&
	    child_command__was_let_go(changes->command, rescan->since_ns))
		report_late(changes, rescan);
}

/* Looks at a held process at once: it waits for that. */
static void look_at_held(struct process_changes *changes, const struct rescan *rescan,
			 uint16_t stopped_above)
{
	int late;

	attacher__hurry(changes->attacher, true);
	late = look_at(changes, rescan);
	attacher__hurry(changes->attacher, false);
	if (late > 0 && child_command__was_let_go(changes->command, rescan->since_ns))
		report_late(changes, rescan);
	else
		report_let_go(changes, rescan);
	stopped_parents__letting_go(changes->waker, rescan->pid, stopped_above);
	holds__note(
		changes->programs, rescan->pid, rescan->since_ns,
		child_command__held_until(changes->command, rescan->since_ns, clock__boot_ns()));
	child_command__let_go(changes->command, bpf_map__fd(changes->programs->held), rescan->pid);
}

/*
 * The process ended before the probes of its library were attached, so nothing else may report it.
 */
static void note_missed_program(struct process_changes *changes, pid_t pid)
{
	if (!changes->missed_programs++)
		log__warn(
			changes->log,
			"process %d loaded a CUDA library and ended before the probes were in: "
			"some or all of its "
			"calls are missing; this happens to programs that end within some 20 ms "
			"and are the first "
			"to load a library: name that file with --libcuda-path or --libcudart-path",
			pid);
}

/*
 * A process that has ended meanwhile has no mappings, but it may have called functions whose probes
 * came too late.
 */
static void look_for_libraries(struct process_changes *changes, const struct mapping_event *event,
			       uint64_t there_ns)
{
	const struct rescan rescan = {.pid = event->pid,
				      .scan = SCAN_NAMED,
				      .since_ns = event->time_ns,
				      .there_ns = there_ns};
	int32_t key = event->pid;
	uint8_t state;
	bool late;

	if (changes->targets->pid_count &&
	    bpf_map_lookup_elem(bpf_map__fd(changes->programs->watched), &key, &state))
		return;
	rescans__add(changes->rescans, &rescan, clock__boot_ns());
	late = attacher__is_late(changes->attacher, event->pid, event->device, event->inode,
				 event->time_ns);
	if (late)
		report_late(changes, &rescan);
	if (event->inode && !proc__exists(event->pid) &&
	    (late || attacher__has_missed(changes->attacher, event->pid, event->device,
					  event->inode, event->time_ns)))
		note_missed_program(changes, event->pid);
}

static void on_mapped(const struct mapping_event *event, void *arg)
{
	look_for_libraries(arg, event, event->time_ns);
}

/* The lost events may be of any process. */
struct lost_since {
	struct process_changes *changes;
	uint64_t time_ns;
};

static void look_again(pid_t pid, void *arg)
{
	const struct lost_since *lost = arg;
	const struct mapping_event event = {.pid = pid, .time_ns = lost->time_ns};

	if (pid != getpid())
		look_for_libraries(lost->changes, &event, clock__boot_ns());
}

static void on_lost(uint64_t time_ns, void *arg)
{
	struct process_changes *changes = arg;
	struct lost_since lost = {.changes = changes, .time_ns = time_ns};
	struct error err = {""};

	log__info(changes->log, "too many programs started at once to track their libraries: "
				"looking at all processes");
	if (watch__each_process(changes->targets, look_again, &lost, &err))
		log__warn(changes->log, "%s", err.text);
}

static enum process_scan scan_of(const struct record_library *record)
{
	if (record->header.type == RECORD_EXEC)
		return SCAN_PROGRAM;
	if (record->header.type == RECORD_FORK)
		return SCAN_FORKED;
	return record->header.type == RECORD_LIBRARY && record->stopped ? SCAN_HELD : SCAN_NAMED;
}

/*
 * A process of COMMAND's could not be held. It would make calls before it gets its own link, so the
 * links become machine-wide.
 */
static void widen(struct process_changes *changes)
{
	if (!attacher__confines(changes->attacher))
		return;
	attacher__widen(changes->attacher);
	watch__attach_known(changes->command, changes->attacher, changes->log);
}

void process_changes__add(struct process_changes *changes, const struct record_library *record)
{
	const struct rescan rescan = {
		.pid = record->pid,
		.scan = scan_of(record),
		.since_ns = record->time_ns,
		.there_ns = record->time_ns,
		.shares = record->shares,
	};

	if (!changes->attacher) { /* detached: no process is held any more */
		report_let_go(changes, &rescan);
		return;
	}
	if (changes->command && !record->stopped)
		widen(changes);
	if (record->stopped)
		look_at_held(changes, &rescan, record->stopped_above);
	else
		rescans__add(changes->rescans, &rescan, clock__boot_ns());
}

/* --- life cycle --- */

struct process_changes *process_changes__new(struct event_base *loop, const struct targets *targets,
					     const struct session_hooks *hooks,
					     const struct log *log)
{
	struct process_changes *changes = calloc(1, sizeof(*changes));
	const struct rescans_hooks rescans = {
		.look = on_rescan, .missed = on_missed_rescan, .arg = changes};

	if (!changes)
		return NULL;
	changes->loop = loop;
	changes->targets = targets;
	changes->hooks = hooks;
	changes->log = log;
	changes->unwatchable.named = targets->command || targets->pid_count ? UNWATCHABLE_NAMED : 1;
	changes->rescans = rescans__new(loop, &rescans);
	if (changes->rescans)
		return changes;
	free(changes);
	return NULL;
}

void process_changes__free(struct process_changes *changes)
{
	if (!changes)
		return;
	listener__free(changes->listener);
	rescans__free(changes->rescans);
	free(changes);
}

/*
 * Held processes report their mappings themselves. Without the listener, libraries known by then
 * still have their probes.
 */
static void listen_to_mappings(struct process_changes *changes)
{
	const struct listener_hooks hooks = {
		.allocators = attacher__wants_tensors(changes->attacher),
		.handles = attacher__wants_handles(changes->attacher),
		.mapped = on_mapped,
		.lost = on_lost,
		.arg = changes,
	};
	struct error err = {""};

	if (changes->command || !listener__new(changes->loop, &hooks, &changes->listener, &err))
		return;
	log__warn(
		changes->log,
		"%s: gpuprobe will not notice libraries that are loaded later for the first time; "
		"name them with --libcuda-path and --libcudart-path",
		err.text);
}

void process_changes__start(struct process_changes *changes, const struct probe_programs *programs,
			    struct attacher *attacher, struct child_command *command,
			    struct stopped_parents *waker)
{
	changes->programs = programs;
	changes->attacher = attacher;
	changes->command = command;
	changes->waker = waker;
	listen_to_mappings(changes);
}

int process_changes__watch(struct process_changes *changes, struct target_processes *processes,
			   struct error *err)
{
	return watch__begin(changes->targets, changes->command, changes->programs,
			    changes->attacher, &changes->unwatchable, processes, changes->rescans,
			    changes->log, err);
}

void process_changes__settle(struct process_changes *changes)
{
	if (changes->listener)
		listener__read(changes->listener);
	rescans__end(changes->rescans);
}

/* Nothing else may report a missed look that was a process's last. */
static void report_missed(struct process_changes *changes)
{
	uint64_t count = changes->missed_rescans;

	if (changes->missed_programs > 1)
		log__warn(changes->log,
			  "%" PRIu64
			  " programs ended before the probes of their CUDA library were in",
			  changes->missed_programs);
	changes->missed_rescans = changes->missed_programs = 0;
	if (count)
		log__warn(changes->log,
			  "calls may be missing: %" PRIu64
			  " time%s a process with many mappings loaded a library or "
			  "another program, and ended, or gpuprobe did, before gpuprobe had read "
			  "them",
			  count, count == 1 ? "" : "s");
}

void process_changes__end(struct process_changes *changes)
{
	if (!changes)
		return;
	if (changes->attacher)
		unwatchable__report_rest(&changes->unwatchable, changes->log);
	report_missed(changes);
	listener__free(changes->listener);
	changes->listener = NULL;
	changes->attacher = NULL;
}
