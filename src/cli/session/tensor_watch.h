/* SPDX-License-Identifier: BSD-2-Clause */
/* Empties BPF's ring of tensors' events on time, and keeps the latest (collect/tensor_events.h). */
#ifndef CLI_TENSOR_WATCH_H
#define CLI_TENSOR_WATCH_H

#include <stddef.h>

#include "model/tensor_trace.h"

struct event_base;
struct tensor_watch;

/* Keeps at most `room` events of the ring of this map. Returns 0 or a negative errno. */
int tensor_watch__new(struct event_base *loop, int map_fd, size_t room, struct tensor_watch **out);
/* Before the loop. NULL ok. */
void tensor_watch__free(struct tensor_watch *watch);

/* The events up to now; valid until the loop runs on, or the next call. */
const struct tensor_trace *tensor_watch__trace(struct tensor_watch *watch);

#endif
