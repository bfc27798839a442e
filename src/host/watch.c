// SPDX-License-Identifier: BSD-2-Clause
// Follows threads; see watch.h.
#include "host/watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/host.skel.h"
#include "host/drain.h"
#include "host/followed.h"
#include "host/one_moment.h"
#include "host/partners.h"
#include "host/result.h"
#include "host/socket_waits.h"
#include "probe/cpu_samples.h"
#include "probe/host_object.h"
#include "target/cpu_limit.h"
#include "target/listening.h"
#include "target/memory_reader.h"

#define FOUND_MAX 256 /* threads read at once */
#define SEARCHES_AT_FIRST 50
#define SEARCH_EVERY 5 /* looks, after the first ones */
#define WAKERS_EVERY 2 /* looks */
#define SOCKETS_EVERY 10
#define WAKER_SHARE 50	 /* a waker is followed if it ends sleeps of 1/50 of a thread's time */
#define SLEEP_SHARE 10	 /* or of 1/10 of the sleeps of a thread that mostly lacks a CPU */
#define LIMITED_MAX 64	 /* processes whose control group is read */
#define LISTENS_EVERY 60 /* looks at sockets, at the latest */

struct host_watch {
	struct host_watch_options options;
	struct host_bpf *skeleton;
	struct bpf_link *iterator;
	struct cpu_samples *samples;
	struct followed_list list;
	struct drain *drain;
	struct partners partners;
	struct memory_reader *memory;
	struct limited_process limited[LIMITED_MAX];
	size_t limited_count;
	struct host_side side;
	unsigned long looks;
};

int host_watch__new(const struct gpuprobe_bpf *monitor, const struct host_watch_options *options,
		    struct host_watch **out, struct error *err)
{
	struct host_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	watch->options = *options;
	watch->drain = drain__new(options->stacks);
	watch->memory = memory_reader__new(NULL);
	ret = watch->drain && watch->memory ? host_object__load(monitor, &watch->skeleton, err) :
					      error__set(err, -ENOMEM, "out of memory");
	if (ret)
		goto fail;
	ret = followed_list__init(&watch->list, watch->skeleton);
	if (ret) {
		error__set(err, ret, "cannot map the profiles of threads: %s", strerror(-ret));
		goto fail;
	}
	watch->iterator = bpf_program__attach_iter(watch->skeleton->progs.host_threads, NULL);
	if (!watch->iterator) {
		ret = error__set(err, -errno, "cannot attach the iterator that finds threads: %s",
				 strerror(errno));
		goto fail;
	}
	ret = host_object__attach(watch->skeleton, err);
	if (!ret)
		ret = cpu_samples__new(watch->skeleton->progs.host_sample, options->rate,
				       &watch->samples, err);
	if (ret)
		goto fail;
	*out = watch;
	return 0;
fail:
	host_watch__free(watch);
	return ret;
}

void host_watch__free(struct host_watch *watch)
{
	if (!watch)
		return;
	host_result__clear(&watch->side);
	followed_list__clear(&watch->list);
	cpu_samples__free(watch->samples);
	bpf_link__destroy(watch->iterator);
	host_bpf__destroy(watch->skeleton);
	drain__free(watch->drain);
	memory_reader__free(watch->memory);
	free(watch);
}

/* --- finding threads --- */

static void look_at_limit(struct limited_process *process)
{
	uint64_t ns;

	/* If the process has ended, the last reading stays. */
	if (cpu_limit__throttled(process->pid, &ns))
		return;
	if (!process->known)
		process->before_ns = ns;
	process->known = true;
	process->now_ns = ns > process->before_ns ? ns : process->before_ns;
}

/*
 * That a process listens is in tables of all the machine's sockets, which take milliseconds to
 * read. Most that listen do so from the beginning. So looks at the others become rarer: the first,
 * the second, the fourth, the eighth, ...
 */
static void look_at_sockets(struct limited_process *process)
{
	unsigned int looks = process->socket_looks++;

	if (!process->serves && (!(looks & (looks - 1)) || looks % LISTENS_EVERY == 0))
		process->serves = listening__of(process->pid);
}

static void note_process(struct host_watch *watch, const struct host_submitter *who)
{
	struct limited_process *process;

	for (size_t i = 0; i < watch->limited_count; i++)
		if (watch->limited[i].pid == who->pid &&
		    watch->limited[i].start_ns == who->process_start_ns)
			return;
	if (watch->limited_count == LIMITED_MAX)
		return;
	process = &watch->limited[watch->limited_count++];
	*process = (struct limited_process){
		.pid = who->pid, .start_ns = who->process_start_ns, .steady.mark = -1};
	look_at_limit(process);
	look_at_sockets(process);
}

static bool add(struct host_watch *watch, const struct host_submitter *who,
		const struct followed_thread *origin)
{
	long number = followed_list__find(&watch->list, who->kernel_tid, who->start_ns);

	if (who->pid == getpid())
		return false;
	if (number >= 0) {
		if (!origin)
			followed_list__promote(&watch->list, (size_t)number, who);
		return false;
	}
	if (!followed_list__add(&watch->list, who, origin))
		return false;
	if (!origin)
		note_process(watch, who);
	else if (who->pid && watch->options.see_process)
		watch->options.see_process(who->pid, watch->options.arg);
	return true;
}

static bool is_in_start(const struct host_watch *watch, const struct host_submitter *who)
{
	const struct host_watch_options *options = &watch->options;

	return options->is_seen_from_start(who->pid, who->process_start_ns, options->arg) &&
	       clock__boot_ns() < who->first_ns + START_NS;
}

/*
 * Runs the iterator over all threads, which marks the wanted ones. Returns whether it found a new
 * thread.
 */
static bool go_over_threads(struct host_watch *watch)
{
	int fd = bpf_iter_create(bpf_link__fd(watch->iterator));
	struct host_submitter found[FOUND_MAX];
	bool any = false;
	ssize_t bytes;

	if (fd < 0)
		return false;
	while ((bytes = read(fd, found, sizeof(found))) > 0)
		for (size_t i = 0; i < (size_t)bytes / sizeof(*found); i++)
			if (!is_in_start(watch, &found[i]))
				any = add(watch, &found[i], NULL) || any;
	close(fd);
	return any;
}

/* --- who wakes them --- */

static const struct followed_thread *sleeper_of(const struct host_watch *watch,
						const struct host_pair_key *key)
{
	const struct followed_thread *thread =
		key->thread < HOST_THREADS ? &watch->list.threads[key->thread] : NULL;

	return thread && thread->used && thread->generation == key->generation ? thread : NULL;
}

/*
 * A thread that is woken and then waits long for a CPU sleeps little. Its sleeps still say what it
 * waits for.
 */
static bool ends_sleeps_of_a_starved(const struct host_watch *watch,
				     const struct host_pair_key *key,
				     const struct host_waker *waker, uint64_t now_ns)
{
	struct host_counts counts;
	struct host_split split;

	host_counts__read(&counts, &watch->list.profiles[key->thread], now_ns);
	split = host_counts__split(&counts);
	return split.ready_ns > split.running_ns + split.asleep_ns &&
	       waker->ns * SLEEP_SHARE > split.asleep_ns;
}

/* Whether the waker's activity explains why the thread waits. */
static bool matters(const struct host_watch *watch, const struct followed_thread *sleeper,
		    const struct host_pair_key *key, const struct host_waker *waker,
		    uint64_t now_ns)
{
	if (key->kind != ACTIVITY_LOCK && key->kind != ACTIVITY_GIL && key->kind != ACTIVITY_QUEUE)
		return false;
	if (sleeper->hops >= HOPS_MAX || !waker->pid)
		return false;
	return waker->ns * WAKER_SHARE > now_ns - sleeper->began_ns ||
	       ends_sleeps_of_a_starved(watch, key, waker, now_ns);
}

static bool follow_wakers(struct host_watch *watch)
{
	uint64_t now_ns = clock__boot_ns();
	bool any = false;

	partners__read(&watch->partners, watch->skeleton);
	for (size_t i = 0; i < watch->partners.waker_count; i++) {
		const struct host_pair_key *key = &watch->partners.waker_keys[i];
		const struct host_waker *waker = &watch->partners.wakers[i];
		const struct followed_thread *sleeper = sleeper_of(watch, key);
		struct host_submitter who = {.start_ns = waker->start_ns,
					     .kernel_tid = key->other,
					     .tid = waker->tid,
					     .pid = waker->pid};

		if (!sleeper || !matters(watch, sleeper, key, waker, now_ns))
			continue;
		who.process_start_ns = waker->process_start_ns;
		memcpy(who.comm, waker->comm, sizeof(who.comm));
		any = add(watch, &who, sleeper) || any;
	}
	return any;
}

static void look_at_socket_waits(struct host_watch *watch)
{
	const struct socket_waiters waiters = {watch->limited, watch->limited_count};

	socket_waits__look(&watch->list, &watch->partners, &waiters, watch->memory);
}

static void read_limits(struct host_watch *watch)
{
	for (size_t i = 0; i < watch->limited_count; i++) {
		look_at_limit(&watch->limited[i]);
		if (watch->looks % SOCKETS_EVERY == 0)
			look_at_sockets(&watch->limited[i]);
	}
	if (watch->looks % SOCKETS_EVERY == 0)
		look_at_socket_waits(watch);
}

/*
 * A machine may have tens of thousands of threads, and most threads that submit do so from the
 * beginning.
 */
static bool is_time_to_search(const struct host_watch *watch)
{
	return watch->looks < SEARCHES_AT_FIRST || watch->looks % SEARCH_EVERY == 0;
}

/* --- outward --- */

void host_watch__look(struct host_watch *watch)
{
	bool any = is_time_to_search(watch) && go_over_threads(watch);

	if (watch->looks % WAKERS_EVERY == 0) {
		any = follow_wakers(watch) || any;
		read_limits(watch);
	}
	watch->looks++;
	if (any)
		go_over_threads(watch);
	followed_list__look(&watch->list);
	drain__take(watch->drain, &watch->list, false);
}

struct counts_taking {
	struct host_watch *watch;
	bool final;
};

/* Samples and times, which must be of one moment. */
static void take_counts(void *arg)
{
	struct counts_taking *taking = arg;
	struct followed_list *list = &taking->watch->list;

	drain__take(taking->watch->drain, list, taking->final);
	followed_list__read(list, clock__boot_ns());
}

static void mark_threads(struct host_watch *watch)
{
	const struct host_watch_options *options = &watch->options;
	struct steady_marks marks;

	for (size_t i = 0; i < HOST_THREADS; i++) {
		struct followed_thread *thread = &watch->list.threads[i];

		if (thread->used && thread->marked &&
		    options->steady(thread->for_pid, thread->for_start_ns, &marks, options->arg))
			followed_thread__mark(thread, &marks);
	}
}

static void mark_limits(struct host_watch *watch)
{
	const struct host_watch_options *options = &watch->options;
	struct steady_marks marks;

	for (size_t i = 0; i < watch->limited_count; i++) {
		struct limited_process *process = &watch->limited[i];

		if (!options->steady(process->pid, process->start_ns, &marks, options->arg))
			continue;
		for (int mark = 0; mark < SITE_MARKS; mark++)
			if (marks.ns[mark] != process->steady.ns[mark])
				process->marks[mark] = process->now_ns;
		process->steady = marks;
	}
}

const struct host_side *host_watch__report(struct host_watch *watch, bool final)
{
	const struct result_source source = {
		.list = &watch->list,
		.partners = &watch->partners,
		.limited = watch->limited,
		.limited_count = watch->limited_count,
	};
	struct counts_taking taking = {watch, final};

	host_result__clear(&watch->side);
	one_moment__take(take_counts, &taking);
	mark_threads(watch);
	mark_limits(watch);
	partners__read(&watch->partners, watch->skeleton);
	host_result__make(&source, &watch->side);
	return &watch->side;
}
