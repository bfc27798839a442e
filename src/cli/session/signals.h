/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signals that gpuprobe treats in its own way: those that ask it to end
 * ("stop signals"), and those that end a program whose write fails.
 */
#ifndef CLI_SESSION_SIGNALS_H
#define CLI_SESSION_SIGNALS_H

#include <signal.h>

/*
 * Empties `set` and adds the stop signals: gpuprobe takes its probes out, tells
 * what it has seen and is gone. SIGHUP is one of them, which comes when the
 * terminal does not answer any more, unless whoever started gpuprobe has it
 * ignored (nohup).
 */
void signals__fill_stop(sigset_t *set);

/*
 * SIGPIPE or SIGXFSZ ends gpuprobe no more: it is an error of the write. It is
 * caught rather than ignored, so that exec(2) gives COMMAND what gpuprobe was
 * started with: the default, or what whoever started it has ignored.
 */
void signals__survive_write(int number);

#endif
