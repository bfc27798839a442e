/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching: the probes on the functions of a file, by the kind of link that
 * was chosen, and their detaching, of one file or all at once.
 *
 *   session  one uprobe_multi session link a file
 *   multi    one uprobe_multi link for entries and one for returns
 *   tracefs  one tracefs event with many sites for entries and one for
 *            returns (more where sites collide, see tracefs.h)
 */
#ifndef PROBE_LINKS_H
#define PROBE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "probe/programs.h"

struct links;

/* One function to probe. */
struct link_point {
	uint16_t row;	      /* of the API table */
	uint8_t driver;	      /* which of the driver libraries it is in, see SITE_DRIVER_SHIFT; 0: in none */
	bool wants_return;    /* ignored by session links, whose program decides */
	bool unfollowed;      /* its calls are counted at entry alone; wants no return */
	uint64_t file_offset; /* of its first instruction */
};

/* A file that gets probes. */
struct linked_file {
	uint64_t number; /* the caller's choice, once for each file; links__detach knows the file by it */
	int fd;		 /* open; stays the caller's */
	pid_t only;	 /* with LINKS_SESSION: the process that alone gets the probes; 0: all do */
};

int links__new(enum link_kind kind, const struct probe_programs *programs, struct links **out, struct error *err);

/* Detaches everything, in parallel, since each link's end waits for the kernel. */
void links__free(struct links *links);

/* Probes `count` functions of the file; all of them or, on failure, none. -ESRCH where its process is gone. */
int links__attach(struct links *links, const struct linked_file *file, const struct link_point *sites, size_t count,
		  struct error *err);

/* Whether the file has links of one process only, and that is gone, or has got another leading thread by exec. */
bool links__are_orphaned(const struct links *links, uint64_t file);

/*
 * Takes the probes of a file out, which takes the kernel some 40 ms; without effect where it has none. With
 * LINKS_TRACEFS of the one that was attached last alone.
 */
void links__detach(struct links *links, uint64_t file);

#endif
