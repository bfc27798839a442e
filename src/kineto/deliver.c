// SPDX-License-Identifier: BSD-2-Clause
// Reads a complete trace and sends what is in it; see serving.h.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kineto/serving.h"
#include "kineto/trace_reader.h"

#define PIECE 65536

struct delivery {
	struct kineto_server *server;
	struct kineto_message batch;   /* work that has not been sent */
	struct kineto_message outcome; /* KINETO_FINISHED */
};

/* --- what is found --- */

static void flush(struct delivery *delivery)
{
	if (delivery->batch.work.count)
		kineto_server__send(delivery->server, &delivery->batch);
	delivery->batch.work.count = 0;
}

static void take_work(const struct gpu_work *work, void *arg)
{
	struct delivery *delivery = arg;
	struct gpu_times_work *batch = &delivery->batch.work;

	batch->work[batch->count++] = *work;
	if (batch->count == GPU_TIMES_BATCH)
		flush(delivery);
}

static void take_name(uint64_t number, const char *text, void *arg)
{
	struct delivery *delivery = arg;
	struct kineto_message message = {
		.kind = KINETO_NAME, .process = delivery->batch.process, .name.name = number};

	snprintf(message.name.text, sizeof(message.name.text), "%s", text);
	kineto_server__send(delivery->server, &message);
}

/* --- the file --- */

__attribute__((format(printf, 2, 3))) static void note(struct delivery *delivery,
						       const char *format, ...)
{
	char *text = delivery->outcome.trace.note;
	size_t used = strlen(text), room = sizeof(delivery->outcome.trace.note) - used;
	va_list args;

	if (used && room > 2) {
		snprintf(text + used, room, "; ");
		used += 2;
		room -= 2;
	}
	va_start(args, format);
	vsnprintf(text + used, room, format, args);
	va_end(args);
}

/* Returns 0, or a negative errno: no more of the file can be read. */
static int read_file(struct delivery *delivery, struct trace_reader *reader, int fd)
{
	uint64_t until_ns = clock__boot_ns() + KINETO_READ_S * NS_PER_S, taken = 0;
	static char piece[PIECE];
	ssize_t n;
	int ret = 0;

	while (!ret && taken < KINETO_READ_MAX) {
		n = read(fd, piece, sizeof(piece));
		if (n <= 0)
			return n < 0 ? -errno : 0;
		taken += (uint64_t)n;
		ret = trace_reader__push(reader, piece, (size_t)n);
		kineto_server__breathe(delivery->server);
		if (!ret && clock__boot_ns() > until_ns)
			ret = -ETIME;
	}
	return ret;
}

static void note_lacks(struct delivery *delivery, int ret, const struct trace_summary *summary)
{
	if (ret == -EINVAL)
		note(delivery, "it is damaged at byte %" PRIu64 "; what comes before counts",
		     summary->offset);
	else if (ret == -ETIME)
		note(delivery, "gpuprobe read only %" PRIu64 " bytes of it in %d s",
		     summary->offset, KINETO_READ_S);
	else if (ret)
		note(delivery, "it could be read only up to byte %" PRIu64 ": %s", summary->offset,
		     strerror(-ret));
	else if (!summary->whole)
		note(delivery, "gpuprobe read %" PRIu64 " bytes of it, and its end is missing",
		     summary->offset);
	else if (!summary->has_events)
		note(delivery, "it has no list of events");
}

static int read_trace(struct delivery *delivery, int fd)
{
	const struct trace_reader_hooks hooks = {take_work, take_name, delivery};
	struct trace_reader *reader = trace_reader__new(&hooks);
	struct trace_summary summary;
	int ret;

	if (!reader)
		return -ENOMEM;
	ret = read_file(delivery, reader, fd);
	flush(delivery);
	summary = trace_reader__summary(reader);
	trace_reader__free(reader);
	note_lacks(delivery, ret, &summary);
	delivery->outcome.trace.overhead_ns = summary.overhead_ns;
	return 0;
}

static const char *why(int code)
{
	switch (code) {
	case -EINVAL: return "it is no regular file";
	case -ELOOP: return "it is a symbolic link";
	case -EPERM: return "it belongs to another user";
	default: return strerror(-code);
	}
}

void kineto_server__deliver(struct kineto_server *server, struct kineto_served *served)
{
	uint32_t process = (uint32_t)(served - server->served);
	struct delivery delivery = {.server = server,
				    .batch = {.kind = KINETO_WORK, .process = process},
				    .outcome = {.kind = KINETO_FINISHED, .process = process}};
	int fd = kineto_file__open(&served->file, &delivery.outcome.trace.bytes), ret = fd;

	if (fd >= 0) {
		ret = read_trace(&delivery, fd);
		close(fd);
	}
	if (ret < 0) {
		kineto_file__remove(&served->file);
		kineto_server__fail(server, served, "cannot read its trace %s: %s",
				    served->file.path, why(ret));
		return;
	}
	ret = kineto_file__remove(&served->file);
	if (ret)
		note(&delivery, "cannot delete it: %s; delete %s in the process's file system",
		     strerror(-ret), served->file.path);
	served->progress = KINETO_OVER;
	kineto_server__send(server, &delivery.outcome);
}
