/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches probes to the functions of a file with the chosen kind of link, and detaches one file or
 * all files:
 *
 *   session  one uprobe_multi session link per file
 *   multi    one uprobe_multi link for entries and one for returns
 *   tracefs  one tracefs event with many sites for entries and one for
 *            returns (more if sites collide, see tracefs.h)
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
	uint16_t row;	   /* in the API table */
	uint8_t driver;	   /* number of its driver library, SITE_DRIVER_SHIFT; 0: none */
	bool wants_return; /* ignored by session links, where the BPF program decides */
	bool unfollowed;   /* its calls are only counted at entry; wants no return */
	/*
	 * a static probe point of an allocator: `row` is TENSOR_ROW and its number; no function
	 * begins there. All sites of a file are, or none.
	 */
	bool tensor;
	uint64_t file_offset; /* of its first instruction */
	uint64_t semaphore;   /* file offset of a probe point's counter of watchers; 0: none */
};

/* A file to probe. */
struct linked_file {
	uint64_t number; /* unique, chosen by the caller; identifies the file for links__detach */
	int fd;		 /* open; the caller owns it */
	pid_t only;	 /* with LINKS_SESSION: the only process that gets the probes; 0: all do */
};

int links__new(enum link_kind kind, const struct probe_programs *programs, struct links **out,
	       struct error *err);

/* Detaches everything, in parallel, because detaching each link waits for the kernel. */
void links__free(struct links *links);

/*
 * Probes `count` functions of the file; all of them or, on failure, none. Returns -ESRCH if its
 * process is gone.
 */
int links__attach(struct links *links, const struct linked_file *file,
		  const struct link_point *sites, size_t count, struct error *err);

/*
 * Whether the file's links are confined to a process that is gone, or whose main thread changed by
 * exec.
 */
bool links__are_orphaned(const struct links *links, uint64_t file);

/*
 * Detaches a file's probes, which takes the kernel about 40 ms; no effect if it has none. With
 * LINKS_TRACEFS only for the file that was attached last.
 */
void links__detach(struct links *links, uint64_t file);

#endif
