/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command gives up of its privileges, and when: capabilities before BPF
 * programs are loaded, all but a list of system calls before probes are put in.
 */
#ifndef CLI_PRIVILEGES_H
#define CLI_PRIVILEGES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/state.h"

/*
 * Keeps the capabilities that probes by such links need, for good, and tells
 * which of them are lacking. By then COMMAND's process has been forked, the
 * files of the output and the port are open, and no thread has been started.
 * A negative errno with the reason in `err`.
 */
int privileges__give_up(enum link_kind links, const struct log *log, struct error *err);

/*
 * Puts the filter of system calls on; with `samples` threads can be looked at by perf events. By then the guard of COMMAND has
 * been forked.
 */
int privileges__confine(enum link_kind links, bool samples, struct error *err);

#endif
