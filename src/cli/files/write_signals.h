/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that end a program whose write fails, SIGPIPE and SIGXFSZ: in gpuprobe it is an error of the write. */
#ifndef CLI_WRITE_SIGNALS_H
#define CLI_WRITE_SIGNALS_H

/*
 * This one ends gpuprobe no more. It is caught rather than ignored, so that
 * exec(2) gives COMMAND what gpuprobe was started with: the default, or what
 * whoever started it has ignored.
 */
void write_signals__survive(int number);

#endif
