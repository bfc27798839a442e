/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes that may be taken out for a while, on all files: those of the families of gpuprobe/rate.h, or those of what asks
 * for errors, as the only family. Each family has links of its own there, so that one is taken out and put in again without
 * the others.
 *
 * Not with tracefs events, whose end takes a second and defines the sites anew.
 */
#ifndef PROBE_FAMILY_LINKS_H
#define PROBE_FAMILY_LINKS_H

#include "base/error.h"
#include "gpuprobe/rate.h"
#include "probe/links.h"

struct family_links;

/* The family of a function; RATE_EXACT: its probe stays in. */
typedef enum rate_family (*family_of_function)(const struct function_desc *function);

/*
 * All `count` families are in, at most RATE_EXACT. `unseen_until` has an entry for each: until when its calls were not seen, as
 * in bpf/call/state.bpf.h. Not for LINKS_TRACEFS.
 */
int family_links__new(enum link_kind kind, const struct probe_programs *programs, family_of_function family_of,
		      int count, volatile uint64_t *unseen_until, struct family_links **out, struct error *err);

/* Detaches everything. NULL is fine. */
void family_links__free(struct family_links *links);

/* Moves the functions that stay in to the front. Returns how many they are. */
size_t family_links__divide(const struct family_links *links, struct link_point *sites, size_t count);

/*
 * Adds a file's functions, of families other than RATE_EXACT, and probes those of the families
 * that are in. The file is as with links__attach.
 */
int family_links__add(struct family_links *links, const struct linked_file *file, const struct link_point *sites,
		      size_t count, struct error *err);

/* As links__are_orphaned, of those that are in. */
bool family_links__are_orphaned(const struct family_links *links, uint64_t file);

/* Takes a file's probes out, as links__detach, and closes what it has of the file. */
void family_links__remove(struct family_links *links, uint64_t file);

/*
 * Puts the probes of `families`, 1 << enum rate_family, in and takes the others' out. They are in
 * when it returns, after some 10 ms; they go out in a thread of their own, within 10 ms, and it takes
 * the kernel some 40 ms to be done with one file, or half a second with ten. -EBUSY while it is not
 * yet with those that are wanted. On another failure the families in question stay out. A file
 * that bears the probes no more, since it has been changed, is left out from then on.
 */
int family_links__watch(struct family_links *links, unsigned int families, struct error *err);

/* How often that was so. */
size_t family_links__left_out(const struct family_links *links);

#endif
