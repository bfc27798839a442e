/* SPDX-License-Identifier: BSD-2-Clause */
/* A process's command line where there is little room. */
#ifndef OUTPUT_COMMAND_TEXT_H
#define OUTPUT_COMMAND_TEXT_H

#include <stddef.h>

/*
 * Copies the command without the directories of its program and of its arguments' absolute paths:
 * "python3 train.py" for "/opt/conda/bin/python3 /home/ann/train.py". The text is raw as before,
 * and ends where `size` bytes with the final 0 end.
 */
void command_text__shorten(const char *command, char *text, size_t size);

/* The command line from the program's base name on; a part of `command`. */
const char *command_text__without_folder(const char *command);

/*
 * Copies the program and its first argument, "python3 train.py", or `comm` if the command is
 * unknown. Options and what follows them are left out: they may be secrets, and this text goes to
 * the network. Raw as before.
 */
void command_text__public(const char *command, const char *comm, char *text, size_t size);

#endif
