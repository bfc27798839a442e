// SPDX-License-Identifier: BSD-2-Clause
// A session of watching, see session.h.
#include "cli/session/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/heap.h"
#include "cli/options/arguments.h"
#include "cli/session/child_command.h"
#include "cli/session/earlier.h"
#include "cli/session/target_exit.h"
#include "cli/session/listener.h"
#include "cli/session/privileges.h"
#include "cli/session/unwatchable.h"
#include "cli/session/rescans.h"
#include "cli/commands/silence.h"
#include "cli/session/signals.h"
#include "cli/session/stopped_parents.h"
#include "cli/session/watch.h"
#include "privilege/invoker.h"
#include "probe/holds.h"
#include "target/proc.h"

/* far longer than a BPF program runs; used if the kernel has no such barrier */
#define PROGRAM_US 20000
#define REFUSALS_NAMED 8 /* when watching the whole machine there is one line */
#define TIMERS 128	 /* timers at a time; connections use half of them */
/* long enough that a program that is started again and again is seen from its start */
#define UNUSED_S 30

struct session {
	const struct targets *targets;
	double duration;
	struct session_hooks hooks;
	const struct log *log;
	struct event_base *loop;
	struct event *signals, *deadline, *second;
	struct child_command *command;
	struct stopped_parents *waker; /* only with a command */
	struct listener *listener;     /* only without a command; NULL: unavailable */
	struct rescans *rescans;
	uint64_t missed_rescans, missed_programs;
	struct target_exit *exits; /* with target processes whose end ends the session */
	struct session_probes probes;
	struct attacher *attacher;
	struct unwatchable refusals;
	struct target_processes asked;
	/* NULL without memory: then nothing is reported about what they are doing. */
	struct looker *looker;
	struct silence *silence;
	struct earlier_looks *earlier;
	uint64_t gave_back_ns; /* when memory was last given back */
	uint64_t unused_ns;    /* how long a file that nobody maps keeps its probes */
	int signal_fd;
	int timer_fd; /* timer of the deadline */
	int end_fd;   /* an epoll of signals and timer */
	int status;   /* exit status */
	bool interrupted;
};

/* --- events --- */

/* gpuprobe ends before COMMAND, which was sent a signal to end. */
static void end_without_command(struct session *session)
{
	if (!child_command__ended(session->command, &session->status))
		log__warn(session->log, "%s (%d) has not ended: it keeps running",
			  session->targets->command[0], child_command__pid(session->command));
	session__stop(session);
}

static int set_deadline(const struct session *session, double seconds)
{
	double whole = floor(seconds);
	struct itimerspec at = {
		.it_value = {.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e9)}};

	if (!at.it_value.tv_sec && !at.it_value.tv_nsec)
		at.it_value.tv_nsec = 1; /* 0 would disarm the timer */
	return timerfd_settime(session->timer_fd, 0, &at, NULL) ? -errno : 0;
}

/* The deadline of the duration, or of COMMAND's grace time. */
static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct session *session = arg;
	uint64_t times;

	(void)what;
	if (read(fd, &times, sizeof(times)) != sizeof(times))
		return; /* the timer was set again */
	if (session->interrupted)
		end_without_command(session);
	else
		session__stop(session);
}

static void on_all_ended(void *arg)
{
	session__stop(arg);
}

/* Ctrl-C on the terminal reaches COMMAND as well; a signal sent only to gpuprobe is passed on. */
static void on_stop_signal(struct session *session, const struct signalfd_siginfo *info)
{
	if (!session->command) {
		session__stop(session);
		return;
	}
	if (session->interrupted) {
		end_without_command(session);
		return;
	}
	session->interrupted = true;
	if (info->ssi_code == SI_USER || info->ssi_signo != SIGINT)
		child_command__signal(session->command, (int)info->ssi_signo);
	if (session->hooks.grace_ms)
		set_deadline(session, session->hooks.grace_ms / 1000.0);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct session *session = arg;
	struct signalfd_siginfo info;

	(void)what;
	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			on_stop_signal(session, &info);
		else if (session->command &&
			 child_command__ended(session->command, &session->status))
			session__stop(session);
	}
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

static int look_at(struct session *session, const struct rescan *rescan)
{
	struct attach_failure attach_failure;
	int late = attacher__add_process(session->attacher, rescan->pid, rescan->scan,
					 rescan->since_ns, &attach_failure);

	unwatchable__report(&session->refusals, rescan->pid, &attach_failure, session->log);
	return late;
}

static void report_late(const struct session *session, const struct rescan *rescan)
{
	if (session->hooks.late)
		session->hooks.late(rescan->pid, rescan->there_ns, session->hooks.arg);
	if (session->hooks.late_sharer && rescan->shares)
		session->hooks.late_sharer(rescan->shares, rescan->there_ns, session->hooks.arg);
}

/* New files in the process may lack probes. */
static void on_missed_rescan(const struct rescan *rescan, void *arg)
{
	struct session *session = arg;

	session->missed_rescans++;
	report_late(session, rescan);
}

/* Looks at a running process. */
static uint64_t on_rescan(const struct rescan *rescan, uint64_t *ready_ns, void *arg)
{
	struct session *session = arg;
	uint64_t ready;
	int late;

	if (!session->attacher)
		return 0;
	late = look_at(session, rescan);
	if (attacher__is_unfinished(session->attacher, &ready))
		*ready_ns = ready;
	if (late > 0)
		report_late(session, rescan);
	else if (late < 0 && rescan->waited)
		on_missed_rescan(rescan, session);
	return attacher__reading_ns(session->attacher);
}

/* Looks at a held process at once: it waits for that. */
static void look_at_held(struct session *session, const struct rescan *rescan,
			 uint16_t stopped_above)
{
	int late;

	attacher__hurry(session->attacher, true);
	late = look_at(session, rescan);
	attacher__hurry(session->attacher, false);
	if (late > 0 && child_command__was_let_go(session->command, rescan->since_ns))
		report_late(session, rescan);
	stopped_parents__letting_go(session->waker, rescan->pid, stopped_above);
	holds__note(
		session->probes.programs, rescan->pid, rescan->since_ns,
		child_command__held_until(session->command, rescan->since_ns, clock__boot_ns()));
	child_command__let_go(session->command, bpf_map__fd(session->probes.programs->held),
			      rescan->pid);
}

/*
 * The process ended before the probes of its library were attached, so nothing else may report it.
 */
static void note_missed_program(struct session *session, pid_t pid)
{
	if (!session->missed_programs++)
		log__warn(
			session->log,
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
static void look_for_libraries(struct session *session, const struct mapping_event *event,
			       uint64_t there_ns)
{
	const struct rescan rescan = {.pid = event->pid,
				      .scan = SCAN_NAMED,
				      .since_ns = event->time_ns,
				      .there_ns = there_ns};
	int32_t key = event->pid;
	uint8_t state;
	bool late;

	if (session->targets->pid_count &&
	    bpf_map_lookup_elem(bpf_map__fd(session->probes.programs->watched), &key, &state))
		return;
	rescans__add(session->rescans, &rescan, clock__boot_ns());
	late = attacher__is_late(session->attacher, event->pid, event->device, event->inode,
				 event->time_ns);
	if (late)
		report_late(session, &rescan);
	if (event->inode && !proc__exists(event->pid) &&
	    (late || attacher__has_missed(session->attacher, event->pid, event->device,
					  event->inode, event->time_ns)))
		note_missed_program(session, event->pid);
}

static void on_mapped(const struct mapping_event *event, void *arg)
{
	look_for_libraries(arg, event, event->time_ns);
}

/* The lost events may be of any process. */
struct lost_since {
	struct session *session;
	uint64_t time_ns;
};

static void look_again(pid_t pid, void *arg)
{
	const struct lost_since *lost = arg;
	const struct mapping_event event = {.pid = pid, .time_ns = lost->time_ns};

	if (pid != getpid())
		look_for_libraries(lost->session, &event, clock__boot_ns());
}

static void on_lost(uint64_t time_ns, void *arg)
{
	struct session *session = arg;
	struct lost_since lost = {.session = session, .time_ns = time_ns};
	struct error err = {""};

	log__info(session->log, "too many programs started at once to track their libraries: "
				"looking at all processes");
	if (watch__each_process(session->targets, look_again, &lost, &err))
		log__warn(session->log, "%s", err.text);
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
static void widen(struct session *session)
{
	if (!attacher__confines(session->attacher))
		return;
	attacher__widen(session->attacher);
	watch__attach_known(session->command, session->attacher, session->log);
}

void session__process_changed(struct session *session, const struct record_library *record)
{
	const struct rescan rescan = {
		.pid = record->pid,
		.scan = scan_of(record),
		.since_ns = record->time_ns,
		.there_ns = record->time_ns,
		.shares = record->shares,
	};

	if (!session->attacher) /* detached: no process is held any more */
		return;
	if (session->command && !record->stopped)
		widen(session);
	if (record->stopped)
		look_at_held(session, &rescan, record->stopped_above);
	else
		rescans__add(session->rescans, &rescan, clock__boot_ns());
}

/* --- setting up --- */

/* Uses descriptors, so that code that waits outside the loop can poll them too. */
static int open_deadline(struct session *session, struct error *err)
{
	struct epoll_event waiting = {.events = EPOLLIN};

	session->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	session->end_fd = epoll_create1(EPOLL_CLOEXEC);
	if (session->timer_fd < 0 || session->end_fd < 0 ||
	    epoll_ctl(session->end_fd, EPOLL_CTL_ADD, session->timer_fd, &waiting) ||
	    epoll_ctl(session->end_fd, EPOLL_CTL_ADD, session->signal_fd, &waiting))
		return error__set(err, -errno, "cannot make a timer: %s", strerror(errno));
	return 0;
}

static int open_signals(struct session *session, struct error *err)
{
	sigset_t set;

	signals__fill_stop(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return error__set(err, -errno, "cannot block signals: %s", strerror(errno));
	signals__survive_write(SIGPIPE);
	session->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (session->signal_fd < 0)
		return error__set(err, -errno, "cannot open a signalfd: %s", strerror(errno));
	return 0;
}

static int make_events(struct session *session, struct error *err)
{
	const struct timeval second = {.tv_sec = 1};

	session->signals = event_new(session->loop, session->signal_fd, EV_READ | EV_PERSIST,
				     on_signal, session);
	session->deadline = event_new(session->loop, session->timer_fd, EV_READ | EV_PERSIST,
				      on_deadline, session);
	session->second = event_new(session->loop, -1, EV_PERSIST, on_second, session);
	if (!session->signals || !session->deadline || !session->second)
		return error__set(err, -ENOMEM, "out of memory");
	if (event_add(session->signals, NULL) || event_add(session->deadline, NULL) ||
	    event_add(session->second, &second))
		return error__set(err, -ENOMEM, "out of memory");
	if (session->duration > 0 && set_deadline(session, session->duration))
		return error__set(err, -errno, "cannot set a timer: %s", strerror(errno));
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
	const struct rescans_hooks rescans = {
		.look = on_rescan, .missed = on_missed_rescan, .arg = session};
	int ret;

	session->loop = event_base_new();
	if (!session->loop || reserve_timers(session->loop))
		return error__set(err, -ENOMEM, "cannot make an event loop: out of memory");
	session->rescans = rescans__new(session->loop, &rescans);
	if (!session->rescans)
		return error__set(err, -ENOMEM, "out of memory");
	ret = read_unused(session, err);
	if (!ret)
		ret = proc__check_proc(err);
	if (!ret)
		ret = clock__check(err);
	if (!ret)
		ret = open_signals(session, err);
	if (!ret)
		ret = open_deadline(session, err);
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
	session->asked.processes =
		calloc(targets->pid_count + 1, sizeof(*session->asked.processes));
	session->refusals.named = targets->command || targets->pid_count ? REFUSALS_NAMED : 1;
	session->duration = duration;
	session->hooks = *hooks;
	session->log = log;
	session->looker = looker__new(log);
	session->silence = silence__new(session->looker);
	session->earlier = earlier_looks__new(session->looker);
	session->signal_fd = session->timer_fd = session->end_fd = -1;
	ret = session->asked.processes ? set_up(session, err) :
					 error__set(err, -ENOMEM, "out of memory");
	if (ret) {
		session__free(session);
		return ret;
	}
	*out = session;
	return 0;
}

/*
 * Held processes report their mappings themselves. Without the listener, libraries known by then
 * still have their probes.
 */
static void listen_to_mappings(struct session *session)
{
	const struct listener_hooks hooks = {
		.allocators = session->probes.selection->tensors,
		.mapped = on_mapped,
		.lost = on_lost,
		.arg = session,
	};
	struct error err = {""};

	if (session->command || !listener__new(session->loop, &hooks, &session->listener, &err))
		return;
	log__warn(
		session->log,
		"%s: gpuprobe will not notice libraries that are loaded later for the first time; "
		"name them with --libcuda-path and --libcudart-path",
		err.text);
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
	if (!ret)
		listen_to_mappings(session);
	if (!ret)
		ret = privileges__confine(probes->links, err);
	return ret;
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
		ret = watch__begin(session->targets, session->command, programs, session->attacher,
				   &session->refusals, &session->asked, session->rescans,
				   session->log, err);
	if (!ret)
		report_attached(session);
	if (!ret && session->targets->pid_count)
		ret = target_exit__new(session->loop, session->targets,
				       bpf_map__fd(programs->watched), on_all_ended, session,
				       &session->exits, err);
	return ret;
}

/* --- running --- */

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
	return session->end_fd;
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
	return session->status;
}

struct target_processes *session__target_processes(struct session *session)
{
	return &session->asked;
}

void session__look_at_silent(struct session *session, bool final)
{
	silence__look(session->silence, &session->asked, final);
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

char *session__driver_path(const struct session *session, unsigned int driver)
{
	const char *path = attacher__driver_path(session->attacher, driver);

	return path ? strdup(path) : NULL;
}

/* --- tearing down --- */

void session__settle(struct session *session)
{
	if (session->listener)
		listener__read(session->listener);
	rescans__end(session->rescans);
}

/* Nothing else may report a missed look that was a process's last. */
static void report_missed(struct session *session)
{
	uint64_t count = session->missed_rescans;

	if (session->missed_programs > 1)
		log__warn(session->log,
			  "%" PRIu64
			  " programs ended before the probes of their CUDA library were in",
			  session->missed_programs);
	session->missed_rescans = session->missed_programs = 0;
	if (count)
		log__warn(session->log,
			  "calls may be missing: %" PRIu64
			  " time%s a process with many mappings loaded a library or "
			  "another program, and ended, or gpuprobe did, before gpuprobe had read "
			  "them",
			  count, count == 1 ? "" : "s");
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
	if (session->attacher)
		unwatchable__report_rest(&session->refusals, session->log);
	report_missed(session);
	listener__free(session->listener);
	session->listener = NULL;
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
	sigset_t set;

	(void)session;
	signals__fill_stop(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void session__free(struct session *session)
{
	if (!session)
		return;
	session__detach(session);
	child_command__free(session->command);
	stopped_parents__free(session->waker);
	target_exit__free(session->exits);
	rescans__free(session->rescans);
	if (session->signals)
		event_free(session->signals);
	if (session->deadline)
		event_free(session->deadline);
	if (session->second)
		event_free(session->second);
	close_one(session->end_fd);
	close_one(session->timer_fd);
	close_one(session->signal_fd);
	if (session->loop)
		event_base_free(session->loop);
	earlier_looks__free(session->earlier);
	silence__free(session->silence);
	looker__free(session->looker);
	free(session->asked.processes);
	free(session);
}
