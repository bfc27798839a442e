// SPDX-License-Identifier: BSD-2-Clause
// Reads a complete trace and sends what is in it; see serving.h.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "kineto/serving.h"
#include "kineto/trace_reader.h"

#define PIECE 65536
#define PIECES_AT_ONCE 4 /* a few ms, so that questions get their answers */

struct kineto_delivery {
	struct kineto_server *server;
	struct kineto_served *served;
	struct trace_reader *reader;
	int fd;
	uint64_t until_ns, taken;      /* bytes read so far */
	struct kineto_message batch;   /* work that has not been sent */
	struct kineto_message outcome; /* KINETO_FINISHED */
};

/* --- what is found --- */

static void flush(struct kineto_delivery *delivery)
{
	if (delivery->batch.work.count)
		kineto_server__send(delivery->server, &delivery->batch);
	delivery->batch.work.count = 0;
}

static void take_work(const struct gpu_work *work, void *arg)
{
	struct kineto_delivery *delivery = arg;
	struct gpu_times_work *batch = &delivery->batch.work;

	batch->work[batch->count++] = *work;
	if (batch->count == GPU_TIMES_BATCH)
		flush(delivery);
}

static void take_name(uint64_t number, const char *text, void *arg)
{
	struct kineto_delivery *delivery = arg;
	struct kineto_message message = {
		.kind = KINETO_NAME, .process = delivery->batch.process, .name.name = number};

	snprintf(message.name.text, sizeof(message.name.text), "%s", text);
	kineto_server__send(delivery->server, &message);
}

/* --- the file --- */

__attribute__((format(printf, 2, 3))) static void note(struct kineto_delivery *delivery,
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

/*
 * Reads a piece. Returns 1 if there may be more, 0 at the end or at the limit, or a negative errno:
 * no more of the file can be read.
 */
static int read_piece(struct kineto_delivery *delivery)
{
	static char piece[PIECE];
	ssize_t n = read(delivery->fd, piece, sizeof(piece));
	int ret;

	if (n <= 0)
		return n < 0 ? -errno : 0;
	delivery->taken += (uint64_t)n;
	ret = trace_reader__push(delivery->reader, piece, (size_t)n);
	if (!ret && clock__boot_ns() > delivery->until_ns)
		ret = -ETIME;
	return ret ? ret : delivery->taken < KINETO_READ_MAX;
}

static void note_lacks(struct kineto_delivery *delivery, int ret,
		       const struct trace_summary *summary)
{
	if (ret == -EINVAL)
		note(delivery, "it is damaged at byte %" PRIu64 "; what comes before counts",
		     summary->offset);
	else if (ret == -ETIME)
		note(delivery, "gpuprobe read only %s of it in %d s",
		     quantity__bytes((double)summary->offset).text, KINETO_READ_S);
	else if (ret)
		note(delivery, "it could be read only up to byte %" PRIu64 ": %s", summary->offset,
		     strerror(-ret));
	else if (!summary->whole)
		note(delivery, "gpuprobe read %s of it, and its end is missing",
		     quantity__bytes((double)summary->offset).text);
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

static void free_delivery(struct kineto_server *server)
{
	struct kineto_delivery *delivery = server->delivery;

	trace_reader__free(delivery->reader);
	if (delivery->fd >= 0)
		close(delivery->fd);
	free(delivery);
	server->delivery = NULL;
}

static struct kineto_delivery *new_delivery(struct kineto_server *server,
					    struct kineto_served *served)
{
	struct kineto_delivery *delivery = calloc(1, sizeof(*delivery));
	const struct trace_reader_hooks hooks = {take_work, take_name, delivery};
	uint32_t process = (uint32_t)(served - server->served);

	if (!delivery)
		return NULL;
	delivery->server = server;
	delivery->served = served;
	delivery->batch.kind = KINETO_WORK;
	delivery->batch.process = process;
	delivery->outcome.kind = KINETO_FINISHED;
	delivery->outcome.process = process;
	delivery->until_ns = clock__boot_ns() + KINETO_READ_S * NS_PER_S;
	delivery->fd = -1;
	delivery->reader = trace_reader__new(&hooks);
	return delivery;
}

static void fail_trace(struct kineto_server *server, struct kineto_served *served,
		       const char *reason)
{
	int ret = kineto_file__remove(&served->file);

	kineto_server__fail(server, served, "cannot read its trace %s: %s%s%s", served->file.path,
			    reason, ret ? "; delete it, which gpuprobe cannot: " : "",
			    ret ? strerror(-ret) : "");
}

void kineto_server__open_trace(struct kineto_server *server, struct kineto_served *served)
{
	struct kineto_delivery *delivery = new_delivery(server, served);
	int ret = -ENOMEM;

	server->delivery = delivery;
	if (delivery && delivery->reader)
		ret = delivery->fd =
			kineto_file__open(&served->file, &delivery->outcome.trace.bytes);
	if (ret >= 0) {
		served->progress = KINETO_READING;
		return;
	}
	if (delivery)
		free_delivery(server);
	fail_trace(server, served, why(ret));
}

/* `ret` is what read_piece has returned last. */
static void finish(struct kineto_delivery *delivery, int ret)
{
	const struct trace_summary summary = trace_reader__summary(delivery->reader);
	struct kineto_served *served = delivery->served;

	flush(delivery);
	if (!summary.has_events) {
		fail_trace(delivery->server, served, "it is empty, or no trace of Kineto's");
		return;
	}
	note_lacks(delivery, ret, &summary);
	ret = kineto_file__remove(&served->file);
	if (ret)
		note(delivery, "cannot delete it: %s; delete %s in the process's file system",
		     strerror(-ret), served->file.path);
	delivery->outcome.trace.overhead_ns = summary.overhead_ns;
	served->progress = KINETO_OVER;
	kineto_server__send(delivery->server, &delivery->outcome);
}

void kineto_server__read_trace(struct kineto_server *server)
{
	int ret = 1;

	if (!server->delivery)
		return;
	for (unsigned int i = 0; i < PIECES_AT_ONCE && ret > 0; i++)
		ret = read_piece(server->delivery);
	if (ret > 0)
		return;
	finish(server->delivery, ret);
	free_delivery(server);
}
