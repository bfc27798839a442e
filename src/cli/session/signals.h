/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The signals that gpuprobe handles specially: stop signals, which make it end, and the signals
 * that end a program whose write fails.
 */
#ifndef CLI_SESSION_SIGNALS_H
#define CLI_SESSION_SIGNALS_H

#include <signal.h>

/*
 * Empties `set` and adds the stop signals, on which gpuprobe detaches its probes, prints its
 * results and exits. One is SIGHUP, sent when the terminal goes away, unless it was ignored when
 * gpuprobe started (nohup).
 */
void signals__fill_stop(sigset_t *set);

/*
 * Keeps SIGPIPE or SIGXFSZ from ending gpuprobe: the write returns an error instead. The signal is
 * caught rather than ignored, so that exec(2) gives COMMAND the disposition that gpuprobe was
 * started with, default or ignored.
 */
void signals__survive_write(int number);

#endif
