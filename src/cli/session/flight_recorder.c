// SPDX-License-Identifier: BSD-2-Clause
// Keeps the last minutes of a recording, and writes them to files, see flight_recorder.h.
#include "cli/session/flight_recorder.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "cli/files/numbered_files.h"
#include "record/chunk_ring.h"

/* Parts of the time and of the memory from one keyframe to the next: so much more is kept. */
#define PARTS 4

struct flight_recorder {
	struct flight_options options;
	const struct log *log;
	struct numbered_files *files;
	struct chunk_ring *ring;
	struct recording_header header;
	struct event *signal, *due;
	void (*flush)(void *arg);
	void *arg;
	uint64_t written_ns; /* the latest file; 0: none yet */
	char reason[256];    /* of the file that is due */
};

/* --- files --- */

static int append(const struct recording_chunk *chunk, const uint8_t *body, void *arg)
{
	return recording_writer__append(arg, chunk, body);
}

/* Times are counted from where the file begins. */
static int write_to(const struct flight_recorder *recorder, int fd, uint64_t first_ns,
		    uint64_t *bytes)
{
	const struct recording_options options = {0};
	struct recording_header header = recorder->header;
	struct recording_writer *file;
	int ret, closed;

	if (first_ns)
		header.begin_ns = first_ns;
	ret = recording_writer__new(fd, &header, &options, &file, NULL);
	if (ret)
		return ret;
	ret = chunk_ring__each(recorder->ring, append, file);
	closed = recording_writer__close(file, NULL);
	*bytes = recording_writer__size(file);
	recording_writer__free(file);
	return ret ? ret : closed;
}

static void say(const struct flight_recorder *recorder, const char *path, const char *reason,
		uint64_t ns, uint64_t bytes)
{
	bool shortened = chunk_ring__take_shortened(recorder->ring);

	if (recorder->options.quiet)
		return;
	fprintf(stderr, "gpuprobe: wrote %s: the last %s, %s (%s)%s\n", path,
		quantity__time((double)ns).text, quantity__bytes((double)bytes).text, reason,
		shortened ? "; more does not fit into --max-size" : "");
}

/* Returns 0 or a negative errno, with *path if there is one. */
static int write_file(struct flight_recorder *recorder, const char *reason, const char **path)
{
	uint64_t first_ns, last_ns, bytes = 0;
	int fd = numbered_files__next(recorder->files, path), ret;

	chunk_ring__span(recorder->ring, &first_ns, &last_ns);
	ret = fd < 0 ? fd : write_to(recorder, fd, first_ns, &bytes);
	recorder->written_ns = clock__boot_ns();
	if (!ret)
		say(recorder, *path, reason, last_ns - first_ns, bytes);
	return ret;
}

static void write_or_warn(struct flight_recorder *recorder, const char *reason)
{
	const char *path = recorder->options.name;
	int ret = write_file(recorder, reason, &path);

	if (ret)
		log__warn(recorder->log, "cannot write %s: %s", path, strerror(-ret));
}

/* --- what happens --- */

static void flush_and_write(struct flight_recorder *recorder, const char *reason)
{
	evtimer_del(recorder->due);
	recorder->flush(recorder->arg);
	write_or_warn(recorder, reason);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	(void)number;
	(void)what;
	flush_and_write(arg, "SIGUSR1");
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	struct flight_recorder *recorder = arg;

	(void)fd;
	(void)what;
	flush_and_write(recorder, recorder->reason);
}

void flight_recorder__trigger(struct flight_recorder *recorder, const char *reason)
{
	uint64_t now_ns = clock__boot_ns(), rest_ns = recorder->options.keep_ns / 2;
	struct timeval wait;

	if (evtimer_pending(recorder->due, NULL))
		return;
	if (!recorder->written_ns || now_ns - recorder->written_ns >= rest_ns) {
		write_or_warn(recorder, reason);
		return;
	}
	snprintf(recorder->reason, sizeof(recorder->reason), "%s", reason);
	wait = clock__timeval((double)(recorder->written_ns + rest_ns - now_ns) / (double)NS_PER_S);
	evtimer_add(recorder->due, &wait);
}

int flight_recorder__finish(struct flight_recorder *recorder, struct error *err)
{
	const char *path = recorder->options.name;
	int ret = write_file(recorder, "the end", &path);

	return ret ? error__set(err, ret, "cannot write %s: %s", path, strerror(-ret)) : 0;
}

/* --- setting up --- */

int flight_recorder__new(const struct flight_options *options, const struct log *log,
			 struct flight_recorder **out, struct error *err)
{
	struct flight_recorder *recorder = calloc(1, sizeof(*recorder));
	int ret;

	if (!recorder)
		return error__set(err, -ENOMEM, "out of memory");
	recorder->options = *options;
	recorder->log = log;
	recorder->ring = chunk_ring__new(options->keep_ns, options->max_bytes);
	ret = recorder->ring ?
		      numbered_files__new(options->name, options->files, &recorder->files, err) :
		      error__set(err, -ENOMEM, "out of memory");
	if (ret) {
		flight_recorder__free(recorder);
		return ret;
	}
	*out = recorder;
	return 0;
}

void flight_recorder__free(struct flight_recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->signal)
		event_free(recorder->signal);
	if (recorder->due)
		event_free(recorder->due);
	numbered_files__free(recorder->files);
	chunk_ring__free(recorder->ring);
	free(recorder);
}

int flight_recorder__writer(struct flight_recorder *recorder, const struct recording_header *header,
			    struct recording_writer **out, struct error *err)
{
	const struct recording_options options = {.ring = recorder->ring};

	recorder->header = *header;
	return recording_writer__new(-1, header, &options, out, err);
}

int flight_recorder__start(struct flight_recorder *recorder, struct event_base *loop,
			   void (*flush)(void *arg), void *arg)
{
	recorder->flush = flush;
	recorder->arg = arg;
	recorder->due = evtimer_new(loop, on_due, recorder);
	recorder->signal = evsignal_new(loop, SIGUSR1, on_signal, recorder);
	return recorder->due && recorder->signal && !event_add(recorder->signal, NULL) ? 0 :
											 -ENOMEM;
}

uint64_t flight_recorder__keyframe_ns(const struct flight_recorder *recorder)
{
	return recorder->options.keep_ns / PARTS;
}

uint64_t flight_recorder__keyframe_bytes(const struct flight_recorder *recorder)
{
	return recorder->options.max_bytes / PARTS;
}

bool flight_recorder__wants_keyframe(const struct flight_recorder *recorder)
{
	return chunk_ring__latest_bytes(recorder->ring) >=
	       flight_recorder__keyframe_bytes(recorder);
}
