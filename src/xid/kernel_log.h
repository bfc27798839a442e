/* SPDX-License-Identifier: BSD-2-Clause */
/* Xids from the kernel's log, /dev/kmsg, from the time of opening on. */
#ifndef XID_KERNEL_LOG_H
#define XID_KERNEL_LOG_H

#include "base/error.h"
#include "model/xids.h"

/*
 * Opens the log, without waiting. Where the log is restricted (kernel.dmesg_restrict), that takes
 * CAP_SYSLOG, but reading does not. Returns a descriptor, or a negative errno with a message.
 */
int kernel_log__open(struct error *err);

/*
 * Adds the Xids that are there to read now, some at most: call it again while the descriptor is
 * readable. Returns 0, or a negative errno after which there is nothing more to read.
 */
int kernel_log__read(int fd, struct xids *xids);

#endif
