/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives up a command's privileges: capabilities before BPF programs are loaded, all but a list of
 * system calls before probes are attached.
 */
#ifndef CLI_PRIVILEGES_H
#define CLI_PRIVILEGES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/state.h"

/*
 * Permanently reduces the capabilities to those that probes by such links need, and reports which
 * of them are missing. Before the call, COMMAND's process must have been forked and the output
 * files and the port opened; no thread may have been started. Returns 0, or a negative errno with
 * the reason in `err`.
 */
int privileges__give_up(enum link_kind links, const struct log *log, struct error *err);

/*
 * Installs the filter of system calls. It permits perf events: every command that watches may look
 * at threads, also at running ones (dump/running.h). COMMAND's guard must have been forked before.
 * `network`: gpuprobe will connect to other machines.
 */
int privileges__confine(enum link_kind links, bool network, struct error *err);

/*
 * For commands that read a recording, which may be hostile: gives up all capabilities, and most
 * system calls. All files must have been opened. Returns 0 or a negative errno with a message.
 */
int privileges__give_up_all(struct error *err);

#endif
