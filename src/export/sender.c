// SPDX-License-Identifier: BSD-2-Clause
// Sends OTLP requests in a thread, see sender.h.
#include "export/sender.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "export/plain_http.h"
#include "export/queue.h"
#include "export/reply.h"
#include "export/tls_http.h"
#include "privilege/capabilities.h"
#include "serve/gzip.h"

#define FIRST_PAUSE_MS 1000
#define LONGEST_PAUSE_MS 60000
/* How long the thread may take to end after it was told to stop. */
#define STOP_MS 500

/* One signal. */
struct lane {
	enum export_signal signal;
	const struct export_route *route;
	struct export_queue queue;
	struct plain_http *plain; /* or */
	struct tls_http *tls;
	struct export_counts counts;
	uint64_t due_ns;       /* of the next attempt, CLOCK_MONOTONIC */
	unsigned int failures; /* in a row */
	struct export_news news;
};

struct export_sender {
	struct export_settings settings;
	struct curl_library curl;
	pthread_t thread;
	bool started;
	int stop_fd; /* readable once the thread must stop at once */

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t changed;
	struct lane lanes[EXPORT_SIGNALS];
	bool finishing, stop, ended;
};

/* --- making and freeing --- */

static int load_curl(struct export_sender *sender, struct error *err)
{
	for (int i = 0; i < EXPORT_SIGNALS; i++) {
		const struct export_route *route = &sender->settings.routes[i];

		if (route->on && route->endpoint.tls)
			return curl_library__open(&sender->curl, err);
	}
	return 0;
}

static void init_lock(struct export_sender *sender)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&sender->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&sender->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

int export_sender__new(struct export_settings *settings, struct export_sender **out,
		       struct error *err)
{
	struct export_sender *sender = calloc(1, sizeof(*sender));
	int ret;

	if (!sender)
		return error__set(err, -ENOMEM, "out of memory");
	sender->settings = *settings;
	*settings = (struct export_settings){0};
	init_lock(sender);
	for (int i = 0; i < EXPORT_SIGNALS; i++)
		sender->lanes[i] = (struct lane){
			.signal = (enum export_signal)i,
			.route = &sender->settings.routes[i],
			.queue = {.max_bytes = EXPORT_QUEUE_BYTES,
				  .max_requests = EXPORT_QUEUE_REQUESTS},
		};
	sender->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = sender->stop_fd < 0 ?
		      error__set(err, -errno, "cannot create an eventfd: %s", strerror(errno)) :
		      load_curl(sender, err);
	if (ret)
		export_sender__free(sender);
	else
		*out = sender;
	return ret;
}

const struct export_settings *export_sender__settings(const struct export_sender *sender)
{
	return &sender->settings;
}

void export_sender__free(struct export_sender *sender)
{
	/* A thread that hangs in the resolver still uses all this; gpuprobe ends soon. */
	if (!sender || (sender->started && !sender->ended))
		return;
	for (int i = 0; i < EXPORT_SIGNALS; i++) {
		export_queue__clear(&sender->lanes[i].queue);
		plain_http__free(sender->lanes[i].plain);
		tls_http__free(sender->lanes[i].tls);
	}
	if (sender->stop_fd >= 0)
		close(sender->stop_fd);
	curl_library__close(&sender->curl);
	export_settings__clear(&sender->settings);
	pthread_cond_destroy(&sender->changed);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}

/* --- the thread: when to send. All these are called with the lock held --- */

static bool should_stop(void *arg)
{
	struct export_sender *sender = arg;
	bool stop;

	pthread_mutex_lock(&sender->lock);
	stop = sender->stop;
	pthread_mutex_unlock(&sender->lock);
	return stop;
}

/* The lane whose first request is due; NULL: none, and *due_ns is when to look again, 0: never. */
static struct lane *due_lane(struct export_sender *sender, uint64_t *due_ns)
{
	uint64_t now_ns = clock__monotonic_ns();

	*due_ns = 0;
	for (int i = 0; i < EXPORT_SIGNALS; i++) {
		struct lane *lane = &sender->lanes[i];

		if (!lane->queue.first)
			continue;
		if (sender->finishing || lane->due_ns <= now_ns)
			return lane;
		if (!*due_ns || lane->due_ns < *due_ns)
			*due_ns = lane->due_ns;
	}
	return NULL;
}

/* Waits for a request to send; NULL: the thread ends. */
static struct lane *wait_for_request(struct export_sender *sender)
{
	for (;;) {
		uint64_t due_ns = 0;
		struct lane *lane = sender->stop ? NULL : due_lane(sender, &due_ns);
		struct timespec until;

		if (lane || sender->stop || sender->finishing)
			return lane;
		if (!due_ns) {
			pthread_cond_wait(&sender->changed, &sender->lock);
			continue;
		}
		until = (struct timespec){.tv_sec = (time_t)(due_ns / NS_PER_S),
					  .tv_nsec = (long)(due_ns % NS_PER_S)};
		pthread_cond_timedwait(&sender->changed, &sender->lock, &until);
	}
}

/* Doubles with each failure. A random half of it keeps a fleet from coming back at once. */
static uint64_t pause_ms(unsigned int failures)
{
	uint64_t pause = FIRST_PAUSE_MS;
	uint16_t random = 0;

	for (unsigned int i = 1; i < failures && pause < LONGEST_PAUSE_MS; i++)
		pause *= 2;
	if (pause > LONGEST_PAUSE_MS)
		pause = LONGEST_PAUSE_MS;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = 0;
	return pause / 2 + pause * random / UINT16_MAX / 2;
}

/* --- the thread: what became of a request. With the lock held --- */

static void fail(struct export_sender *sender, struct lane *lane,
		 const struct export_verdict *verdict)
{
	uint64_t pause;

	lane->failures++;
	if (sender->finishing) {
		lane->counts.lost[EXPORT_LOST_END] += export_queue__clear(&lane->queue);
		return;
	}
	pause = verdict->pause_ms ? verdict->pause_ms : pause_ms(lane->failures);
	lane->due_ns = clock__monotonic_ns() + pause * NS_PER_MS;
}

static void judge(struct export_sender *sender, struct lane *lane, const struct export_reply *reply)
{
	uint64_t items = lane->queue.first->items, rejected;
	struct export_verdict verdict;

	export_reply__judge(reply, clock__wall().tv_sec, &verdict);
	rejected = verdict.rejected < items ? verdict.rejected : items;
	lane->counts.requests[verdict.outcome]++;
	/* That a request was stopped is no news about the receiver. */
	if (!sender->stop)
		export_news__note(&lane->news, &verdict, rejected);
	lane->queue.busy = false;
	if (verdict.outcome == EXPORT_FAILED) {
		fail(sender, lane, &verdict);
		return;
	}
	if (verdict.outcome == EXPORT_ACCEPTED) {
		lane->counts.items += items - rejected;
		lane->counts.lost[EXPORT_LOST_REJECTED] += rejected;
	} else {
		lane->counts.lost[EXPORT_LOST_REFUSED] += items;
	}
	lane->failures = 0;
	lane->due_ns = 0;
	export_queue__pop(&lane->queue);
}

/* --- the thread --- */

static bool make_client(struct export_sender *sender, struct lane *lane)
{
	if (lane->route->endpoint.tls && !lane->tls)
		lane->tls = tls_http__new(lane->route, &sender->curl, should_stop, sender);
	else if (!lane->route->endpoint.tls && !lane->plain)
		lane->plain = plain_http__new(lane->route, sender->stop_fd);
	return lane->tls || lane->plain;
}

static void post(struct export_sender *sender, struct lane *lane, const void *data, size_t length,
		 struct export_reply *reply)
{
	if (!make_client(sender, lane))
		snprintf(reply->failure, sizeof(reply->failure), "out of memory");
	else if (lane->tls)
		tls_http__post(lane->tls, data, length, reply);
	else
		plain_http__post(lane->plain, data, length, reply);
}

static void *run(void *arg)
{
	struct export_sender *sender = arg;
	struct lane *lane;

	/* What it reads comes from the network, and it needs no privilege to send. */
	capabilities__give_up_all();
	pthread_mutex_lock(&sender->lock);
	while ((lane = wait_for_request(sender))) {
		const struct export_request *request = lane->queue.first;
		struct export_reply reply = {0};

		lane->queue.busy = true;
		pthread_mutex_unlock(&sender->lock);
		post(sender, lane, request->data, request->length, &reply);
		pthread_mutex_lock(&sender->lock);
		judge(sender, lane, &reply);
		export_reply__clear(&reply);
	}
	sender->ended = true;
	pthread_cond_broadcast(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
	return NULL;
}

int export_sender__start(struct export_sender *sender, struct error *err)
{
	sigset_t all, before;
	int ret;

	/* The event loop handles signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&sender->thread, NULL, run, sender);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret)
		return error__set(err, -ret, "cannot start the thread that sends OTLP: %s",
				  strerror(ret));
	sender->started = true;
	return 0;
}

/* --- the owner --- */

static struct export_request *make_request(const struct export_route *route, const void *data,
					   size_t length, uint64_t items)
{
	struct export_request *request = calloc(1, sizeof(*request));
	int ret = 0;

	if (!request)
		return NULL;
	request->items = items;
	request->length = length;
	if (route->gzip) {
		ret = gzip__compress(data, length, &request->data, &request->length);
	} else {
		request->data = malloc(length);
		if (request->data)
			memcpy(request->data, data, length);
	}
	if (!ret && request->data)
		return request;
	free(request);
	return NULL;
}

int export_sender__send(struct export_sender *sender, enum export_signal signal, const void *data,
			size_t length, uint64_t items)
{
	struct lane *lane = &sender->lanes[signal];
	struct export_request *request = make_request(lane->route, data, length, items);

	if (!request) {
		export_sender__lose(sender, signal, items);
		return -ENOMEM;
	}
	pthread_mutex_lock(&sender->lock);
	lane->counts.lost[EXPORT_LOST_QUEUE] += export_queue__push(&lane->queue, request);
	pthread_cond_broadcast(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
	return 0;
}

void export_sender__lose(struct export_sender *sender, enum export_signal signal, uint64_t items)
{
	pthread_mutex_lock(&sender->lock);
	sender->lanes[signal].counts.lost[EXPORT_LOST_MEMORY] += items;
	pthread_mutex_unlock(&sender->lock);
}

void export_sender__counts(struct export_sender *sender,
			   struct export_counts counts[EXPORT_SIGNALS])
{
	pthread_mutex_lock(&sender->lock);
	for (int i = 0; i < EXPORT_SIGNALS; i++) {
		counts[i] = sender->lanes[i].counts;
		counts[i].queued_bytes = sender->lanes[i].queue.bytes;
		counts[i].queued_items = sender->lanes[i].queue.items;
	}
	pthread_mutex_unlock(&sender->lock);
}

bool export_sender__news(struct export_sender *sender, enum export_signal signal,
			 char text[EXPORT_NEWS_SIZE])
{
	struct lane *lane = &sender->lanes[signal];
	bool has;

	pthread_mutex_lock(&sender->lock);
	has = export_news__take(&lane->news, clock__monotonic_ns(), export_signal__word(signal),
				lane->route->endpoint.shown, text);
	pthread_mutex_unlock(&sender->lock);
	return has;
}

/* With the lock held. Returns whether the thread has ended. */
static bool wait_for_end(struct export_sender *sender, unsigned int limit_ms)
{
	uint64_t until_ns = clock__monotonic_ns() + limit_ms * NS_PER_MS;
	const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
				       .tv_nsec = (long)(until_ns % NS_PER_S)};

	while (!sender->ended)
		if (pthread_cond_timedwait(&sender->changed, &sender->lock, &until))
			break;
	return sender->ended;
}

void export_sender__finish(struct export_sender *sender, unsigned int limit_ms)
{
	const uint64_t one = 1;
	bool ended;

	if (!sender->started)
		return;
	pthread_mutex_lock(&sender->lock);
	sender->finishing = true;
	pthread_cond_broadcast(&sender->changed);
	ended = wait_for_end(sender, limit_ms);
	if (!ended) {
		sender->stop = true;
		pthread_cond_broadcast(&sender->changed);
		if (write(sender->stop_fd, &one, sizeof(one)) == sizeof(one))
			ended = wait_for_end(sender, STOP_MS);
	}
	/* The first request stays where it is if the thread still uses it. */
	for (int i = 0; i < EXPORT_SIGNALS && ended; i++)
		sender->lanes[i].counts.lost[EXPORT_LOST_END] +=
			export_queue__clear(&sender->lanes[i].queue);
	for (int i = 0; i < EXPORT_SIGNALS && !ended; i++)
		sender->lanes[i].counts.lost[EXPORT_LOST_END] += sender->lanes[i].queue.items;
	pthread_mutex_unlock(&sender->lock);
	if (ended)
		pthread_join(sender->thread, NULL);
	else
		pthread_detach(sender->thread);
}
