/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which mapped files were scanned, with or without getting probes: none is opened twice. Part of
 * the attacher (attacher_private.h), which tells from it whether a process was late (attacher.h).
 */
#ifndef PROBE_SEEN_FILES_H
#define PROBE_SEEN_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/attacher_private.h"
#include "target/identity.h"
#include "target/proc_maps.h"

/*
 * A scanned file: the inode that the kernel would probe, and the numbers in /proc/PID/maps. Those
 * numbers can be the same for two files on btrfs, and differ between overlay mounts of one file.
 * Probes pin an inode. An inode without probes may be freed and another get its address and number,
 * but with another change time.
 */
struct seen_key {
	uint64_t address, number, on;  /* from struct file_identity */
	uint64_t device, inode;	       /* as maps shows them */
	int64_t changed_s, changed_ns; /* 0 with probes */
};

/* `fd`: the open file if it has no probes; otherwise -1. */
struct seen_key seen_files__key(const struct mapping *mapping, const struct file_identity *identity,
				int fd);

bool seen_files__have(const struct attacher *attacher, const struct seen_key *key);

/*
 * `file` is its number among those with probes; 0 if it got none. Without memory the file will be
 * scanned again.
 */
void seen_files__remember(struct attacher *attacher, const struct seen_key *key, uint64_t file);

/* Counts a skipped file, each once, whichever process maps it. */
void seen_files__count_skipped(struct attacher *attacher, const struct mapping *mapping);

/*
 * Counts a process whose mappings were not all looked at, once, however often it is looked at: each
 * library that it loads is a reason, and so are events that were lost.
 */
void seen_files__count_cut(struct attacher *attacher, pid_t pid);

#endif
