// SPDX-License-Identifier: BSD-2-Clause
// A session of watching, see session.h.
#include "cli/session/session.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <event2/event.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/heap.h"
#include "cli/options/arguments.h"
#include "cli/options/targets.h"
#include "cli/session/child_command.h"
#include "cli/session/earlier.h"
#include "cli/session/target_exit.h"
#include "cli/session/privileges.h"
#include "cli/session/process_changes.h"
#include "cli/session/stop_events.h"
#include "cli/commands/silence.h"
#include "cli/session/stopped_parents.h"
#include "cli/session/watch.h"
#include "privilege/invoker.h"
#include "probe/holds.h"
#include "target/proc.h"

/* far longer than a BPF program runs; used if the kernel has no such barrier */
#define PROGRAM_US 20000
#define TIMERS 128 /* timers at a time; connections use half of them */
/* long enough that a program that is started again and again is seen from its start */
#define UNUSED_S 30

struct session {
	const struct targets *targets;
	double duration;
	struct session_hooks hooks;
	const struct log *log;
	struct event_base *loop;
	struct stop_events *stop_events;
	struct event *second;
	struct child_command *command;
	struct stopped_parents *waker; /* only with a command */
	struct process_changes *changes;
	struct target_exit *exits; /* with target processes whose end ends the session */
	struct session_probes probes;
	struct attacher *attacher;
	struct target_processes target_processes;
	/* NULL without memory: then nothing is reported about what they are doing. */
	struct looker *looker;
	struct silence *silence;
	struct earlier_looks *earlier;
	uint64_t gave_back_ns; /* when memory was last given back */
	uint64_t unused_ns;    /* how long a file that nobody maps keeps its probes */
};

/* --- events --- */

static void on_all_ended(void *arg)
{
	session__stop(arg);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
	struct session *session = arg;

	(void)fd;
	(void)what;
	if (session->attacher) {
		attacher__release_unused(session->attacher, session->unused_ns, clock__boot_ns());
		attacher__finish_sharing(session->attacher, clock__boot_ns());
	}
	if (session->hooks.second)
		session->hooks.second(session->hooks.arg);
	heap__give_back(&session->gave_back_ns, clock__boot_ns());
}

/* --- setting up --- */

static int make_events(struct session *session, struct error *err)
{
	const struct timeval second = {.tv_sec = 1};
	char **command = session->targets->command;
	int ret = stop_events__start(session->stop_events, session->command,
				     command ? command[0] : NULL, err);

	if (ret)
		return ret;
	session->second = event_new(session->loop, -1, EV_PERSIST, on_second, session);
	if (!session->second || event_add(session->second, &second))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

static void on_nothing(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/*
 * Reserves memory, so that no timer fails without memory once the loop runs: libevent keeps the
 * room that these timers took.
 */
static int reserve_timers(struct event_base *loop)
{
	const struct timeval late = {.tv_sec = 3600};
	struct event *timers[TIMERS];
	int ret = 0, count = 0;

	while (count < TIMERS && !ret) {
		timers[count] = evtimer_new(loop, on_nothing, NULL);
		ret = timers[count] ? evtimer_add(timers[count++], &late) : -1;
	}
	while (count)
		event_free(timers[--count]);
	return ret;
}

/* Lets tests shorten the half minute. */
static int read_unused(struct session *session, struct error *err)
{
	const char *text = getenv("GPUPROBE_UNUSED_SECONDS");
	double seconds = UNUSED_S;
	int ret = 0;

	if (text && *text)
		ret = arguments__seconds("GPUPROBE_UNUSED_SECONDS", text, 0.1, &seconds, err);
	session->unused_ns = (uint64_t)(seconds * NS_PER_S);
	return ret;
}

static int set_up(struct session *session, struct error *err)
{
	const struct targets *targets = session->targets;
	int ret;

	session->loop = event_base_new();
	if (!session->loop || reserve_timers(session->loop))
		return error__set(err, -ENOMEM, "cannot make an event loop: out of memory");
	session->changes =
		process_changes__new(session->loop, targets, &session->hooks, session->log);
	if (!session->changes)
		return error__set(err, -ENOMEM, "out of memory");
	ret = read_unused(session, err);
	if (!ret)
		ret = proc__check_proc(err);
	if (!ret)
		ret = clock__check(err);
	if (!ret)
		ret = stop_events__new(session->loop, session->hooks.grace_ms, session->log,
				       &session->stop_events, err);
	if (!ret)
		ret = watch__check_pids(targets->pids, targets->pid_count, err);
	if (!ret)
		ret = watch__refuse_kernel(targets->pids, targets->pid_count, err);
	if (!ret && targets->command)
		ret = invoker__check(err);
	if (!ret && targets->command)
		ret = child_command__new(targets->command, &session->command, err);
	/* Raised after the fork: COMMAND keeps the limits that gpuprobe was started with. */
	if (!ret)
		descriptors__raise_limit();
	return ret;
}

int session__new(const struct targets *targets, double duration, const struct session_hooks *hooks,
		 const struct log *log, struct session **out, struct error *err)
{
	struct session *session = calloc(1, sizeof(*session));
	int ret;

	if (!session)
		return error__set(err, -ENOMEM, "out of memory");
	session->targets = targets;
	session->target_processes.processes =
		calloc(targets->pid_count + 1, sizeof(*session->target_processes.processes));
	session->duration = duration;
	session->hooks = *hooks;
	session->log = log;
	session->looker = looker__new(log);
	session->silence = silence__new(session->looker);
	session->earlier = earlier_looks__new(session->looker);
	ret = session->target_processes.processes ? set_up(session, err) :
						    error__set(err, -ENOMEM, "out of memory");
	if (ret) {
		session__free(session);
		return ret;
	}
	*out = session;
	return 0;
}

int session__prepare(struct session *session, const struct session_probes *probes,
		     struct error *err)
{
	const struct probe_programs *programs = probes->programs;
	int ret = 0;

	log__info(session->log, "the kernel has the BPF programs");
	session->probes = *probes;
	if (session->command)
		ret = stopped_parents__new(session->loop, session->command,
					   bpf_map__fd(programs->watched),
					   bpf_map__fd(programs->held), &session->waker, err);
	/* Before any probe: the guard's open descriptors must not keep one in place. */
	if (!ret && session->command)
		ret = child_command__guard(session->command, bpf_map__fd(programs->held), err);
	if (!ret)
		ret = attacher__new(probes->selection, probes->links, programs, session->log,
				    &session->attacher, err);
	if (!ret && session->hooks.nccl)
		attacher__tell_nccl(session->attacher, session->hooks.nccl, session->hooks.arg);
	if (!ret)
		process_changes__start(session->changes, programs, session->attacher,
				       session->command, session->waker);
	if (!ret)
		ret = privileges__confine(probes->links, probes->network, err);
	return ret;
}

/* Messages about files and processes come from the session's own attacher. */
int session__attach_beside(struct session *session, const struct selection *selection,
			   const struct probe_programs *programs, struct error *err)
{
	struct attacher *beside;
	int ret = attacher__new(selection, session->probes.links, programs, NULL, &beside, err);

	if (!ret)
		attacher__set_beside(session->attacher, beside);
	return ret;
}

uint64_t session__held_ns(const struct session *session, pid_t pid, uint64_t from_ns,
			  uint64_t to_ns)
{
	return session->command ? holds__of_process(session->probes.programs, pid, from_ns, to_ns) :
				  0;
}

static void report_attached(const struct session *session)
{
	struct attacher_counts counts;
	char whom[64] = "";
	pid_t only = attacher__only_process(session->attacher);
	size_t sites = 0;

	attacher__count(session->attacher, &counts);
	if (only)
		snprintf(whom, sizeof(whom), ", in process %d only", only);
	else if (counts.libraries)
		snprintf(whom, sizeof(whom), ", for all processes of the machine");
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		sites += counts.sites[layer];
	log__info(session->log, "the probes are in: %zu functions of %zu libraries%s", sites,
		  counts.libraries, whom);
}

int session__attach(struct session *session, struct error *err)
{
	const struct probe_programs *programs = session->probes.programs;
	int ret = make_events(session, err);

	if (!ret)
		ret = process_changes__watch(session->changes, &session->target_processes, err);
	if (!ret)
		report_attached(session);
	if (!ret && session->targets->pid_count)
		ret = target_exit__new(session->loop, session->targets,
				       bpf_map__fd(programs->watched), on_all_ended, session,
				       &session->exits, err);
	/* Attaching takes seconds on a busy machine: the user did not ask for these. */
	if (!ret && session->duration > 0)
		ret = stop_events__end_after(session->stop_events, session->duration, err);
	return ret;
}

/* --- running --- */

void session__process_changed(struct session *session, const struct record_library *record)
{
	process_changes__add(session->changes, record);
}

uint64_t session__unused_ns(const struct session *session)
{
	return session->unused_ns;
}

struct event_base *session__loop(const struct session *session)
{
	return session->loop;
}

int session__run(struct session *session, struct error *err)
{
	int ret = session->command ? child_command__start(session->command, err) : 0;

	if (!ret)
		event_base_dispatch(session->loop);
	return ret;
}

int session__end_fd(const struct session *session)
{
	return stop_events__fd(session->stop_events);
}

void session__beat(const struct session *session)
{
	if (session->command)
		child_command__beat(session->command);
}

void session__stop(struct session *session)
{
	event_base_loopbreak(session->loop);
}

int session__status(const struct session *session)
{
	return stop_events__status(session->stop_events);
}

struct target_processes *session__target_processes(struct session *session)
{
	return &session->target_processes;
}

void session__look_at_silent(struct session *session, bool final)
{
	silence__look(session->silence, &session->target_processes, final);
}

void session__find_earlier(struct session *session, enum api_mode api, struct collector *collector)
{
	earlier_looks__begin(session->earlier, session->targets->pids, session->targets->pid_count,
			     api, collector);
}

void session__look_at_earlier(struct session *session, struct collector *collector)
{
	earlier_looks__look(session->earlier, collector__earlier(collector),
			    collector__model(collector)->final);
}

int session__watch(struct session *session, unsigned int families, struct error *err)
{
	return session->attacher ? attacher__watch(session->attacher, families, err) : 0;
}

int session__watch_asks(struct session *session, bool in, struct error *err)
{
	return session->attacher ? attacher__watch_asks(session->attacher, in, err) : 0;
}

void session__count(const struct session *session, struct attacher_counts *counts)
{
	attacher__count(session->attacher, counts);
}

void session__count_beside(const struct session *session, struct attacher_counts *counts)
{
	attacher__count_beside(session->attacher, counts);
}

bool session__has_exhaustion(const struct session *session, pid_t pid)
{
	return session->attacher && attacher__has_exhaustion(session->attacher, pid);
}

char *session__driver_path(const struct session *session, unsigned int driver)
{
	const char *path = attacher__driver_path(session->attacher, driver);

	return path ? strdup(path) : NULL;
}

/* --- tearing down --- */

void session__settle(struct session *session)
{
	process_changes__settle(session->changes);
}

static void end_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

/*
 * Waits for programs that are running on other CPUs while their links end: they may still stop
 * their process. The barrier waits for RCU's readers.
 */
static void wait_for_running_programs(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(PROGRAM_US);
}

void session__detach(struct session *session)
{
	process_changes__end(session->changes);
	attacher__free(session->attacher);
	session->attacher = NULL;
	if (!session->command || !session->probes.programs)
		return;
	end_link(session->probes.exec);
	end_link(session->probes.mapping);
	wait_for_running_programs(); /* from here on no process is stopped */
	child_command__wake_held(session->command, bpf_map__fd(session->probes.programs->held));
}

void session__release_signals(struct session *session)
{
	(void)session;
	stop_events__release_signals();
}

void session__free(struct session *session)
{
	if (!session)
		return;
	session__detach(session);
	child_command__free(session->command);
	stopped_parents__free(session->waker);
	target_exit__free(session->exits);
	process_changes__free(session->changes);
	stop_events__free(session->stop_events);
	if (session->second)
		event_free(session->second);
	if (session->loop)
		event_base_free(session->loop);
	earlier_looks__free(session->earlier);
	silence__free(session->silence);
	looker__free(session->looker);
	free(session->target_processes.processes);
	free(session);
}
