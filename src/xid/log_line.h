/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of the kernel's log about Xids. Their text comes from NVIDIA's driver; the name of a
 * process in it is that process's choice.
 */
#ifndef XID_LOG_LINE_H
#define XID_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/xids.h"

/*
 * Reads a message such as "NVRM: Xid (PCI:0000:41:00): 31, pid=1234, name=python, Ch 00000008".
 * Returns whether the `length` bytes at `text` are one.
 */
bool log_line__parse(const char *text, size_t length, struct xid_report *report);

/*
 * Reads a record of /dev/kmsg, such as "3,1204,5678901,-;NVRM: Xid …", without its line's end. Only
 * records that the kernel wrote count: root may write others into the log. Returns whether it is
 * such a message.
 */
bool log_line__parse_record(const char *text, size_t length, struct xid_report *report);

/* Reads what follows the number: process, if it is given, and text. Sets these members alone. */
void log_line__parse_rest(const char *text, size_t length, struct xid_report *report);

#endif
