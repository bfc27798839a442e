// SPDX-License-Identifier: BSD-2-Clause
// Drives the overhead governor, see overhead.h.
#include "cli/session/overhead.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "govern/rates.h"
#include "gen/gpuprobe.skel.h"
#include "target/proc.h"

struct overhead {
	struct overhead_options options;
	struct governor *governor;
	struct rates *rates;
	struct session *session;
	const struct gpuprobe_bpf *skeleton;
	const struct log *log;
	struct event *timer;
};

/* --- hooks of the governor --- */

static int watch(void *arg, unsigned int families)
{
	struct overhead *overhead = arg;
	struct error error;
	int ret = session__watch(overhead->session, families, &error);

	if (ret && ret != -EBUSY)
		log__warn(overhead->log, "--max-overhead: %s", error.text);
	return ret;
}

static size_t read_rates(void *arg, struct thread_rate *rates, size_t capacity)
{
	struct overhead *overhead = arg;

	return rates__read(overhead->rates, rates, capacity);
}

static bool run_time(void *arg, int32_t tid, struct run_time *time)
{
	(void)arg;
	return !proc__run_time(tid, time);
}

static uint64_t now(void *arg)
{
	(void)arg;
	return clock__boot_ns();
}

/* --- the timer --- */

static void wait_for(const struct overhead *overhead, uint64_t ns)
{
	struct timeval delay = {.tv_sec = (time_t)(ns / NS_PER_S),
				.tv_usec = (suseconds_t)(ns % NS_PER_S / 1000)};

	evtimer_add(overhead->timer, &delay);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct overhead *overhead = arg;

	(void)fd;
	(void)what;
	wait_for(overhead, governor__tick(overhead->governor));
}

int overhead__new(const struct overhead_options *options, const struct call_costs *costs,
		  struct session *session, const struct gpuprobe_bpf *skeleton,
		  const struct log *log, struct overhead **out, struct error *err)
{
	struct overhead *overhead = calloc(1, sizeof(*overhead));
	const struct governor_hooks hooks = {.watch = watch,
					     .read = read_rates,
					     .run_time = run_time,
					     .now = now,
					     .arg = overhead};
	int ret;

	if (!overhead)
		return error__set(err, -ENOMEM, "out of memory");
	overhead->options = *options;
	overhead->session = session;
	overhead->skeleton = skeleton;
	overhead->log = log;
	ret = rates__new(skeleton, &overhead->rates, err);
	if (!ret) {
		overhead->governor = governor__new(options->max - options->of_tensors,
						   options->sampling, costs, &hooks, log);
		overhead->timer = evtimer_new(session__loop(session), on_timer, overhead);
		if (!overhead->governor || !overhead->timer)
			ret = error__set(err, -ENOMEM, "out of memory");
	}
	if (ret) {
		overhead__free(overhead);
		return ret;
	}
	if (options->by_default)
		governor__allow_excess(overhead->governor);
	*out = overhead;
	return 0;
}

void overhead__free(struct overhead *overhead)
{
	if (!overhead)
		return;
	if (overhead->timer)
		event_free(overhead->timer);
	governor__free(overhead->governor);
	rates__free(overhead->rates);
	free(overhead);
}

void overhead__start(struct overhead *overhead)
{
	wait_for(overhead, governor__tick(overhead->governor));
}

/* --- estimates and report --- */

static uint64_t missed(void *arg, uint32_t slot, enum rate_family family)
{
	const struct overhead *overhead = arg;

	return governor__missed(overhead->governor, slot, family);
}

static uint64_t seen(void *arg, uint32_t slot, enum rate_family family)
{
	const struct overhead *overhead = arg;

	return governor__seen(overhead->governor, slot, family);
}

static void refresh(void *arg)
{
	struct overhead *overhead = arg;

	governor__refresh(overhead->governor);
}

static void forget(void *arg, uint32_t slot)
{
	struct overhead *overhead = arg;

	governor__forget(overhead->governor, slot);
}

static uint64_t unseen_until(void *arg, enum rate_family family)
{
	const struct overhead *overhead = arg;
	const volatile __u64 *until = (const volatile __u64 *)overhead->skeleton->bss->unseen_until;

	return until[family];
}

struct estimate_source overhead__estimates(struct overhead *overhead)
{
	return (struct estimate_source){
		.missed = missed,
		.seen = seen,
		.refresh = refresh,
		.forget = forget,
		.unseen_until = unseen_until,
		.arg = overhead,
	};
}

void overhead__report(const struct overhead *overhead, struct sampling *sampling)
{
	sampling->max_overhead = overhead->options.max;
	sampling->by_default = overhead->options.by_default;
	sampling->overhead = governor__overhead(overhead->governor);
	for (int family = 0; family < RATE_FAMILIES; family++) {
		sampling->share[family] = governor__share(overhead->governor, family);
		sampling->sampled[family] = governor__was_sampled(overhead->governor, family);
	}
}
