/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes that can be detached for a while, on all files: those of the families in gpuprobe/rate.h,
 * or, as a single family, those on functions that ask for errors. Each family has its own links, so
 * it can be detached and attached again without the others.
 *
 * Not with tracefs events: detaching them takes a second, and attaching defines the sites again.
 */
#ifndef PROBE_FAMILY_LINKS_H
#define PROBE_FAMILY_LINKS_H

#include "base/error.h"
#include "gpuprobe/rate.h"
#include "probe/links.h"

struct family_links;

/* The family of a function; RATE_EXACT: its probe stays attached. */
typedef enum rate_family (*family_of_function)(const struct function_desc *function);

/*
 * `count` is the number of families, at most RATE_EXACT; all start attached. `unseen_until` has an
 * entry for each family: until when its calls were not seen, as in bpf/call/state.bpf.h. Not for
 * LINKS_TRACEFS.
 */
int family_links__new(enum link_kind kind, const struct probe_programs *programs,
		      family_of_function family_of, int count, volatile uint64_t *unseen_until,
		      struct family_links **out, struct error *err);

/* Detaches everything, all families at once. NULL is fine. */
void family_links__free(struct family_links *links);

/* Moves the functions that stay attached to the front. Returns their number. */
size_t family_links__divide(const struct family_links *links, struct link_point *sites,
			    size_t count);

/*
 * Adds a file's functions, of families other than RATE_EXACT, and attaches those of the families
 * that are attached. `file` is as for links__attach.
 */
int family_links__add(struct family_links *links, const struct linked_file *file,
		      const struct link_point *sites, size_t count, struct error *err);

/* As links__are_orphaned, for the families that are attached. */
bool family_links__are_orphaned(const struct family_links *links, uint64_t file);

/* Detaches a file's probes, as links__detach does, and closes its descriptor. */
void family_links__remove(struct family_links *links, uint64_t file);

/*
 * Attaches the probes of `families` (1 << enum rate_family) and detaches those of the others. When
 * it returns, after about 10 ms, the probes are attached. Detaching runs in a separate thread:
 * calls go unseen within 10 ms, and the kernel needs about 40 ms for one file or half a second for
 * ten. Returns -EBUSY while a previous detaching of the wanted families is still running. On any
 * other failure the families concerned stay detached. A file that was modified and accepts the
 * probes no more is left out from then on.
 */
int family_links__watch(struct family_links *links, unsigned int families, struct error *err);

/* How often a file was left out. */
size_t family_links__left_out(const struct family_links *links);

#endif
