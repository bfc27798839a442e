/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of a mapped file are still the file's in a process, from /proc/PID/pagemap. A page
 * that the process, a debugger or a probe has written is a copy of its own. It takes microseconds,
 * reads no memory of the process, and waits for no program that serves a file.
 */
#ifndef TARGET_PAGE_ORIGIN_H
#define TARGET_PAGE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_ORIGIN_WINDOW 512 /* pages that are looked up at once: 2 MiB */

struct page_origin {
	int fd;		/* negative: unknown for all pages */
	uint64_t first; /* number of the first page in `entries` */
	uint64_t count; /* of those known */
	uint64_t entries[PAGE_ORIGIN_WINDOW];
};

/* Opens it for the process; if that is impossible, every page is unknown. */
void page_origin__open(struct page_origin *origin, pid_t pid);
void page_origin__close(struct page_origin *origin);

/*
 * Whether the page at `address`, of a mapping of a file, certainly has the file's contents: the
 * process has the file's own page there, or none yet. False if unknown. Ascending addresses are
 * the fastest.
 */
bool page_origin__is_file(struct page_origin *origin, uint64_t address);

#endif
