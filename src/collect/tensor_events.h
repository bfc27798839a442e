/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes events of tensors from BPF's ring, and keeps the latest ones (model/tensor_trace.h). */
#ifndef COLLECT_TENSOR_EVENTS_H
#define COLLECT_TENSOR_EVENTS_H

#include <stddef.h>

#include "model/tensor_trace.h"

struct tensor_events;

/* Keeps at most `room` events of the ring of this map. Returns 0 or a negative errno. */
int tensor_events__new(int map_fd, size_t room, struct tensor_events **out);
void tensor_events__free(struct tensor_events *events); /* NULL ok */

/* Takes what is in the ring now. BPF wakes nobody: call it several times a second. */
void tensor_events__take(struct tensor_events *events);

/* What was kept so far; valid until the next call of tensor_events__take. */
const struct tensor_trace *tensor_events__trace(const struct tensor_events *events);

#endif
