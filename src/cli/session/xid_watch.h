/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches for Xids: by the driver's tracepoint where it has one, or by the kernel's log if the user
 * wants that. The log names the process, which the tracepoint does not. Only one of them is read,
 * so that no Xid counts twice.
 */
#ifndef CLI_SESSION_XID_WATCH_H
#define CLI_SESSION_XID_WATCH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "model/model.h"

struct event_base;
struct xid_watch;

/*
 * Call it before gpuprobe gives up privileges. *out is NULL if there is nothing to watch. `loop`
 * and `log` must outlive it. Returns 0, or a negative errno with a message if `kernel_log` was
 * asked for and cannot be read.
 */
int xid_watch__new(struct event_base *loop, bool kernel_log, const struct log *log,
		   struct xid_watch **out, struct error *err);
void xid_watch__free(struct xid_watch *watch); /* NULL ok */

/*
 * After each reading: finds out who may have caused the Xids of late, and sets model->xids, which
 * is valid until the watch is freed. NULL ok.
 */
void xid_watch__look(struct xid_watch *watch, struct model *model);

#endif
