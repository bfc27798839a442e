/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that keeps exactly CUDA's documented stream order: when work on it runs, and so what a
 * wait waits for. Times are nanoseconds. Calls come in the order of their times.
 */
#ifndef TESTS_BPF_TRUE_DEVICE_H
#define TESTS_BPF_TRUE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_STREAMS 8
#define DEVICE_EVENTS 4

enum stream_kind {
	STREAM_APART = 0, /* created with CU_STREAM_NON_BLOCKING */
	STREAM_MEETS, /* a blocking stream: it and the legacy default stream wait for each other */
	STREAM_DEFAULT, /* the legacy default stream itself */
};

struct device_work {
	uint64_t begin_ns, end_ns;
};

struct true_device {
	struct {
		enum stream_kind kind;
		uint64_t done_ns; /* end of the work queued on it so far */
	} streams[DEVICE_STREAMS];
	size_t stream_count;
	uint64_t events[DEVICE_EVENTS]; /* end of the work that each event stands for */
	uint64_t all_ns;		/* as done_ns, over all streams that ever existed */
	struct device_work *work;
	size_t work_count;
};

void true_device__clear(struct true_device *device);

/* Puts work on a stream at that moment. Returns its end. */
uint64_t true_device__add(struct true_device *device, size_t stream, uint64_t now_ns,
			  uint64_t lasts_ns);

/*
 * Until when a wait for the stream that begins now must wait: at most `now_ns` if there is nothing
 * to wait for.
 */
uint64_t true_device__done(const struct true_device *device, size_t stream);

void true_device__record(struct true_device *device, size_t event, size_t stream);
void true_device__follow(struct true_device *device, size_t stream, size_t event);

/*
 * From now on the index stands for another stream of the same kind and handle; the old one's work
 * continues.
 */
void true_device__replace(struct true_device *device, size_t stream);

#endif
