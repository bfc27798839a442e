/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal that output goes to. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

/*
 * The width in columns of the terminal that `fd` is, 80 if it does not say; 0 if `fd` is no
 * terminal.
 */
unsigned int terminal__width(int fd);

#endif
