/* SPDX-License-Identifier: BSD-2-Clause */
/* Short texts of /proc and /sys, of this machine or, in tests, of a folder that has the like. */
#ifndef TARGET_TEXT_FILE_H
#define TARGET_TEXT_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Reads ROOT/PATH up to `size` - 1 bytes; what follows is cut, and a newline at
 * its end. `root` is "" for this machine. Returns 0 or a negative errno, the text is empty then.
 */
int text_file__read(const char *root, const char *path, char *text, size_t size);

/* The same where it is a number, with nothing after it. -EBADMSG: it is none. */
int text_file__number(const char *root, const char *path, long *number);

/* The inode number that a link of a namespace tells, "pid:[4026531836]". 0: it cannot be read. */
unsigned long text_file__namespace(const char *root, const char *path);

/* As access(2): 0 or a negative errno. */
int text_file__access(const char *root, const char *path, int mode);

#endif
