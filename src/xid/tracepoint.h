/* SPDX-License-Identifier: BSD-2-Clause */
/* Xids from the tracepoint nvidia:nvidia_dev_xid, which drivers from 575 on have. */
#ifndef XID_TRACEPOINT_H
#define XID_TRACEPOINT_H

#include "base/error.h"
#include "model/xids.h"

struct xid_tracepoint;

/*
 * Watches the tracepoint on all CPUs; its Xids go to `xids`, which must outlive it. Needs what
 * gpuprobe has before it gives up privileges. Returns 0, -ENOENT if there is no such tracepoint or
 * it cannot be seen, or another negative errno with a message.
 */
int xid_tracepoint__new(struct xids *xids, struct xid_tracepoint **out, struct error *err);
void xid_tracepoint__free(struct xid_tracepoint *tracepoint); /* NULL ok */

/* Readable when there are Xids. */
int xid_tracepoint__fd(const struct xid_tracepoint *tracepoint);

/* Adds the Xids that are there. */
void xid_tracepoint__read(struct xid_tracepoint *tracepoint);

#endif
