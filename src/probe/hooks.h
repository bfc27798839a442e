/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that a running process has hooked: their code in its memory is not the file's. The kernel would run the
 * file's first instruction over the hook, and the process would jump nowhere. So the processes that map a file are
 * looked at before it gets its probes; a hook that comes later is not seen (docs/limits.md).
 */
#ifndef PROBE_HOOKS_H
#define PROBE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/log.h"
#include "target/elf_file.h"
#include "target/identity.h"
#include "target/probe_site.h"
#include "target/proc_maps.h"

struct hooks;

/* How much one user's hooks say about probes for all. */
enum hooks_reach {
	HOOKS_OF_ALL = 0,    /* whoever is watched has a say: what is hooked gets no probe */
	HOOKS_OF_OWNER_ALONE /* all processes are watched: root's and the file's owner's; others are named, and are at risk */
};

/* `identities` and `log` must outlive it. NULL without memory. */
struct hooks *hooks__new(struct identity_reader *identities, enum hooks_reach reach, const struct log *log);
void hooks__free(struct hooks *hooks); /* NULL is fine */

/*
 * The process has the mapping, of a file that may get probes: its code is looked at when it does. 16,384 mappings are kept
 * at a time; of more it is said that they are not looked at. `identity`: of the mapped file, its .inode 0 where that is not known.
 */
void hooks__note(struct hooks *hooks, pid_t pid, const struct mapping *mapping, const struct file_identity *identity);

/*
 * Notes all executable mappings of the process; with HOOKS_OF_OWNER_ALONE those of files that are named like CUDA's.
 * Returns whether there are any of these.
 */
bool hooks__note_process(struct hooks *hooks, pid_t pid);

/* Whether one of the processes that were noted maps the file. */
bool hooks__map(struct hooks *hooks, const struct file_identity *identity);

/* Forgets the mappings: later they are others. */
void hooks__forget(struct hooks *hooks);

/*
 * Takes those of the file's sites out that a process has hooked. Returns how many are left, in front. Warns of what is left
 * out and of who is at risk, for the first 16 processes.
 */
size_t hooks__leave_out(struct hooks *hooks, const struct elf_file *file, const struct file_identity *identity,
			struct probe_point *sites, size_t count);

/*
 * Whether code of a function's beginning, of `size` bytes, differs from the file's otherwise than by breakpoints: others' are
 * at its first byte and, where the next function is near, within these.
 */
bool hooks__differ(const unsigned char *code, const unsigned char *of_file, size_t size);

#endif
