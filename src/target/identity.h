/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file the kernel would probe. Two overlay mounts of one lower
 * directory show two devices by stat(2) and a third number in
 * /proc/PID/maps, yet a uprobe through either lands on the one inode below.
 * Only a mapping tells, so a file is mapped and looked at with a BPF iterator.
 * And whether anybody maps it.
 */
#ifndef TARGET_IDENTITY_H
#define TARGET_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct file_identity {
	uint64_t inode; /* the kernel's address of it: unique while the file is open somewhere */
	uint64_t number;
	uint32_t device;
};

struct identity_reader;

/* Loads the iterator. The reader is used from one thread. */
int identity_reader__new(struct identity_reader **out, struct error *err);
void identity_reader__free(struct identity_reader *reader);

/* The identity of the file that is open for reading as `fd`. Returns 0 or a negative errno. */
int identity_reader__of_fd(struct identity_reader *reader, int fd, struct file_identity *identity);

/*
 * Whether some process, of whatever namespace, has the file mapped. Returns 1, 0 or a negative errno. Only for a file
 * whose inode something keeps from being freed, as probes do. By the inode's list of mappings (i_mmap).
 */
int identity_reader__is_mapped(struct identity_reader *reader, const struct file_identity *identity);

bool file_identity__equal(const struct file_identity *a, const struct file_identity *b);

#endif
