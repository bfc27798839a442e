/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short texts of /proc and /sys, of this machine or, in tests, of a directory with the same layout.
 */
#ifndef TARGET_TEXT_FILE_H
#define TARGET_TEXT_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Reads ROOT/PATH up to `size` - 1 bytes; cuts the rest, and a newline at the end. `root` is "" for
 * this machine. Returns 0, or a negative errno with an empty text.
 */
int text_file__read(const char *root, const char *path, char *text, size_t size);

/* The same for a text that is a number with nothing after it. Returns -EBADMSG if it is not. */
int text_file__number(const char *root, const char *path, long *number);

/* The inode number in a namespace's link, "pid:[4026531836]". 0 if it cannot be read. */
unsigned long text_file__namespace(const char *root, const char *path);

/* As access(2), but returns 0 or a negative errno. */
int text_file__access(const char *root, const char *path, int mode);

#endif
