/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signals that ask gpuprobe to end: it takes its probes out, tells what it
 * has seen and is gone. SIGHUP is one of them, which comes when the terminal
 * does not answer any more, unless whoever started gpuprobe has it ignored
 * (nohup).
 */
#ifndef CLI_STOP_SIGNALS_H
#define CLI_STOP_SIGNALS_H

#include <signal.h>

/* Empties `set` and adds them. */
void stop_signals__fill(sigset_t *set);

#endif
