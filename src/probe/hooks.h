/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that a running process has hooked: their code in its memory differs from the file's.
 * The kernel would execute the file's first instruction in place of the hook, and the process would
 * jump to a random address. Therefore the processes that map a file are inspected before it gets
 * its probes. A hook that is set later goes unnoticed (docs/limits.md).
 */
#ifndef PROBE_HOOKS_H
#define PROBE_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/log.h"
#include "target/elf_file.h"
#include "target/identity.h"
#include "target/probe_point.h"
#include "target/proc_maps.h"

struct hooks;

/* Whose hooks keep probes out of a file. */
enum hooks_reach {
	HOOKS_OF_ALL = 0, /* every watched process counts: hooked functions get no probe */
	/*
	 * All processes are watched: only hooks of root's and of the file owner's processes count.
	 * Other processes are named in a warning and are at risk.
	 */
	HOOKS_OF_OWNER_ALONE
};

/* `identities` and `log` must outlive it. Returns NULL if out of memory. */
struct hooks *hooks__new(struct identity_reader *identities, enum hooks_reach reach,
			 const struct log *log);
void hooks__free(struct hooks *hooks); /* NULL is fine */

/*
 * Notes a mapping of a file that may get probes; its code is inspected when the file does. Up to
 * 16,384 mappings are kept at a time; a warning says if there are more. `identity` is the mapped
 * file's; .inode 0 if unknown.
 */
void hooks__note(struct hooks *hooks, pid_t pid, const struct mapping *mapping,
		 const struct file_identity *identity);

/*
 * Notes all executable mappings of the process; with HOOKS_OF_OWNER_ALONE only those of files named
 * like CUDA's. Returns whether it has any file named like CUDA's.
 */
bool hooks__note_process(struct hooks *hooks, pid_t pid);

/* Whether a noted process maps the file. */
bool hooks__map(struct hooks *hooks, const struct file_identity *identity);

/* Forgets all mappings, because they change over time. */
void hooks__forget(struct hooks *hooks);

/*
 * Drops the file's sites that a process has hooked. Returns how many are left, at the front. Warns
 * about what is left out and about processes at risk, for the first 16 processes.
 */
size_t hooks__leave_out(struct hooks *hooks, const struct elf_file *file,
			const struct file_identity *identity, struct probe_point *sites,
			size_t count);

/*
 * Whether the first `size` bytes of a function differ from the file's other than by breakpoints.
 * Other tools' breakpoints are at the first byte or, if the next function is close, within these
 * bytes.
 */
bool hooks__differ(const unsigned char *code, const unsigned char *of_file, size_t size);

#endif
