/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the attacher share: its state, and attaching one open file. */
#ifndef PROBE_ATTACHER_PRIVATE_H
#define PROBE_ATTACHER_PRIVATE_H

#include "probe/attacher.h"
#include "probe/family_links.h"
#include "probe/links.h"
#include "target/identity.h"

struct seen_file;

struct attached_file {
	struct file_identity identity;
	uint64_t probed_ns;
};

struct attacher {
	struct selection selection;
	volatile uint32_t *both_layers; /* see struct probe_programs */
	struct links *links;
	struct family_links *families; /* of what can be taken out; NULL: nothing can */
	struct identity_reader *identities;
	const struct log *log;
	bool *wanted; /* by row */
	struct attached_file *files;
	size_t file_count;
	struct seen_file *seen;
	struct attacher_counts counts;
	bool lack_told; /* that there is no memory, or no descriptor, for what a process maps */
};

/* In the order in which they are attached: what the driver layer covers, the runtime's need not. */
enum file_role {
	ROLE_OF_LOADER,
	ROLE_OF_DRIVER,
	ROLE_OF_LIBRARY,
	ROLE_OF_PROGRAM,
	FILE_ROLES
};

/* Opens a file to be attached. Returns its descriptor or a negative errno with the reason in `err`. */
int attacher__open(const char *path, struct error *err);

/*
 * Attaches an open file unless its inode has probes; takes over `fd`. `name`
 * is for messages. Returns 1 for a library with new probes, 0 if there was
 * nothing to do, or a negative errno. *probed_ns is when its probes were in, 0
 * where it has none.
 */
int attacher__add_open_file(struct attacher *attacher, int fd, const char *name, enum file_role role,
			    uint64_t *probed_ns, struct error *err);

/* Forgets which mapped files were looked at (process_files.c). */
void attacher__forget_seen(struct attacher *attacher);

#endif
