// SPDX-License-Identifier: BSD-2-Clause
// Samples the model at irregular intervals, see samples.h.
#include "cli/session/samples.h"

#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"

/* Sampling takes a tenth of a CPU at most, however many allocations it walks over. */
#define SAMPLE_SHARE 10

struct samples {
	struct samples_options options;
	struct live_model *live;
	struct event *due;
	double took; /* CPU seconds of the latest sample */
	bool had_first;
};

/*
 * A factor of 0.75 to 1.25: samples in step with a program's batches would mistake its rhythm for
 * growth.
 */
static double uneven(void)
{
	uint32_t number = UINT32_MAX / 2;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return 1;
	return 0.75 + 0.5 * number / UINT32_MAX;
}

/* CPU time of this thread: load by others is no reason to sample less. */
static double cpu_seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / (double)NS_PER_S;
}

/* Seconds from the beginning of this sample to the next one; 0: there is none. */
static double find_pause(struct samples *samples)
{
	bool is_first = !samples->had_first;

	samples->had_first = true;
	if (is_first && samples->options.second > 0)
		return samples->options.second;
	return samples->options.period > 0 ? samples->options.period * uneven() : 0;
}

/* Whether another reading was so short ago that it serves. */
static bool is_read(const struct samples *samples, uint64_t now_ns)
{
	const struct samples_options *options = &samples->options;
	uint64_t read_ns = live_model__model(samples->live)->now_ns;

	return options->fresh_ns && read_ns && now_ns - read_ns < options->fresh_ns(options->arg);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	struct samples *samples = arg;
	const struct samples_options *options = &samples->options;
	uint64_t began = clock__boot_ns();
	double cpu_began = cpu_seconds(), took, usual, pause, left;
	struct timeval wait;

	(void)fd;
	(void)what;
	if (!is_read(samples, began))
		live_model__update(samples->live, options->with_lists);
	if (options->take)
		options->take(options->arg);
	took = cpu_seconds() - cpu_began;
	/* One slow sample does not count: the symbols of libraries, say, are only read once. */
	usual = fmin(took, samples->took);
	samples->took = took;
	pause = find_pause(samples);
	if (pause <= 0)
		return;
	left = pause - (double)(clock__boot_ns() - began) / (double)NS_PER_S;
	wait = clock__timeval(fmax(left, SAMPLE_SHARE * usual));
	evtimer_add(samples->due, &wait);
}

int samples__new(struct live_model *live, const struct samples_options *options,
		 struct samples **out, struct error *err)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	struct timeval at_once = {0};

	if (!samples)
		return error__set(err, -ENOMEM, "out of memory");
	*samples = (struct samples){.options = *options, .live = live};
	samples->due = evtimer_new(session__loop(live_model__session(live)), on_due, samples);
	if (!samples->due || evtimer_add(samples->due, &at_once)) {
		samples__free(samples);
		return error__set(err, -ENOMEM, "out of memory");
	}
	*out = samples;
	return 0;
}

void samples__hurry(struct samples *samples)
{
	const struct timeval at_once = {0};

	evtimer_add(samples->due, &at_once);
}

void samples__free(struct samples *samples)
{
	if (!samples)
		return;
	if (samples->due)
		event_free(samples->due);
	free(samples);
}
